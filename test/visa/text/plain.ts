import type { VisaFile } from "../../../src/visa/tree.ts";

/** A tree without its spans, for comparing trees of different texts. */
export const plain = ({ version, routines }: VisaFile): string =>
  JSON.stringify(
    { version, routines },
    (key, value) => {
      if (key === "start" || key === "end") return undefined;
      if (key === "row") return value.text;
      // The spelling, which the row and the operands repeat.
      if (key === "mnemonic") return undefined;
      return typeof value === "bigint" ? `0x${value.toString(16)}` : value;
    },
    1,
  );
