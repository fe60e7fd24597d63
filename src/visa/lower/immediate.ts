import { type Expr, kit as k } from "../../semantics/index.ts";
import type { ExecSize, Immediate } from "../tree.ts";
import { isSigned } from "../types.ts";
import { bitsOf, channel, plain, type Source } from "./element.ts";

/** The value of an immediate. Packed ones are vectors of words (`v`, `uv`) or floats (`vf`). */
export function immediate({ type, bits }: Immediate, exec: ExecSize): Source {
  switch (type) {
    case "v":
      return plain(packed(bits, 4, 7, true, exec), "w");
    case "uv":
      return plain(packed(bits, 4, 7, false, exec), "uw");
    case "vf":
      return plain(restrictedFloat(packed(bits, 8, 3, false, exec)), "f");
    case "q":
    case "uq":
      return plain(k.i64(bits), type);
    case "df":
      return plain(k.bitcast(k.i64(bits), "f64"), type);
    case "f":
      return plain(k.bitcast(k.i32(Number(BigInt.asIntN(32, bits))), "f32"), type);
    default: {
      const width = bitsOf(type);
      const value = isSigned(type) ? BigInt.asIntN(width, bits) : BigInt.asUintN(width, bits);
      return plain(k.i32(Number(value)), type);
    }
  }
}

/**
 * The element of a packed immediate that each channel takes: its number modulo the number of elements, which is
 * `last + 1`.
 */
function packed(bits: bigint, width: 4 | 8, last: number, signed: boolean, exec: ExecSize): Expr {
  const vector = k.i32(Number(BigInt.asIntN(32, bits)));
  if (exec.size === 1) return k.field(vector, 0, width, signed);
  const shift = k.mul(k.and(channel(exec), k.i32(last)), k.i32(width));
  return k.field(k.shr(vector, shift, false), 0, width, signed);
}

/**
 * A restricted float: a sign, 3 bits of exponent (bias 3) and 4 of fraction, without subnormals; 0x00 and 0x80 are
 * zeros.
 */
function restrictedFloat(pattern: Expr): Expr {
  const sign = k.shl(k.and(pattern, k.i32(0x80)), k.i32(24));
  const rest = k.and(pattern, k.i32(0x7f));
  // Exponent and fraction shifted to where binary32 has them; its bias is larger by 124.
  const magnitude = k.add(k.shl(rest, k.i32(19)), k.i32(124 << 23));
  return k.bitcast(k.or(sign, k.select(k.eq(rest, k.i32(0)), k.i32(0), magnitude)), "f32");
}
