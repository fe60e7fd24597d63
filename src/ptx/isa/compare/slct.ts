import { form, instruction } from "../define.ts";
import { choose } from "./choose.ts";
import { valueGates, valueTypes } from "./value-types.ts";

const operands = { d: "dtype", a: "dtype", b: "dtype" } as const;

/** Section 9.7.6.4. */
export const slct = instruction("slct", {
  summary: "selects one of two values by the sign of a third",
  section: "9.7.6.4",
  forms: [
    form("slct.dtype.s32 d, a, b, c", {
      where: { dtype: valueTypes },
      since: "1.0",
      gates: valueGates,
      operands: { ...operands, c: "s32" },
      sem: (k, { a, b, c }) => choose(k, k.le(k.i32(0), c, true), a, b),
    }),
    form("slct{.ftz}.dtype.f32 d, a, b, c", {
      where: { dtype: valueTypes },
      since: "1.0",
      gates: valueGates,
      operands: { ...operands, c: "f32" },
      // -0 is not less than 0, and an ordered comparison with NaN is false.
      sem: (k, { a, b, c }, { ftz }) => choose(k, k.op("f32.cmp_ge", ftz ? k.op("f32.ftz", c) : c, k.f32(0)), a, b),
    }),
  ],
});
