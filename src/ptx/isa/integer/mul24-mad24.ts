import type { Expr, Kit } from "../../../semantics/index.ts";
import { form, instruction } from "../define.ts";
import { isSigned } from "./integer-type.ts";

/** Bits 47 to 16 (`hi`) or 31 to 0 (`lo`) of the product of the low 24 bits of `a` and `b`. */
function product24(k: Kit, mode: "hi" | "lo", type: string, a: Expr, b: Expr): Expr {
  const signed = isSigned(type);
  const a24 = k.field(a, 0, 24, signed);
  const b24 = k.field(b, 0, 24, signed);
  const low = k.mul(a24, b24);
  if (mode === "lo") return low;
  return k.or(k.shl(k.mulHigh(a24, b24, signed), k.i32(16)), k.shr(low, k.i32(16), false));
}

const where = { mode: ["hi", "lo"], type: ["u32", "s32"] } as const;

/** Section 9.7.1.5. */
export const mul24 = instruction("mul24", {
  summary: "multiplies two 24-bit values",
  section: "9.7.1.5",
  forms: [
    form("mul24.mode.type d, a, b", {
      where,
      since: "1.0",
      sem: (k, { a, b }, { mode, type }) => product24(k, mode, type, a, b),
    }),
  ],
});

/** Section 9.7.1.6. */
export const mad24 = instruction("mad24", {
  summary: "multiplies two 24-bit values and adds a third value",
  section: "9.7.1.6",
  forms: [
    form("mad24.mode.type d, a, b, c", {
      where,
      since: "1.0",
      sem: (k, { a, b, c }, { mode, type }) => k.add(product24(k, mode, type, a, b), c),
    }),
    form("mad24.hi.sat.s32 d, a, b, c", {
      since: "1.0",
      sem: (k, { a, b, c }) => k.addSat(product24(k, "hi", "s32", a, b), c),
    }),
  ],
});
