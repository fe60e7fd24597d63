import type { IrFunction } from "../../../../ir/index.ts";
import type { Dim3 } from "../../../../machine/reports/report.ts";
import type { Bindings } from "../../../../semantics/bind.ts";
import type { LaneGroup, WarpConflicts } from "../access/lane-meetings.ts";
import { type Thoroughness, warpConflictsOf } from "../access/warp-conflicts.ts";
import { withDecidedBranches } from "./decided-branches.ts";

/**
 * What lanes of a group find of each other's accesses, in a kernel as it is compiled for blocks of one size: without
 * what the numbers of its threads rule out. Rounds that are left over for nobody would seem to meet all others, as a
 * counter that goes on from them may be anywhere.
 */
export function conflictsInBlocks(
  ir: IrFunction,
  block: Dim3,
  bindings: Bindings,
  group: LaneGroup,
  how: Required<Pick<Thoroughness, "pays">> & Thoroughness,
): WarpConflicts {
  const found = warpConflictsOf(ir, block, bindings, group, how);
  if (found === "none" || !how.pays(found)) return found;
  const decided = withDecidedBranches({ ir, origins: null }, block, bindings).ir;
  return decided === ir ? found : warpConflictsOf(decided, block, bindings, group, how);
}
