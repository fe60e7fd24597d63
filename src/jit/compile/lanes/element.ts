import type { Access, Destination, IrFunction, RegisterClass } from "../../../ir/index.ts";
import { fitted } from "./register-class.ts";
import { applyScalar, applyVector, type Value, vectorOf } from "./value.ts";

/** A loaded element in the form in which a register of a class holds it. */
export function elementInRegister(value: Value, { bits, signed }: Access, c: RegisterClass, quads: number): Value {
  if (c !== "b64" || bits === 64 || !signed) return fitted(value, c, quads);
  if (value.kind !== "uniform") return applyVector("i64.extend_i32_s", [vectorOf(value, quads)], quads);
  return { kind: "uniform", ty: "i64", scalar: applyScalar("i64.extend_i32_s", [value.scalar]) };
}

/** The register class of a destination; bytes of a byte file are treated as a register of their width. */
export const classOf = (to: Exclude<Destination, null>, { registers }: IrFunction): RegisterClass =>
  typeof to === "number" ? registers[to]!.class : to.bits === 64 ? "b64" : "b32";

/** The bits of a value that are stored as an element. */
export const elementToStore = (value: Value, { bits }: Access, quads: number): Value =>
  fitted(value, bits === 64 ? "b64" : "b32", quads);
