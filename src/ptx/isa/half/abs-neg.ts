import { form, instruction } from "../define.ts";
import { bf16Types, f16Types, flushedF16, oneOperand, perElement } from "./half-type.ts";

/** The sign bits of both halves. `abs` and `neg` change them even for NaNs. */
const SIGNS = 0x8000_8000;

/** Section 9.7.4.6. */
export const abs = instruction("abs", {
  summary: "computes the absolute value",
  section: "9.7.4.6",
  forms: [
    form("abs{.ftz}.type d, a", {
      where: { type: f16Types },
      since: "6.5",
      target: "sm_53",
      operands: oneOperand,
      sem: (k, { a }, { ftz, type }) =>
        k.and(
          perElement(k, type, [a], (...halves) => flushedF16(k, ftz, halves, (x) => x!)),
          k.i32(~SIGNS),
        ),
    }),
    form("abs.type d, a", {
      where: { type: bf16Types },
      since: "7.0",
      target: "sm_80",
      operands: oneOperand,
      sem: (k, { a }) => k.and(a, k.i32(~SIGNS)),
    }),
  ],
});

/** Section 9.7.4.5. */
export const neg = instruction("neg", {
  summary: "negates a value",
  section: "9.7.4.5",
  forms: [
    form("neg{.ftz}.type d, a", {
      where: { type: f16Types },
      since: "6.0",
      target: "sm_53",
      operands: oneOperand,
      sem: (k, { a }, { ftz, type }) =>
        k.xor(
          perElement(k, type, [a], (...halves) => flushedF16(k, ftz, halves, (x) => x!)),
          k.i32(SIGNS),
        ),
    }),
    form("neg.type d, a", {
      where: { type: bf16Types },
      since: "7.0",
      target: "sm_80",
      operands: oneOperand,
      sem: (k, { a }) => k.xor(a, k.i32(SIGNS)),
    }),
  ],
});
