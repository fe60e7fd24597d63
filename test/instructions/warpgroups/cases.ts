import { bitsOf } from "./formats.ts";
import type { Case, Shared } from "./model.ts";

const eighths = Array.from({ length: 32 }, (_, i) => 8 * (i + 1));
const sixteenths = eighths.filter((n) => n <= 32 || n % 16 === 0);
const widths = [16, 32, 64, 128] as const;
const narrow = ["e4m3", "e5m2"] as const;
const bytes = ["s8", "u8"] as const;

/** The types of A, B and D of a form of the instruction. */
type Types = readonly [a: string, b: string, d: string];

const families: readonly (readonly Types[])[] = [
  [
    ["f16", "f16", "f32"],
    ["f16", "f16", "f16"],
  ],
  [["bf16", "bf16", "f32"]],
  [["tf32", "tf32", "f32"]],
  narrow.flatMap((a) => narrow.flatMap((b) => (["f32", "f16"] as const).map((d): Types => [a, b, d]))),
  bytes.flatMap((a) => bytes.map((b): Types => [a, b, "s32"])),
  [["b1", "b1", "s32"]],
];

const at = <T>(list: readonly T[], i: number): T => list[i % list.length]!;

/** A layout of an operand of which a row has this many bytes along k. */
function layout(type: string, i: number, rowBytes: number): Shared {
  if (bitsOf(type) === 16 && i % 2 === 1) return { width: at(widths, i >> 1), kMajor: false };
  const fitting = widths.filter((width) => width === 16 || width >= rowBytes);
  const width = at(fitting, i >> 1);
  const steps = width === 16 ? 1 : width / rowBytes;
  return { width, kMajor: true, skip: width === 16 ? 0 : (i % steps) * rowBytes };
}

/** Every form with every shape and all types, in layouts of all kinds. */
export const cases: readonly Case[] = [false, true].flatMap((isSparse) =>
  families.flatMap((types) =>
    [false, true].flatMap((inRegisters): Case[] => {
      const [[first]] = types as [Types];
      if (first === "b1" && isSparse) return [];
      const isFloat = !["b1", ...bytes].includes(first);
      return (isFloat ? eighths : sixteenths).map((n, i): Case => {
        const [a, b, d] = at(types, i);
        const selectors = bitsOf(a) === 8 ? [0] : [0, 1];
        return {
          ...{ a, b, d, n },
          left: inRegisters ? null : layout(a, i + 3, 32),
          right: layout(b, i, isSparse ? 64 : 32),
          selector: isSparse ? at(selectors, i >> 2) : null,
          satfinite: a !== "b1" && d === "s32" && (i >> 2) % 2 === 1,
          negate: isFloat ? [(i & 4) !== 0, (i & 8) !== 0] : [false, false],
          scale: at(["1", "p", "q", "0", "p"] as const, i),
        };
      });
    }),
  ),
);
