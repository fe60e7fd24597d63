import { pattern64 } from "../../numeric/float-pattern.ts";
import { type Expr, kit, type Ty } from "../../semantics/index.ts";
import type { Constant } from "../check/constant.ts";
import type { TypeInfo } from "../types.ts";

/** The expression type that rows use for values of a PTX type. */
export const tyOf = (type: TypeInfo): Ty =>
  type.kind === "pred"
    ? "pred"
    : type.name === "f32"
      ? "f32"
      : type.name === "f64"
        ? "f64"
        : type.bits > 32
          ? "i64"
          : "i32";

export function constantExpr(constant: Constant, type: TypeInfo): Expr {
  const ty = tyOf(type);
  if (constant.kind === "integer") {
    const { value } = constant;
    if (ty === "pred") return kit.pred(value !== 0n);
    if (ty === "i64") return kit.i64(value);
    if (ty === "f32") return kit.f32(Number(value));
    if (ty === "f64") return kit.f64(Number(value));
    const wrapped = type.kind === "s" ? BigInt.asIntN(type.bits, value) : BigInt.asUintN(type.bits, value);
    return kit.i32(Number(BigInt.asIntN(32, wrapped)));
  }
  const { value, bits, width } = constant;
  // A JavaScript NaN does not keep its payload, so its bits are reinterpreted instead.
  if (ty === "f32")
    return Number.isNaN(value) && width === 32 ? kit.op("f32.reinterpret_i32", kit.i32(Number(bits))) : kit.f32(value);
  if (ty === "f64")
    return Number.isNaN(value) && width === 64 ? kit.op("f64.reinterpret_i64", kit.i64(bits)) : kit.f64(value);
  if (ty === "i64") return kit.i64(width === 64 ? bits : pattern64(value));
  return kit.i32(Number(BigInt.asIntN(32, bits)));
}

/** Reads a register of `width` bits as a value of `type`: its low bits, extended according to the type. */
export function readRegister(register: number, width: number, type: TypeInfo): Expr {
  const ty = tyOf(type);
  const reg = (as: Ty): Expr => ({ kind: "reg", ty: as, reg: register });
  if (ty === "pred") return reg("pred");
  if (type.bits === 64) return reg(ty);
  const low = width === 64 ? kit.wrap(reg("i64")) : reg("i32");
  if (ty === "f32") return width === 64 ? kit.bitcast(low, "f32") : reg("f32");
  // The upper bits of 8-bit and 16-bit registers are zero.
  if (type.bits === 32 || (type.kind !== "s" && width <= type.bits)) return low;
  return kit.narrow(low, type.bits, type.kind === "s");
}

/** Extends a result of `type` to a register of `width` bits, which may be wider (9.4.1). */
export function fitRegister(value: Expr, type: TypeInfo, width: number): Expr {
  if (value.ty === "pred" || width <= type.bits) return value;
  const signed = type.kind === "s";
  const bits = value.ty === "f32" ? kit.bitcast(value, "i32") : value.ty === "f64" ? kit.bitcast(value, "i64") : value;
  if (bits.ty === "i64") return bits;
  const narrow = kit.narrow(bits, type.bits, signed);
  return width > 32 ? kit.widen(narrow, signed) : narrow;
}
