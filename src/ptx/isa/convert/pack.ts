import type { Expr, Kit } from "../../../semantics/index.ts";
import { form, instruction } from "../define.ts";

const bitsOf = (type: string): number => Number(type.slice(1));

/** Clamps a signed 32-bit value to the range of a type; the bits above those of the type are 0. */
function limited(k: Kit, a: Expr, type: string): Expr {
  const bits = bitsOf(type);
  const [min, max] = type.startsWith("s") ? [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1] : [0, 2 ** bits - 1];
  return k.and(k.min(k.max(a, k.i32(min), true), k.i32(max), true), k.i32(2 ** bits - 1));
}

/** Packs `b` into the lowest bits, `a` above it, and the low bits of `c` above both. */
function packed(k: Kit, a: Expr, b: Expr, c: Expr | null, type: string): Expr {
  const bits = bitsOf(type);
  const pair = k.or(k.shl(limited(k, a, type), k.i32(bits)), limited(k, b, type));
  return c ? k.or(k.shl(c, k.i32(2 * bits)), pair) : pair;
}

const subByte = { target: "sm_75" } as const;

/** Section 9.7.9.22. */
export const cvtPack = instruction("cvt.pack", {
  summary: "converts two integers with saturation and packs the results",
  section: "9.7.9.22",
  forms: [
    form("cvt.pack.sat.convertType.s32 d, a, b", {
      where: { convertType: ["u16", "s16"] },
      since: "6.5",
      target: "sm_72",
      operands: { d: "u32" },
      sem: (k, { a, b }, { convertType }) => packed(k, a, b, null, convertType),
    }),
    form("cvt.pack.sat.convertType.s32.b32 d, a, b, c", {
      where: { convertType: ["u2", "s2", "u4", "s4", "u8", "s8"] },
      since: "6.5",
      target: "sm_72",
      gates: { u2: subByte, s2: subByte, u4: subByte, s4: subByte },
      operands: { d: "u32", a: "s32", b: "s32", c: "b32" },
      sem: (k, { a, b, c }, { convertType }) => packed(k, a, b, c, convertType),
    }),
  ],
});
