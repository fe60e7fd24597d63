import { form, instruction } from "../define.ts";
import { arithmetic, bf16Types, f16Types, flushedF16, perElement, saturatedF16, twoOperands } from "./half-type.ts";

/** The forms of `add`, `sub` and `mul`, which differ only in the operation. */
const formsOf = (name: "add" | "sub" | "mul") => [
  form(`${name}{.rnd}{.ftz}{.sat}.type d, a, b`, {
    where: { rnd: ["rn"], type: f16Types },
    since: "4.2",
    target: "sm_53",
    operands: twoOperands,
    sem: (k, { a, b }, { ftz, sat, type }) =>
      perElement(k, type, [a, b], (...halves) =>
        saturatedF16(
          k,
          sat,
          flushedF16(k, ftz, halves, (...args) => arithmetic(k, name, type, ...args)),
        ),
      ),
  }),
  form(`${name}{.rnd}.type d, a, b`, {
    where: { rnd: ["rn"], type: bf16Types },
    since: "7.8",
    target: "sm_90",
    operands: twoOperands,
    sem: (k, { a, b }, { type }) => perElement(k, type, [a, b], (...halves) => arithmetic(k, name, type, ...halves)),
  }),
];

/** Section 9.7.4.1. */
export const add = instruction("add", { summary: "adds two values", section: "9.7.4.1", forms: formsOf("add") });

/** Section 9.7.4.2. */
export const sub = instruction("sub", {
  summary: "subtracts one value from another",
  section: "9.7.4.2",
  forms: formsOf("sub"),
});

/** Section 9.7.4.3. */
export const mul = instruction("mul", { summary: "multiplies two values", section: "9.7.4.3", forms: formsOf("mul") });
