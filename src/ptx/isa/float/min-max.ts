import type { Expr, Kit } from "../../../semantics/index.ts";
import { form, instruction } from "../define.ts";
import { flushed, flushNote, masks, patternOf } from "./float-type.ts";

type Which = "min" | "max";

/** The minimum or maximum of f32 values. A NaN gives the other operand, or NaN with `.NaN`; -0 is less than +0. */
export const extremum = (k: Kit, which: Which, nan: boolean, values: readonly Expr[]): Expr =>
  values.reduce((x, y) => k.op(nan ? `f32.${which}_nan` : `f32.${which}`, x, y));

/**
 * The result of `.xorsign.abs` as f32 bits: the minimum or maximum of the magnitudes, with the sign of the product. A
 * NaN result is left unchanged, but the sign of a NaN operand counts, so the signs are taken from the operands before
 * flushing.
 */
function signedExtremum(k: Kit, which: Which, ftz: boolean, nan: boolean, operands: readonly [Expr, Expr]): Expr {
  const magnitudes = operands.map((v) => k.op("f32.abs", v));
  const value = patternOf(
    k,
    flushed(k, ftz, magnitudes, (...values) => extremum(k, which, nan, values)),
  );
  const { sign, infinity } = masks(k, value);
  const signs = k.and(k.xor(patternOf(k, operands[0]), patternOf(k, operands[1])), sign);
  return k.select(k.le(value, infinity, false), k.or(value, signs), value);
}

/** Why `.xorsign` and `.abs` are not written together, or null. */
export const xorsignNeedsAbs = (m: { readonly xorsign: boolean; readonly abs: boolean }): string | null =>
  m.xorsign === m.abs ? null : m.xorsign ? "'.xorsign' needs '.abs'" : "with two inputs '.abs' needs '.xorsign'";

const xorsign = { since: "7.2", target: "sm_86" } as const;

const formsOf = (name: Which) => [
  form(`${name}{.ftz}{.NaN}{.xorsign}{.abs}.f32 d, a, b`, {
    since: "1.0",
    gates: { NaN: { since: "7.0", target: "sm_80" }, xorsign, abs: xorsign },
    invalid: xorsignNeedsAbs,
    note: flushNote,
    sem: (k, { a, b }, { ftz, NaN: nan, xorsign: signed }) =>
      signed
        ? signedExtremum(k, name, ftz, nan, [a, b])
        : flushed(k, ftz, [a, b], (...values) => extremum(k, name, nan, values)),
  }),
  form(`${name}{.ftz}{.NaN}{.abs}.f32 d, a, b, c`, {
    since: "8.8",
    target: "sm_100",
    sem: (k, { a, b, c }, { ftz, NaN: nan, abs }) =>
      flushed(k, ftz, [a, b, c], (...values) =>
        extremum(k, name, nan, abs ? values.map((v) => k.op("f32.abs", v)) : values),
      ),
  }),
  form(`${name}.f64 d, a, b`, { since: "1.0", target: "sm_13", sem: (k, { a, b }) => k.op(`f64.${name}`, a, b) }),
];

const extremumOf = (name: Parameters<typeof formsOf>[0], summary: string, section: string) =>
  instruction(name, { summary, section, forms: formsOf(name) });

/** Section 9.7.3.11. */
export const min = extremumOf("min", "returns the smallest of two or three values", "9.7.3.11");

/** Section 9.7.3.12. */
export const max = extremumOf("max", "returns the largest of two or three values", "9.7.3.12");
