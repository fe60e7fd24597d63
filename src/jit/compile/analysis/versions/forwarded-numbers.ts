import { writesOf } from "../../../../ir/flow/accesses.ts";
import { type FlowGraph, flowGraphOf } from "../../../../ir/flow/flow-graph.ts";
import { livenessOf, resultsOf } from "../../../../ir/flow/liveness.ts";
import type { Instruction, IrFunction } from "../../../../ir/index.ts";
import { mapOperands } from "../../../../ir/operands.ts";
import { type Expr, ExprResults, rewriteLeaves } from "../../../../semantics/index.ts";

const number = /^n?(tid|ctaid)\.[xyz]$/;

/** The number of a thread or block, or of all of them, that an instruction writes to a register; null for none. */
function numberIn({ op, guard, dst }: Instruction, register: number): Expr | null {
  const value = op.kind === "pure" && guard === null ? op.values[dst.indexOf(register)] : undefined;
  return value?.kind === "special" && number.test(value.name) ? value : null;
}

/**
 * The code with numbers of threads and blocks read as such while a register certainly holds one: compilers count the
 * rounds of a loop in the register that had the thread's number before.
 */
export function withForwardedNumbers(ir: IrFunction): IrFunction {
  const { instructions } = ir;
  const writes = new Map<number, number[]>();
  instructions.forEach((instruction, i) => {
    writesOf(instruction, (r) => {
      const all = writes.get(r);
      if (all === undefined) writes.set(r, [i]);
      else all.push(i);
    });
  });
  const reused = [...writes].filter(
    ([r, [first, ...more]]) => more.length > 0 && numberIn(instructions[first!]!, r) !== null,
  );
  if (reused.length === 0) return ir;
  const graph = flowGraphOf(instructions);
  const read = livenessOf(ir, graph, resultsOf(ir)).liveIn(0);
  const numbers = new Map<number, { readonly value: Expr; readonly isLost: Uint8Array }>();
  for (const [r, [first, ...others]] of reused) {
    if (read.has(r)) continue;
    numbers.set(r, { value: numberIn(instructions[first!]!, r)!, isLost: reachedBy(others, first!, graph) });
  }
  if (numbers.size === 0) return ir;
  const forwarded = instructions.map((instruction, i) => {
    const memo = new ExprResults<Expr>();
    const known = (leaf: Expr): Expr => {
      const found = leaf.kind === "reg" && leaf.ty === "i32" ? numbers.get(leaf.reg) : undefined;
      return found === undefined || found.isLost[i] === 1 ? leaf : found.value;
    };
    return mapOperands(instruction, (expr) => rewriteLeaves(expr, known, memo));
  });
  return { ...ir, instructions: forwarded };
}

/** 1 for each instruction that comes after one of some others, without `last` between. */
function reachedBy(writes: readonly number[], last: number, { blocks, blockAt }: FlowGraph): Uint8Array {
  const reached = new Uint8Array(blocks.at(-1)?.end ?? 0);
  const pending = writes.map((write) => ({ at: write + 1, block: blocks[blockAt(write)]! }));
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    let { at } = next;
    const { end, successors } = next.block;
    for (; at < end && reached[at] === 0 && at !== last; at++) reached[at] = 1;
    if (at < end) continue;
    for (const to of successors) if (to < blocks.length) pending.push({ at: blocks[to]!.start, block: blocks[to]! });
  }
  return reached;
}
