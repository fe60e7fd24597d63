import type { Expr, Kit } from "../../../semantics/index.ts";
import { form, instruction } from "../define.ts";

const bits = { type: ["b16", "b32", "b64"] } as const;

const both =
  (operation: "and" | "or" | "xor") =>
  (k: Kit, { a, b }: Readonly<Record<"a" | "b", Expr>>): Expr =>
    k[operation](a, b);

// ptxas accepts negated predicates as sources of these instructions, which the manual does not mention.

/** Section 9.7.8.1. */
export const and = instruction("and", {
  summary: "combines bits with AND",
  section: "9.7.8.1",
  forms: [
    form("and.type d, a, b", { where: bits, since: "1.0", sem: both("and") }),
    form("and.pred d, {!}a, {!}b", { since: "1.0", sem: both("and") }),
  ],
});

/** Section 9.7.8.2. */
export const or = instruction("or", {
  summary: "combines bits with OR",
  section: "9.7.8.2",
  forms: [
    form("or.type d, a, b", { where: bits, since: "1.0", sem: both("or") }),
    form("or.pred d, {!}a, {!}b", { since: "1.0", sem: both("or") }),
  ],
});

/** Section 9.7.8.3. */
export const xor = instruction("xor", {
  summary: "combines bits with exclusive OR",
  section: "9.7.8.3",
  forms: [
    form("xor.type d, a, b", { where: bits, since: "1.0", sem: both("xor") }),
    form("xor.pred d, {!}a, {!}b", { since: "1.0", sem: both("xor") }),
  ],
});

/** Section 9.7.8.4. */
export const not = instruction("not", {
  summary: "inverts bits",
  section: "9.7.8.4",
  forms: [
    form("not.type d, a", { where: bits, since: "1.0", sem: (k, { a }) => k.not(a) }),
    form("not.pred d, {!}a", { since: "1.0", sem: (k, { a }) => k.not(a) }),
  ],
});

/** Section 9.7.8.5. */
export const cnot = instruction("cnot", {
  summary: "returns 1 for 0, and 0 for all other values",
  section: "9.7.8.5",
  forms: [
    form("cnot.type d, a", {
      where: bits,
      since: "1.0",
      sem: (k, { a }) => k.select(k.eq(a, k.int(a, 0)), k.int(a, 1), k.int(a, 0)),
    }),
  ],
});
