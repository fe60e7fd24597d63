import { form, instruction } from "../define.ts";
import { flushed, flushNote, perF32, rounded, rounding, saturated } from "./float-type.ts";

const upOrDown = { rm: { target: "sm_20" }, rp: { target: "sm_20" } } as const;
const where = { rnd: rounding } as const;

/** The forms of `add`, `sub` and `mul`, which differ only in the operation. */
const formsOf = (name: "add" | "sub" | "mul") => [
  form(`${name}{.rnd}{.ftz}{.sat}.f32 d, a, b`, {
    where,
    since: "1.0",
    gates: upOrDown,
    note: flushNote,
    sem: (k, { a, b }, { rnd, ftz, sat }) =>
      saturated(
        k,
        sat,
        flushed(k, ftz, [a, b], (...args) => rounded(k, name, rnd, ...args)),
      ),
  }),
  form(`${name}{.rnd}{.ftz}.f32x2 d, a, b`, {
    where,
    since: "8.6",
    target: "sm_100",
    operands: { a: "reg f32x2", b: "reg f32x2" },
    sem: (k, { a, b }, { rnd, ftz }) =>
      perF32(k, [a, b], (...pair) => flushed(k, ftz, pair, (...args) => rounded(k, name, rnd, ...args))),
  }),
  form(`${name}{.rnd}.f64 d, a, b`, {
    where,
    since: "1.0",
    target: "sm_13",
    sem: (k, { a, b }, { rnd }) => rounded(k, name, rnd, a, b),
  }),
];

/** Section 9.7.3.3. */
export const add = instruction("add", { summary: "adds two values", section: "9.7.3.3", forms: formsOf("add") });

/** Section 9.7.3.4. */
export const sub = instruction("sub", {
  summary: "subtracts one value from another",
  section: "9.7.3.4",
  forms: formsOf("sub"),
});

/** Section 9.7.3.5. */
export const mul = instruction("mul", { summary: "multiplies two values", section: "9.7.3.5", forms: formsOf("mul") });
