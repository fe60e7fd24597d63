import { registersIn } from "../../ir/module.ts";
import { flowGraphOf, type Liveness, livenessOf } from "../../ir/flow/index.ts";
import type { IrFunction } from "../../ir/index.ts";

interface Known {
  readonly liveness: Liveness;
  readonly blockAt: (instruction: number) => number;
}

const known = new WeakMap<IrFunction, Known>();

/** Returns the registers whose value at an instruction may still be read. */
export function liveRegisters(ir: IrFunction, index: number): ReadonlySet<number> {
  let found = known.get(ir);
  if (found === undefined) {
    const graph = flowGraphOf(ir.instructions);
    const results = registersIn(ir.returns);
    const blockAt = (instruction: number): number => graph.blockAt(instruction);
    known.set(ir, (found = { liveness: livenessOf(ir, graph, results), blockAt }));
  }
  const { liveness, blockAt } = found;
  const live = new Set<number>();
  if (index >= ir.instructions.length) return live;
  const block = blockAt(index);
  if (index === 0 || blockAt(index - 1) !== block) liveness.liveIn(block).forEach((r) => void live.add(r));
  else {
    liveness.walk(block, (instruction, liveAfter) => {
      if (instruction === index - 1) liveAfter.forEach((r) => void live.add(r));
    });
  }
  return live;
}
