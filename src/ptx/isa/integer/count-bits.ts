import type { Expr, Kit } from "../../../semantics/index.ts";
import { form, instruction } from "../define.ts";
import { isSigned, widthOf } from "./integer-type.ts";

const where = { type: ["b32", "b64"] } as const;
const operands = { d: "u32" } as const;
const gate = { since: "2.0", target: "sm_20" } as const;

/** The number of leading zeros of an `i32` or `i64`, as an `i32`. */
function leadingZeros(k: Kit, a: Expr): Expr {
  if (a.ty === "i32") return k.op("i32.clz", a);
  const high = k.high(a);
  const below = k.add(k.i32(32), k.op("i32.clz", k.wrap(a)));
  return k.select(k.eq(high, k.i32(0)), below, k.op("i32.clz", high));
}

/** Section 9.7.1.14. */
export const popc = instruction("popc", {
  summary: "counts the set bits",
  section: "9.7.1.14",
  forms: [
    form("popc.type d, a", {
      where,
      operands,
      ...gate,
      sem: (k, { a }, { type }) =>
        type === "b32" ? k.op("i32.popcnt", a) : k.add(k.op("i32.popcnt", k.wrap(a)), k.op("i32.popcnt", k.high(a))),
    }),
  ],
});

/** Section 9.7.1.15. */
export const clz = instruction("clz", {
  summary: "counts the leading zeros",
  section: "9.7.1.15",
  forms: [form("clz.type d, a", { where, operands, ...gate, sem: (k, { a }) => leadingZeros(k, a) })],
});

/** Section 9.7.1.16. */
export const bfind = instruction("bfind", {
  summary: "finds the most significant bit that differs from the sign",
  section: "9.7.1.16",
  forms: [
    form("bfind{.shiftamt}.type d, a", {
      where: { type: ["u32", "u64", "s32", "s64"] },
      operands,
      ...gate,
      note: "returns 0xffffffff if there is no such bit",
      sem: (k, { a }, { shiftamt, type }) => {
        const width = widthOf(type);
        const sign = k.shr(a, k.i32(width - 1), true);
        const zeros = leadingZeros(k, isSigned(type) ? k.xor(a, sign) : a);
        return shiftamt ? k.select(k.eq(zeros, k.i32(width)), k.i32(-1), zeros) : k.sub(k.i32(width - 1), zeros);
      },
    }),
  ],
});

/** Section 9.7.1.17. */
export const fns = instruction("fns", {
  summary: "finds the n-th set bit from a position on",
  section: "9.7.1.17",
  forms: [
    form("fns.b32 d, mask, base, offset", {
      operands: { offset: "s32" },
      since: "6.0",
      target: "sm_30",
      note: "returns 0xffffffff if there is no such bit",
      undefinedCases: { "operand-out-of-range": (k, { base }) => k.lt(k.i32(31), base, false) },
      sem: (k, { mask, base, offset }) => k.op("i32.nth_set", mask, base, offset),
    }),
  ],
});

/** Section 9.7.1.18. */
export const brev = instruction("brev", {
  summary: "reverses the bits",
  section: "9.7.1.18",
  forms: [
    form("brev.type d, a", {
      where,
      ...gate,
      sem: (k, { a }, { type }) =>
        type === "b32" ? k.op("i32.brev", a) : k.pair(k.op("i32.brev", k.high(a)), k.op("i32.brev", k.wrap(a))),
    }),
  ],
});
