import type { Access, Destination, IrFunction, RegisterClass } from "../../../ir/index.ts";
import { fitted } from "./register-class.ts";
import { applyScalar, applyVector, type Value, vectorOf } from "./value.ts";

/** An element that has been loaded as a register of a class takes it. */
export function elementInRegister(value: Value, { bits, signed }: Access, c: RegisterClass, quads: number): Value {
  if (c !== "b64" || bits === 64 || !signed) return fitted(value, c, quads);
  if (value.kind !== "uniform") return applyVector("i64.extend_i32_s", [vectorOf(value, quads)], quads);
  return { kind: "uniform", ty: "i64", scalar: applyScalar("i64.extend_i32_s", [value.scalar]) };
}

/** What is written where a result goes, as registers are. */
export const classOf = (to: Exclude<Destination, null>, { registers }: IrFunction): RegisterClass =>
  typeof to === "number" ? registers[to]!.class : to.bits === 64 ? "b64" : "b32";

/** The bits of a value that an element takes. */
export const elementToStore = (value: Value, { bits }: Access, quads: number): Value =>
  fitted(value, bits === 64 ? "b64" : "b32", quads);
