import type { Instruction } from "../instruction.ts";
import { controlOf, endsBlock, targetsIn } from "../op-traits.ts";

/** Instructions that are executed one after the other. Only the last one may send lanes elsewhere. */
export interface FlowBlock {
  readonly index: number;
  /** Instructions `[start, end)`, the terminator included. */
  readonly start: number;
  readonly end: number;
  /** Block numbers, each once; the number of blocks stands for the end of the function (return, exit, trap). */
  readonly successors: readonly number[];
  readonly predecessors: readonly number[];
}

/** The blocks in layout order; the first is the entry. */
export interface FlowGraph {
  readonly blocks: readonly FlowBlock[];
  /** The block that contains an instruction; the number of blocks for the end of the list. */
  blockAt(instruction: number): number;
}

export interface FlowOptions {
  /** Further instructions after which a new block begins. */
  readonly endsBlock?: (instruction: Instruction) => boolean;
  /** Further instructions with which a new block begins. */
  readonly beginsBlock?: (instruction: Instruction) => boolean;
}

export function flowGraphOf(instructions: readonly Instruction[], options: FlowOptions = {}): FlowGraph {
  const starts = blockStartsOf(
    instructions,
    (i) => endsBlock(i.op) || options.endsBlock?.(i) === true,
    (i) => options.beginsBlock?.(i) === true,
  );
  const count = starts.length;
  const blockOf = new Int32Array(instructions.length + 1).fill(count, instructions.length);
  for (let i = 0; i < count; i++) blockOf.fill(i, starts[i], starts[i + 1] ?? instructions.length);
  const returnPoints: number[] = [];
  for (let i = 0; i < instructions.length; i++) if (callsWithin(instructions[i]!)) returnPoints.push(blockOf[i + 1]!);
  const predecessors: number[][] = starts.map(() => []);
  const blocks = starts.map((start, index): FlowBlock => {
    const end = starts[index + 1] ?? instructions.length;
    const to = targetsOf(instructions[end - 1]!, end, instructions.length);
    const { op } = instructions[end - 1]!;
    const all = op.kind === "return" ? [...to.map((t) => blockOf[t]!), ...returnPoints] : to.map((t) => blockOf[t]!);
    // Most have one or two.
    const successors = all.length === 1 || (all.length === 2 && all[0] !== all[1]) ? all : [...new Set(all)];
    for (const s of successors) predecessors[s]?.push(index);
    return { index, start, end, successors, predecessors: predecessors[index]! };
  });
  return { blocks, blockAt: (instruction) => blockOf[instruction]! };
}

/**
 * The first instruction of each block, in ascending order: the first of all, the targets of branches and subroutine
 * calls, each one after an instruction that `ends` a block, and each one that `begins` one.
 */
export function blockStartsOf(
  instructions: readonly Instruction[],
  ends: (instruction: Instruction, index: number) => boolean,
  begins: (instruction: Instruction, index: number) => boolean,
): number[] {
  const isStart = new Uint8Array(instructions.length + 1);
  isStart[0] = 1;
  for (let i = 0; i < instructions.length; i++) {
    const instruction = instructions[i]!;
    if (ends(instruction, i)) isStart[i + 1] = 1;
    if (begins(instruction, i)) isStart[i] = 1;
    for (const target of targetsIn(instruction.op)) isStart[target] = 1;
  }
  const starts: number[] = [];
  for (let i = 0; i < instructions.length; i++) if (isStart[i] === 1) starts.push(i);
  return starts;
}

/** Whether an instruction calls a subroutine whose code is in the same list. */
const callsWithin = ({ op }: Instruction): boolean => controlOf(op) === "subroutine" && targetsIn(op).length > 0;

/**
 * The instructions at which lanes may go on after one that stands before `next`; `end` stands for the end of the
 * function. A call comes back to `next`.
 */
export function targetsOf({ op, guard, lanes }: Instruction, next: number, end: number): readonly number[] {
  const isForAll = guard === null && (lanes === undefined || lanes.uniform);
  switch (controlOf(op)) {
    case "next":
    case "call":
    case "split":
      return [next];
    case "branch":
      return isForAll ? targetsIn(op) : [next, ...targetsIn(op)];
    case "subroutine":
      return [next, ...targetsIn(op)];
    case "leave":
    case "stop":
      return isForAll ? [end] : [next, end];
  }
}

/** The blocks to which ways lead from one, and that one; also the end of the code, if a way leads there. */
export function reachableBlocks(blocks: Readonly<Record<number, FlowBlock>>, start: number): ReadonlySet<number> {
  const reachable = new Set([start]);
  for (const block of reachable) for (const s of blocks[block]?.successors ?? []) reachable.add(s);
  return reachable;
}
