import { form, instruction } from "../define.ts";
import { flushed, flushNote } from "./float-type.ts";

/** The forms of the unary f32 approximations, which differ only in the operation. */
const formsOf = (name: "sin" | "cos" | "lg2" | "ex2") => [
  form(`${name}.f32 d, a`, {
    since: "1.0",
    until: "1.4",
    note: `means ${name}.approx.ftz.f32`,
    sem: (k, { a }) => flushed(k, true, [a], (x) => k.op(`f32.${name}`, x!)),
  }),
  form(`${name}.approx{.ftz}.f32 d, a`, {
    since: "1.4",
    note: flushNote,
    sem: (k, { a }, { ftz }) => flushed(k, ftz, [a], (x) => k.op(`f32.${name}`, x!)),
  }),
];

const approximation = (name: Parameters<typeof formsOf>[0], summary: string, section: string) =>
  instruction(name, { summary, section, forms: formsOf(name) });

/** Section 9.7.3.18. */
export const sin = approximation("sin", "computes the sine of an angle in radians", "9.7.3.18");

/** Section 9.7.3.19. */
export const cos = approximation("cos", "computes the cosine of an angle in radians", "9.7.3.19");

/** Section 9.7.3.20. */
export const lg2 = approximation("lg2", "computes the base-2 logarithm", "9.7.3.20");

/** Section 9.7.3.21. */
export const ex2 = approximation("ex2", "raises 2 to a power", "9.7.3.21");

/** Section 9.7.3.22. */
export const tanh = instruction("tanh", {
  summary: "computes the hyperbolic tangent",
  section: "9.7.3.22",
  forms: [form("tanh.approx.f32 d, a", { since: "7.0", target: "sm_75", sem: (k, { a }) => k.op("f32.tanh", a) })],
});
