import { flowGraphOf } from "../../../../ir/flow/flow-graph.ts";
import { livenessOf } from "../../../../ir/flow/liveness.ts";
import type { IrFunction } from "../../../../ir/index.ts";
import { uniform, vector } from "../../../../ir/uniformity/shape.ts";
import { Uniformity } from "../../../../ir/uniformity/uniformity.ts";
import { inLoopOrder } from "../code/region-order.ts";

/**
 * Whether all threads of a kernel's block come to each barrier together if they run as one chunk, as far as can be
 * seen before the code is prepared. The kernel calls no functions.
 */
export function comeToBarriersTogether(ir: IrFunction): boolean {
  const barriers = new Set(ir.instructions.flatMap(({ op }, i) => (op.kind === "barrier" ? [i] : [])));
  if (barriers.size === 0) return true;
  const without = ir.instructions.map((instruction, i) =>
    barriers.has(i) ? ({ ...instruction, op: { kind: "nothing" } } as const) : instruction,
  );
  const ordered = inLoopOrder({ ir: { ...ir, instructions: without }, origins: without.map((_, i) => i) });
  const graph = flowGraphOf(ordered.ir.instructions);
  const never = (): boolean => false;
  const { divergence } = new Uniformity(
    { ...ordered.ir, ir: ordered.ir, graph, liveness: livenessOf(ordered.ir, graph, []) },
    {
      special: ({ name }) => (name.startsWith("tid.") ? vector : uniform),
      params: new Map(),
      full: true,
      stalls: never,
      returnsPartially: never,
      exitsInCallee: never,
      separatesExits: false,
      stacks: ir.frame.length > 0,
      enlistsLanes: false,
      asksTogether: false,
      lanes: 32,
    },
  );
  return ordered.ir.instructions.every(
    (_, i) => !barriers.has(ordered.origins![i]!) || !divergence.mayBePartial(graph.blockAt(i)),
  );
}
