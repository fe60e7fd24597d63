import type { Instruction, Op } from "../instruction.ts";

/** Instructions that are executed one after the other. The last one alone may send lanes elsewhere. */
export interface FlowBlock {
  readonly index: number;
  /** Instructions `[start, end)`, the terminator included. */
  readonly start: number;
  readonly end: number;
  /** Numbers of blocks, each once; the number of blocks stands for the end of the function (return, exit, trap). */
  readonly successors: readonly number[];
  readonly predecessors: readonly number[];
}

/** The blocks in layout order; the first is the entry. */
export interface FlowGraph {
  readonly blocks: readonly FlowBlock[];
  /** The block that an instruction is part of; the number of blocks for the end of the list. */
  blockAt(instruction: number): number;
}

export interface FlowOptions {
  /** Further instructions behind which a new block begins. */
  readonly endsBlock?: (instruction: Instruction) => boolean;
  /** Instructions with which a new block begins. */
  readonly beginsBlock?: (instruction: Instruction) => boolean;
}

export function flowGraphOf(instructions: readonly Instruction[], options: FlowOptions = {}): FlowGraph {
  const starts = blockStarts(instructions, options);
  const count = starts.length;
  const blockOf = new Int32Array(instructions.length + 1).fill(count, instructions.length);
  for (let i = 0; i < count; i++) blockOf.fill(i, starts[i], starts[i + 1] ?? instructions.length);
  const returnPoints: number[] = [];
  for (let i = 0; i < instructions.length; i++) if (isWithin(instructions[i]!.op)) returnPoints.push(blockOf[i + 1]!);
  const predecessors: number[][] = starts.map(() => []);
  const blocks = starts.map((start, index): FlowBlock => {
    const end = starts[index + 1] ?? instructions.length;
    const to = targetsOf(instructions[end - 1]!, end, instructions.length);
    const { op } = instructions[end - 1]!;
    const all = op.kind === "return" ? [...to.map((t) => blockOf[t]!), ...returnPoints] : to.map((t) => blockOf[t]!);
    // Nearly all have one or two.
    const successors = all.length === 1 || (all.length === 2 && all[0] !== all[1]) ? all : [...new Set(all)];
    for (const s of successors) predecessors[s]?.push(index);
    return { index, start, end, successors, predecessors: predecessors[index]! };
  });
  return { blocks, blockAt: (instruction) => blockOf[instruction]! };
}

/** Whether lanes may leave the order of the instructions here, or may have to wait. Calls come back. */
function endsBlock({ op }: Instruction): boolean {
  switch (op.kind) {
    case "branch":
    case "branch-indexed":
    case "subroutine-call":
    case "return":
    case "exit":
    case "trap":
    case "barrier":
    case "sleep":
      return true;
    case "warp":
      return op.mask !== null;
    default:
      return false;
  }
}

function blockStarts(instructions: readonly Instruction[], options: FlowOptions): number[] {
  const isStart = new Uint8Array(instructions.length + 1);
  isStart[0] = 1;
  instructions.forEach((instruction, i) => {
    if (endsBlock(instruction) || options.endsBlock?.(instruction)) isStart[i + 1] = 1;
    if (options.beginsBlock?.(instruction)) isStart[i] = 1;
    const { op } = instruction;
    if (op.kind === "branch" || isWithin(op)) isStart[op.target] = 1;
    if (op.kind === "branch-indexed") for (const target of op.targets) isStart[target] = 1;
  });
  const starts: number[] = [];
  for (let i = 0; i < instructions.length; i++) if (isStart[i] === 1) starts.push(i);
  return starts;
}

type SubroutineCall = Extract<Op, { kind: "subroutine-call" }>;

/** Whether an operation calls a subroutine whose code is in the same list. */
const isWithin = (op: Op): op is SubroutineCall => op.kind === "subroutine-call" && op.registers === undefined;

/** Where lanes may go on after an instruction that stands before `next`. */
export function targetsOf({ op, guard, lanes }: Instruction, next: number, end: number): readonly number[] {
  const isForAll = guard === null && (lanes === undefined || lanes.uniform);
  const through = isForAll ? [] : [next];
  switch (op.kind) {
    case "branch":
      return isForAll ? [op.target] : [next, op.target];
    case "branch-indexed":
      return [...through, ...op.targets];
    case "subroutine-call":
      return isWithin(op) ? [next, op.target] : [next];
    case "return":
    case "exit":
    case "trap":
      return [...through, end];
    default:
      return [next];
  }
}
