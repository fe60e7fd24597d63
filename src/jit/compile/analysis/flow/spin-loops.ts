import { fileLeavesOf, operandsOf, readsOf, writesOf } from "../../../../ir/flow/accesses.ts";
import type { FlowGraph } from "../../../../ir/flow/flow-graph.ts";
import { type LoopRange, loopsOf } from "../../../../ir/flow/loops.ts";
import { awaitsPhase, type Instruction, type Op } from "../../../../ir/index.ts";
import { readsClock } from "../values/special-registers.ts";

/** Loops that may wait for what other threads do, by their first blocks. */
export interface SpinLoops {
  readonly all: ReadonlySet<number>;
  /**
   * Those whose rounds only ask for a phase of an mbarrier, or about the cluster. Who has the answer runs in turns with
   * the one who asks, so it is the same until others have had their turn.
   */
  readonly polls: ReadonlySet<number>;
}

/**
 * Finds the spin loops. Such a loop sees what other threads do (`sees`), and the number of its rounds may depend on
 * that. A loop that only counts ends whatever others do.
 */
export function spinLoops(
  graph: FlowGraph,
  instructions: readonly Instruction[],
  sees: (instruction: Instruction) => boolean,
): SpinLoops {
  const all = new Set<number>();
  const polls = new Set<number>();
  // Nested loops share instructions: each is examined once.
  const seen = new Int32Array(instructions.length + 1);
  for (let i = 0; i < instructions.length; i++) seen[i + 1] = seen[i]! + (sees(instructions[i]!) ? 1 : 0);
  const visit = (loop: LoopRange): void => {
    const { start } = graph.blocks[loop.start]!;
    const { end } = graph.blocks[loop.end]!;
    if (seen[start] === seen[end]) return;
    const body = instructions.slice(start, end);
    if (!onlyCounts(body, sees)) {
      all.add(loop.start);
      if (loop.inner.length === 0 && onlyAsks(body, sees)) polls.add(loop.start);
    }
    loop.inner.forEach(visit);
  };
  loopsOf(graph).forEach(visit);
  return { all, polls };
}

const asksOthers = (op: Op): boolean => op.kind === "cluster-poll" || awaitsPhase(op);

/** Whether all that a loop sees of others are answers that they give in their own turns. */
const onlyAsks = (body: readonly Instruction[], sees: (instruction: Instruction) => boolean): boolean =>
  body.some(({ op }) => asksOthers(op)) &&
  body.every((instruction) => !sees(instruction) || asksOthers(instruction.op) || instruction.op.kind === "sleep");

/** Whether all branches of a loop depend on nothing but numbers that it computes itself. */
function onlyCounts(body: readonly Instruction[], sees: (instruction: Instruction) => boolean): boolean {
  const deciding = new Set<number>();
  const note = (instruction: Instruction): void => readsOf(instruction, { register: (r) => deciding.add(r) });
  for (const instruction of body) {
    const { op, guard, lanes } = instruction;
    // The effects of functions that see others are not known here, and lanes with byte files share more than registers.
    if (lanes !== undefined || (op.kind === "call" && sees(instruction))) return false;
    if (op.kind === "branch" || op.kind === "branch-indexed") note(instruction);
    else if (guard !== null && (op.kind === "return" || op.kind === "exit")) deciding.add(guard.register);
  }
  for (const register of deciding) {
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
