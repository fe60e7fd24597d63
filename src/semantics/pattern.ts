import { pattern32, pattern64 } from "../numeric/float-pattern.ts";
import type { Expr } from "./expr.ts";
import type { Value } from "./types.ts";

/** Returns a value's bit pattern; a computed NaN becomes the canonical one. */
export function patternOf(ty: Expr["ty"], value: Value): number | bigint {
  if (ty === "f32") return pattern32(value as number);
  if (ty === "f64") return pattern64(value as number);
  return value as number | bigint;
}
