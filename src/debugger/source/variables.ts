import { type Visible, visibleAt } from "./function-debug.ts";
import type { SourcePoint } from "./source-value.ts";

/** Returns the variables and parameters of the source that can be seen at a point, the innermost block first. */
export function visibleVariables(point: SourcePoint): readonly Visible[] {
  const ir = point.activation?.code.ir ?? null;
  return ir === null ? [] : visibleAt(ir, point.index, point.level);
}
