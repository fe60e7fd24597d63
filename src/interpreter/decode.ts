import { isCall } from "../ir/calls.ts";
import { blockStartsOf, flowGraphOf } from "../ir/flow/index.ts";
import { seesOthersItself, spinLoops } from "../ir/flow/spin-loops.ts";
import {
  type Instruction,
  leadsBack,
  type MovingOp,
  movesGroup,
  movingOp,
  stayingOp,
  touchesSharedMemory,
} from "../ir/index.ts";
import type { Site } from "../machine/state/code.ts";
import type { BasicBlock, Step, Terminator } from "../machine/state/launch-state.ts";
import type { Decoding, Flow } from "./compile/decoding.ts";
import { guardWord } from "./compile/guards.ts";
import type { DecodedFunction } from "./compile/decoded-function.ts";
import { Operands } from "./compile/operand.ts";
import type { ProgramContext } from "./compile/program-context.ts";
import { makeBarrier } from "./ops/barriers.ts";
import { makeCall } from "./ops/calls.ts";
import { makeClusterWait } from "./ops/cluster-barrier.ts";
import { implicitReturn, makeBranch, makeExit, makeIndexedBranch, makeReturn, makeSleep } from "./ops/control.ts";
import { makeFileCall, makeSubroutineCall } from "./ops/file-call.ts";
import { makeStep } from "./ops/steps.ts";
import { makeThreadBarrier } from "./ops/thread-barrier.ts";
import { makeWarpSync } from "./ops/warp-sync.ts";

class Block implements BasicBlock {
  readonly index: number;
  readonly size: number;
  readonly visible: boolean;
  steps: readonly Step[] = [];
  terminator: Terminator | null = null;
  next: BasicBlock | null = null;
  last: Site | null = null;

  constructor(index: number, size: number, visible: boolean) {
    this.index = index;
    this.size = size;
    this.visible = visible;
  }
}

/** Divides the instructions of a function into basic blocks, makes their code, and returns the first. */
export function decode(code: DecodedFunction, program: ProgramContext): BasicBlock {
  const { instructions } = code.ir;
  const visible = instructions.map((instruction) => isVisible(instruction, program));
  const starts = [
    ...blockStartsOf(
      instructions,
      ({ op }) => movesGroup(op),
      (_, i) => program.fine && visible[i]!,
    ),
    // The end of the list: an implicit return.
    instructions.length,
  ];
  const blocks = starts.map((start, i) => new Block(i, (starts[i + 1] ?? start) - start, visible[start] ?? false));
  const byStart = new Map(starts.map((start, i) => [start, blocks[i]!]));
  const blockAt = (instruction: number): BasicBlock => byStart.get(instruction)!;
  const mayAwaitAt = spinLoopStarts(instructions);
  const sites: Site[] = instructions.map((instruction, index) => ({ code, index, instruction }));
  blocks.forEach((block, i) => {
    const start = starts[i]!;
    const next = blocks[i + 1];
    if (next === undefined) {
      block.terminator = implicitReturn(code, instructions.length);
      return;
    }
    block.next = next;
    block.last = sites[start + block.size - 1]!;
    const steps: Step[] = [];
    for (const site of sites.slice(start, start + block.size)) {
      code.file.freeTemporaries();
      const { instruction } = site;
      const operands = new Operands(code.context, program.bindings, program.compiler, instruction.lanes ?? null);
      const guard = guardWord(code, instruction);
      const decoding = { program, code, site, guard, operands, ...operands.results(instruction) };
      const [moving, staying] = [movingOp(instruction.op), stayingOp(instruction.op)];
      if (moving !== null) block.terminator = makeTerminator(decoding, moving, { next, index: i, blockAt, mayAwaitAt });
      if (staying !== null) steps.push(makeStep(decoding, staying));
    }
    block.steps = steps;
  });
  return blocks[0]!;
}

/** Tells where loops begin that may wait for others. Of functions only what they do when they run is known. */
function spinLoopStarts(instructions: readonly Instruction[]): (instruction: number) => boolean {
  const sees = (instruction: Instruction): boolean => isCall(instruction.op) || seesOthersItself(instruction);
  if (!instructions.some((instruction, i) => leadsBack(instruction, i)) || !instructions.some(sees)) return () => false;
  const graph = flowGraphOf(instructions);
  const { all } = spinLoops(graph, instructions, sees);
  return (instruction) => all.has(graph.blockAt(instruction));
}

function makeTerminator(d: Decoding, op: MovingOp, flow: Flow): Terminator {
  if (d.finish !== null) throw new Error(`a result of ${op.kind} cannot lie in the byte file`);
  switch (op.kind) {
    case "branch":
      return makeBranch(d, flow, op);
    case "branch-indexed":
      return makeIndexedBranch(d, flow, op);
    case "call":
      return makeCall(d, flow, op);
    case "file-call":
      return makeFileCall(d, flow, op);
    case "subroutine-call":
      return makeSubroutineCall(d, flow, op);
    case "return":
      return makeReturn(d, flow, op);
    case "exit":
      return makeExit(d, flow);
    case "barrier":
      return (d.code.ir.file === undefined ? makeBarrier : makeThreadBarrier)(d, flow, op);
    case "cluster-barrier":
      return makeClusterWait(d, flow, op);
    case "sleep":
      return makeSleep(d, flow);
    case "warp":
      return makeWarpSync(d, flow, op);
  }
}

/** Whether the instruction has effects that other warps and blocks can see, or sees theirs. */
const isVisible = ({ op }: Instruction, program: ProgramContext): boolean =>
  touchesSharedMemory(op) ||
  op.kind === "unit" ||
  // A function of the machine may print or allocate memory.
  (op.kind === "call" &&
    op.target.kind === "direct" &&
    program.functionNamed(op.target.function)?.ir.external === true);
