import type { Op } from "../ir/index.ts";
import type { Expr } from "../semantics/index.ts";
import { type Shape, uniform, vector } from "./shape.ts";

type WarpInstruction = Extract<Op, { kind: "warp" }>;

/** How a result of a warp-wide operation varies over the lanes that act together; `result`: its place among the results. */
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
      const whole = warp.c.kind === "const" && (Number(warp.c.value) & 0x1f1f) === 0x1f;
      if (result !== 0 || warp.mode !== "idx" || !whole) return vector;
      // All lanes of the warp read the same one.
      const from = shape(warp.b);
      return from === null || from.kind === "uniform" ? from : vector;
    }
    case "sync":
      return vector;
  }
}
