import { linesOf, type Program, withLines } from "./program.ts";
import { Random } from "./random.ts";

/** A mistake that is planted in a correct program, and the reports of which one must follow. */
interface Misuse {
  /** The line in which it is, and what becomes of it; an empty text: it is left out. */
  readonly line: RegExp;
  readonly becomes: string | ((line: string) => string);
  /** Reports of which the first must be one. */
  readonly codes: readonly string[];
}

const addTo = (pattern: RegExp, added: number) => (line: string) =>
  line.replace(
    pattern,
    (_, before: string, number: string, after: string) => `${before}${Number(number) + added}${after}`,
  );

/** Mistakes that programs of the families `asynchronous`, `tensors` and `clusters` can have. */
export const misuses = {
  missingFence: {
    line: /^ *fence\.proxy\.async/,
    becomes: "",
    codes: ["proxy-fence-missing"],
  },
  missingWait: {
    line: /^ *cp\.async\.wait_all;|^ *cp\.async\.wait_group 0;/,
    becomes: "",
    codes: ["async-in-flight", "data-race"],
  },
  tooManyBytes: {
    line: /mbarrier\.arrive\.expect_tx\.shared::cta\.b64 _/,
    becomes: addTo(/(\], )(\d+)(;)/, 16),
    codes: ["deadlock"],
  },
  tooManyArrivals: {
    line: /mbarrier\.init\./,
    becomes: addTo(/(\], )(\d+)(;)/, 1),
    codes: ["deadlock"],
  },
  missingInit: {
    line: /mbarrier\.init\./,
    becomes: "",
    codes: ["mbarrier-uninitialized"],
  },
  oddSize: {
    line: /cp\.(reduce\.)?async\.bulk\.shared::cluster\.shared::cta.*, \d+, \[/,
    // The checker would name a constant.
    becomes: (line) =>
      line.replace(
        /^( *)(.*\], )(\d+)(, \[.*)$/,
        (_, indent: string, before: string, size: string, after: string) =>
          `${indent}{ .reg .u32 %odd; mov.u32 %odd, ${Number(size) + 4}; ${before}%odd${after} }`,
      ),
    codes: ["bulk-bad-size"],
  },
} as const satisfies Readonly<Record<string, Misuse>>;

export type MisuseName = keyof typeof misuses;

/** A program with a mistake in one of the lines where it can be; null if there is none. */
export function withMisuse(program: Program, name: MisuseName, seed: number): Program | null {
  const { line, becomes }: Misuse = misuses[name];
  const lines = linesOf(program);
  const places = lines.flatMap((text, i) => (line.test(text) ? [i] : []));
  if (places.length === 0) return null;
  const chosen = new Random(seed).pick(places);
  const changed = typeof becomes === "string" ? becomes : becomes(lines[chosen]!);
  return withLines(
    program,
    lines.map((text, i) => (i === chosen ? changed : text)),
  );
}
