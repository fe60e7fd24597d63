import { form, instruction } from "../define.ts";
import { rounded, rounding, saturated } from "../float/float-type.ts";

const shared = {
  where: { rnd: rounding, atype: ["f16", "bf16"] },
  since: "8.6",
  target: "sm_100",
  operands: { a: "reg atype", c: "f32" },
} as const;

const formsOf = (name: "add" | "sub") => [
  form(`${name}{.rnd}{.sat}.f32.atype d, a, c`, {
    ...shared,
    sem: (k, { a, c }, { rnd, sat, atype }) =>
      saturated(k, sat, rounded(k, name, rnd, k.op(`f32.from_${atype}`, a), c)),
  }),
  // The manual's example has `.sat` here, and ptxas accepts it in both positions.
  form(`${name}{.rnd}.f32.atype.sat d, a, c`, {
    ...shared,
    sem: (k, { a, c }, { rnd, atype }) => saturated(k, true, rounded(k, name, rnd, k.op(`f32.from_${atype}`, a), c)),
  }),
];

const mixed = (name: Parameters<typeof formsOf>[0], summary: string, section: string) =>
  instruction(name, { summary, section, forms: formsOf(name) });

/** Section 9.7.5.1. */
export const add = mixed("add", "adds an f32 value to a converted f16 or bf16 value", "9.7.5.1");

/** Section 9.7.5.2. */
export const sub = mixed("sub", "subtracts an f32 value from a converted f16 or bf16 value", "9.7.5.2");
