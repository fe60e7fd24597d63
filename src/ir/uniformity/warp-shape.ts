import type { Op, WarpOp } from "../index.ts";
import type { Expr } from "../../semantics/index.ts";
import { readAt, type Shape, uniform, vector } from "./shape.ts";

type WarpInstruction = Extract<Op, { kind: "warp" }>;

/** Whether all lanes of the warp read the same lane, provided that they agree on its number. */
export const readsOne = (op: Extract<WarpOp, { op: "shfl" }>): boolean =>
  op.mode === "idx" && op.operands[2].kind === "const" && (Number(op.operands[2].value) & 0x1f1f) === 0x1f;

/**
 * The shape of a result of a warp-wide operation over the lanes that take part. `result`: its place among the results.
 */
export function warpShape(
  { warp }: WarpInstruction,
  result: number,
  shape: (expr: Expr) => Shape | null,
): Shape | null {
  switch (warp.op) {
    case "vote":
    case "redux":
      return uniform;
    case "match":
      return warp.mode === "all" ? uniform : vector;
    case "elect":
      return result === 0 ? uniform : vector;
    case "shfl": {
      const from = readsOne(warp) ? shape(warp.operands[1]) : vector;
      return from === null ? null : readAt(from);
    }
    case "sync":
    case "align":
    case "arrange":
    case "multiply":
      return vector;
  }
}
