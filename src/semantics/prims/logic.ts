import { wasm } from "../../wasm/index.ts";
import { asOps, asSelect, prim, type PrimTable } from "../prim.ts";

/** Logic on predicates, and their conversion to integers. */
export const logicPrims = {
  "pred.and": prim(["pred", "pred"], "pred", (a, b) => a && b, asOps("i32.and", "quad", "v128.and")),
  "pred.or": prim(["pred", "pred"], "pred", (a, b) => a || b, asOps("i32.or", "quad", "v128.or")),
  "pred.xor": prim(["pred", "pred"], "pred", (a, b) => a !== b, asOps("i32.xor", "quad", "v128.xor")),
  "pred.not": prim(["pred"], "pred", (a) => !a, asOps("i32.eqz", "quad", "v128.not")),
  "pred.select": prim(["pred", "pred", "pred"], "pred", (p, a, b) => (p ? a : b), asSelect("quad")),
  "i32.from_pred": prim(["pred"], "i32", (p) => (p ? 1 : 0), {
    scalar: (p) => p!,
    quad: (p) => wasm.op("i32x4.shr_u", p!, wasm.i32(31)),
  }),
} as const satisfies PrimTable;
