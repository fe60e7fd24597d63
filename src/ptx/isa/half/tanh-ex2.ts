import { form, instruction } from "../define.ts";
import { flushed } from "../float/float-type.ts";
import { bf16Gate, bf16Types, f16Types, oneOperand, perElement, throughF32 } from "./half-type.ts";

/** Section 9.7.4.9. */
export const tanh = instruction("tanh", {
  summary: "computes the hyperbolic tangent",
  section: "9.7.4.9",
  forms: [
    form("tanh.approx.type d, a", {
      where: { type: [...f16Types, ...bf16Types] },
      since: "7.0",
      target: "sm_75",
      gates: { bf16: bf16Gate, bf16x2: bf16Gate },
      operands: oneOperand,
      sem: (k, { a }, { type }) =>
        perElement(k, type, [a], (...halves) => throughF32(k, type, halves, (x) => k.op("f32.tanh", x!))),
    }),
  ],
});

/** Section 9.7.4.10. */
export const ex2 = instruction("ex2", {
  summary: "raises 2 to a power",
  section: "9.7.4.10",
  forms: [
    form("ex2.approx.type d, a", {
      where: { type: f16Types },
      since: "7.0",
      target: "sm_75",
      operands: oneOperand,
      sem: (k, { a }, { type }) =>
        perElement(k, type, [a], (...halves) => throughF32(k, type, halves, (x) => k.op("f32.ex2", x!))),
    }),
    form("ex2.approx.ftz.type d, a", {
      where: { type: bf16Types },
      ...bf16Gate,
      operands: oneOperand,
      // bf16 has the exponent range of f32, so its subnormal numbers are flushed as f32 numbers.
      sem: (k, { a }, { type }) =>
        perElement(k, type, [a], (...halves) =>
          throughF32(k, type, halves, (x) => flushed(k, true, [x!], (y) => k.op("f32.ex2", y!))),
        ),
    }),
  ],
});
