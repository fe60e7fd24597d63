import { isCall } from "../calls.ts";
import { registersWritten } from "../flow/accesses.ts";
import type { FlowGraph } from "../flow/flow-graph.ts";
import type { Instruction } from "../index.ts";

interface Code {
  readonly instructions: readonly Instruction[];
  readonly graph: FlowGraph;
}

/**
 * Whether a register holds, where a block begins, the mask of the lanes that reach it. `waits`: whether lanes may wait
 * for others at the operation of a warp with which a block begins.
 */
export function namesActive(code: Code, register: number, block: number, waits: (block: number) => boolean): boolean {
  const { blocks } = code.graph;
  for (let b = block; ; b--) {
    const { predecessors } = blocks[b]!;
    const before = blocks[b - 1];
    if (before === undefined || predecessors.length !== 1 || predecessors[0] !== b - 1) return false;
    if (before.successors.length !== 1 || !staysTogether(code, b - 1, waits)) return false;
    const written = lastWriter(code, register, b - 1);
    if (written !== null) return written.op.kind === "activemask" && written.guard === null;
  }
}

/** Whether all lanes that begin a block reach its end together. */
function staysTogether({ graph, instructions }: Code, block: number, waits: (block: number) => boolean): boolean {
  const { op } = instructions[graph.blocks[block]!.end - 1]!;
  if (op.kind === "warp") return op.mask === null || !waits(block);
  return op.kind !== "barrier" && op.kind !== "sleep" && !isCall(op);
}

function lastWriter({ graph, instructions }: Code, register: number, block: number): Instruction | null {
  const { start, end } = graph.blocks[block]!;
  return instructions.slice(start, end).findLast((written) => registersWritten(written).includes(register)) ?? null;
}
