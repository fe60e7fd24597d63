import { fileLeavesOf, operandsOf, readsOf, writesOf } from "../../../../ir/flow/accesses.ts";
import type { FlowGraph } from "../../../../ir/flow/flow-graph.ts";
import { type LoopRange, loopsOf } from "../../../../ir/flow/loops.ts";
import type { Instruction } from "../../../../ir/index.ts";
import { readsClock } from "../values/special-registers.ts";

/**
 * The first blocks of loops that may wait for what other threads do: such a loop sees what they do (`sees`), and how
 * often it goes around may depend on that. One that only counts comes to its end whatever others do.
 */
export function spinLoops(
  graph: FlowGraph,
  instructions: readonly Instruction[],
  sees: (instruction: Instruction) => boolean,
): ReadonlySet<number> {
  const found = new Set<number>();
  const visit = (loop: LoopRange): void => {
    const { start } = graph.blocks[loop.start]!;
    const { end } = graph.blocks[loop.end]!;
    const body = instructions.slice(start, end);
    if (body.some(sees) && !onlyCounts(body, sees)) found.add(loop.start);
    loop.inner.forEach(visit);
  };
  loopsOf(graph).forEach(visit);
  return found;
}

/** Whether where control goes follows from numbers that the instructions themselves compute. */
function onlyCounts(body: readonly Instruction[], sees: (instruction: Instruction) => boolean): boolean {
  const decisive = new Set<number>();
  const note = (instruction: Instruction): void => readsOf(instruction, { register: (r) => decisive.add(r) });
  for (const instruction of body) {
    const { op, guard, lanes } = instruction;
    // What a function does that sees others is not known here, and lanes of byte files hang together in other ways.
    if (lanes !== undefined || (op.kind === "call" && sees(instruction))) return false;
    if (op.kind === "branch" || op.kind === "branch-indexed") note(instruction);
    else if (guard !== null && (op.kind === "return" || op.kind === "exit")) decisive.add(guard.register);
  }
  for (const register of decisive) {
    for (const instruction of body) {
      if (!writes(instruction, register)) continue;
      if (!isComputed(instruction)) return false;
      note(instruction);
    }
  }
  return true;
}

function writes(instruction: Instruction, register: number): boolean {
  let found = false;
  writesOf(instruction, (r) => {
    found ||= r === register;
  });
  return found;
}

const isComputed = (instruction: Instruction): boolean =>
  instruction.op.kind === "pure" &&
  fileLeavesOf(instruction).length === 0 &&
  !operandsOf(instruction.op).some(readsClock);
