import { prim, type PrimTable } from "../prim.ts";

/** Predicates, and the passage between bits and floating-point values. */
export const logicPrims = {
  "pred.and": prim(["pred", "pred"], "pred", (a, b) => a && b),
  "pred.or": prim(["pred", "pred"], "pred", (a, b) => a || b),
  "pred.xor": prim(["pred", "pred"], "pred", (a, b) => a !== b),
  "pred.not": prim(["pred"], "pred", (a) => !a),
  "pred.select": prim(["pred", "pred", "pred"], "pred", (p, a, b) => (p ? a : b)),
  "i32.from_pred": prim(["pred"], "i32", (p) => (p ? 1 : 0)),
} as const satisfies PrimTable;
