import type { Expr, Kit } from "../../../semantics/index.ts";

/** `a` where `p` holds, else `b`. A binary32 is chosen as bits, so that a NaN keeps its own. */
export const choose = (k: Kit, p: Expr, a: Expr, b: Expr): Expr =>
  a.ty === "f32" ? k.select(p, k.bitcast(a, "i32"), k.bitcast(b, "i32")) : k.select(p, a, b);
