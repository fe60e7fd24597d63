import type { Expr, Kit } from "../../../semantics/index.ts";
import { form, instruction } from "../define.ts";
import { isPacked, isSigned, perHalf } from "./integer-type.ts";

/** The minimum or maximum, of each half of a packed type; with `.relu` negative results become 0. */
const extremum =
  (which: "min" | "max", relu: boolean) =>
  (k: Kit, { a, b }: Readonly<Record<"a" | "b", Expr>>, { type }: { readonly type: string }): Expr => {
    const one = (x: Expr, y: Expr): Expr => {
      const value = k[which](x, y, isSigned(type));
      return relu ? k.max(value, k.int(value, 0), true) : value;
    };
    return isPacked(type) ? perHalf(k, type, [a, b], (x, y) => one(x!, y!)) : one(a, b);
  };

const where = { type: ["u16", "u32", "u64", "u16x2", "s16", "s64", "s16x2", "s32"] } as const;
const packed = { since: "8.0", target: "sm_90" } as const;
const gates = { u16x2: packed, s16x2: packed };
// An example in the manual has the type before `.relu`, and ptxas accepts both orders.
const reluTypes = { type: ["s16x2", "s32"] } as const;

/** Section 9.7.1.12. */
export const min = instruction("min", {
  summary: "returns the smaller of two values",
  section: "9.7.1.12",
  forms: [
    form("min.type d, a, b", { where, since: "1.0", gates, sem: extremum("min", false) }),
    form("min.relu.type d, a, b", { where: reluTypes, ...packed, anyOrder: true, sem: extremum("min", true) }),
  ],
});

/** Section 9.7.1.13. */
export const max = instruction("max", {
  summary: "returns the larger of two values",
  section: "9.7.1.13",
  forms: [
    form("max.type d, a, b", { where, since: "1.0", gates, sem: extremum("max", false) }),
    form("max.relu.type d, a, b", { where: reluTypes, ...packed, anyOrder: true, sem: extremum("max", true) }),
  ],
});
