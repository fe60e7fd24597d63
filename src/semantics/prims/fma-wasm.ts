import { type Wasm, wasm } from "../../wasm/index.ts";
import type { Expansion } from "../expansion.ts";
import { byParts, type Form } from "../form.ts";
import { fmaToOdd } from "./rounding-wasm.ts";

/** The machine's fused multiply-add, which exists for vectors only. */
export const madd = (vector: "f32x4" | "f64x2"): NonNullable<Expansion["native"]> => {
  const fused = (...operands: Wasm[]): Wasm => wasm.op(`${vector}.relaxed_madd`, ...operands);
  const body = (form: Form, ...operands: Wasm[]): Wasm =>
    form.count > 1
      ? fused(...operands)
      : wasm.lane(`${vector}.extract_lane`, 0, fused(...operands.map((x) => wasm.op(`${vector}.splat`, x))));
  return { feature: "fusedMadd", body };
};

/**
 * `fma32` of `numeric/binary32.ts`: rounds twice, and redoes the operation with rounding to odd where two roundings may
 * differ from one.
 */
function fused32(form: Form, ...operands: Wasm[]): Wasm {
  const { doubles: d } = form;
  const parts = operands.map(form.widened);
  const sums = byParts(parts, (a, b, c) => d.add(d.mul(a, b), c));
  const nearest = form.narrowed(sums);
  const back = form.widened(nearest);
  const others = byParts([sums, back], (s, f) => d.add(s, d.sub(s, f)));
  const othersBack = form.widened(form.narrowed(others));
  const differ = byParts([sums, back, others, othersBack], (s, f, other, o) => d.both(d.ne(s, f), d.eq(other, o)));
  return wasm.if(
    d.any(differ.reduce(d.either)),
    form.narrowed(byParts(parts, (a, b, c) => fmaToOdd(d, a, b, c))),
    nearest,
  );
}

export const fma32: Expansion = { expand: fused32, native: madd("f32x4") };
