import type { Observer } from "../machine/events.ts";

const texts: Readonly<Record<string, string>> = {
  "register-out-of-bounds": "the address of an indirect operand lies outside the registers of the function",
};

/** Unspecified results that do no harm where they are not used: the sanitizer `init` reports their uses. */
export const unspecifiedResults: Readonly<Record<string, string>> = {
  "division-by-zero": "the divisor is 0, and the unspecified result is",
};

/**
 * Reports operand values for which the manual leaves the result of an instruction undefined. The program may not use
 * it.
 */
export const undefinedSanitizer: Observer = {
  undefinedCase: ({ warp, site, activation, mask, code }) => {
    if (Object.hasOwn(unspecifiedResults, code)) return;
    const message = texts[code] ?? "the manual leaves the result open for these operands";
    warp.cta.grid.reports.add({ code, severity: "warning", message, site, activation, lanes: mask });
  },
};
