import { readsClock } from "../clock.ts";
import type { Instruction, Op } from "../instruction.ts";
import { awaitsPhase } from "../mbarrier.ts";
import { mayAwaitOthers } from "../op-traits.ts";
import { fileLeavesOf, operandsOf, readsOf, writesOf } from "./accesses.ts";
import { endsByCounting } from "./counting-exits.ts";
import type { FlowGraph } from "./flow-graph.ts";
import { type LoopRange, loopsOf } from "./loops.ts";

/** Whether an instruction by itself can see what others have done. */
export const seesOthersItself = ({ op }: Instruction): boolean => mayAwaitOthers(op) || operandsOf(op).some(readsClock);

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
 * that. A loop that only counts ends whatever others do, also if it loads how far (`endsByCounting`).
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
  const spinning = new Map<LoopRange, boolean>();
  const bodyOf = (loop: LoopRange): readonly Instruction[] =>
    instructions.slice(graph.blocks[loop.start]!.start, graph.blocks[loop.end]!.end);
  const seesOthers = ({ start, end }: LoopRange): boolean =>
    seen[graph.blocks[start]!.start] !== seen[graph.blocks[end]!.end];
  const spins = (loop: LoopRange): boolean => {
    let known = spinning.get(loop);
    if (known === undefined) {
      const ends = (): boolean => onlyCounts(bodyOf(loop), sees) || endsIfInnerDo(loop);
      spinning.set(loop, (known = seesOthers(loop) && !ends()));
    }
    return known;
  };
  const endsIfInnerDo = (loop: LoopRange): boolean =>
    endsByCounting(graph, instructions, loop, sees) && !loop.inner.some(spins);
  const visit = (loop: LoopRange): void => {
    if (!seesOthers(loop)) return;
    if (spins(loop)) {
      all.add(loop.start);
      if (loop.inner.length === 0 && onlyAsks(bodyOf(loop), sees)) polls.add(loop.start);
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
