import type { Expr, Kit } from "../../../semantics/index.ts";

/** `a` if `p` is true, else `b`. A binary32 value is selected as bits, so that a NaN keeps its payload. */
export const choose = (k: Kit, p: Expr, a: Expr, b: Expr): Expr =>
  a.ty === "f32" ? k.select(p, k.bitcast(a, "i32"), k.bitcast(b, "i32")) : k.select(p, a, b);
