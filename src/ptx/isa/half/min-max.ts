import type { Expr, Kit } from "../../../semantics/index.ts";
import { form, instruction } from "../define.ts";
import { extremum, xorsignNeedsAbs } from "../float/min-max.ts";
import {
  bf16Types,
  f16Types,
  flushedF16,
  type HalfType,
  infinityOf,
  perElement,
  throughF32,
  twoOperands,
} from "./half-type.ts";

type Which = "min" | "max";
interface Modifiers {
  readonly type: HalfType;
  readonly NaN: boolean;
  readonly xorsign: boolean;
}

/**
 * The minimum or maximum; with `.xorsign.abs` that of the magnitudes, with the sign of the product unless it is NaN.
 */
function chosen(k: Kit, which: Which, { type, NaN: nan, xorsign }: Modifiers, a: Expr, b: Expr): Expr {
  const value = throughF32(k, type, [a, b], (...values) =>
    extremum(k, which, nan, xorsign ? values.map((v) => k.op("f32.abs", v)) : values),
  );
  if (!xorsign) return value;
  const signs = k.and(k.xor(a, b), k.i32(0x8000));
  return k.select(k.le(value, k.i32(infinityOf(type)), true), k.or(value, signs), value);
}

const xorsign = { since: "7.2", target: "sm_86" } as const;
const shared = {
  since: "7.0",
  target: "sm_80",
  gates: { xorsign, abs: xorsign },
  operands: twoOperands,
  invalid: xorsignNeedsAbs,
} as const;

const formsOf = (name: Which) => [
  form(`${name}{.ftz}{.NaN}{.xorsign}{.abs}.type d, a, b`, {
    ...shared,
    where: { type: f16Types },
    sem: (k, { a, b }, m) =>
      perElement(k, m.type, [a, b], (...halves) => flushedF16(k, m.ftz, halves, (x, y) => chosen(k, name, m, x!, y!))),
  }),
  form(`${name}{.NaN}{.xorsign}{.abs}.type d, a, b`, {
    ...shared,
    where: { type: bf16Types },
    sem: (k, { a, b }, m) => perElement(k, m.type, [a, b], (x, y) => chosen(k, name, m, x!, y!)),
  }),
];

const extremumOf = (name: Parameters<typeof formsOf>[0], summary: string, section: string) =>
  instruction(name, { summary, section, forms: formsOf(name) });

/** Section 9.7.4.7. */
export const min = extremumOf("min", "returns the smaller of two values", "9.7.4.7");

/** Section 9.7.4.8. */
export const max = extremumOf("max", "returns the larger of two values", "9.7.4.8");
