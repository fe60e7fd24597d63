import { registersIn } from "../../../../ir/module.ts";
import { writesOf } from "../../../../ir/flow/accesses.ts";
import { dominatorsOf } from "../../../../ir/flow/dominance.ts";
import { type FlowGraph, flowGraphOf } from "../../../../ir/flow/flow-graph.ts";
import { livenessOf, resultsOf } from "../../../../ir/flow/liveness.ts";
import { withWebs } from "../../../../ir/flow/webs.ts";
import { accessesOf, type Instruction, type IrFunction, type Op } from "../../../../ir/index.ts";
import { retargeted } from "../../../../ir/retarget.ts";
import { type Dim3, isSameDim3 } from "../../../../machine/reports/report.ts";
import { registersOf } from "../../../../semantics/index.ts";
import { inLoopOrder } from "../code/region-order.ts";
import { isBarrier, type SourceCode, withReplaced } from "../code/source-code.ts";
import { kind, kindOf, kindsOf } from "../values/lane-kinds.ts";
import { type Constants, type Round, Rounds } from "./round-constants.ts";

/** Longer code is left as it is, and none becomes longer: each copy of a barrier region takes as long to compile. */
const maxInstructions = 1200;

/**
 * Threads of a block that may be one chunk: there rounds of any kind are worth it, as words that lanes store in one and
 * load in the next are forwarded (`forwarded-words.ts`).
 */
const maxInOneChunk = 32;

const mayCount = (block: Dim3): boolean => block[0] * block[1] * block[2] <= maxInOneChunk;

/** Loops of more rounds are left as they are: trees over the threads of a block have ten levels. */
const maxRounds = 32;

/** What a loop with known rounds may do: its threads depend on no others but by memory, warps and barriers. */
const mayRepeat: ReadonlySet<Op["kind"]> = new Set<Op["kind"]>([
  ...(["pure", "load", "store", "atomic", "warp", "fence", "nothing"] as const),
  ...(["barrier", "branch", "return", "exit"] as const),
]);

/** A loop that is entered at its first block, and has no others between its own. */
interface Loop {
  /** Its first block, and the one after its last. */
  readonly first: number;
  readonly end: number;
}

/**
 * A kernel for blocks of one size, in which loops around barriers are written round by round, if it is known how often
 * they repeat, and if which threads take part, or where they access shared memory, depends on the round: trees, scans
 * and exchanges, whose strides are doubled or halved. In each round the stride is a constant then, and what a thread
 * accesses follows from its number alone. The kernel itself where there are none.
 */
export function withKnownRounds({ ir, origins }: SourceCode, block: Dim3): SourceCode {
  const before = known.get(ir);
  const isKnown = before !== undefined && isSameDim3(before.block, block);
  const found = isKnown ? before.found : inRounds(ir, block);
  if (!isKnown) known.set(ir, { block, found });
  if (found.origins === null || origins === null) return found.origins === null ? { ir, origins } : found;
  return { ir: found.ir, origins: found.origins.map((i) => origins[i]!) };
}

/** What was found last of a kernel: its width is asked for before it is compiled. */
const known = new WeakMap<IrFunction, { readonly block: Dim3; readonly found: SourceCode }>();

function inRounds(ir: IrFunction, block: Dim3): SourceCode {
  const source: SourceCode = { ir, origins: null };
  if (!mayHaveRounds(ir)) return source;
  const ordered = mayCount(block) ? inLoopOrder(source) : source;
  for (let code = ordered; ; ) {
    const next = withOneLoopWritten(code, block);
    if (next === null) return code === ordered ? source : withRoundsApart(withoutConstantBranches(code, block));
    code = next;
  }
}

/** Whether a kernel has a loop around a barrier, and is not too long to be written round by round. */
export function mayHaveRounds({ file, instructions }: IrFunction): boolean {
  if (file !== undefined || instructions.length > maxInstructions) return false;
  const barriers = instructions.flatMap((instruction, i) => (isBarrier(instruction) ? [i] : []));
  return instructions.some(({ op }, i) => op.kind === "branch" && barriers.some((b) => op.target <= b && b < i));
}

/** The code with the outermost loop written round by round for which that can be done; null if there is none. */
function withOneLoopWritten(code: SourceCode, block: Dim3): SourceCode | null {
  const { ir } = code;
  const graph = flowGraphOf(ir.instructions);
  const loops = loopsWithBarriers(ir, graph);
  if (loops.length === 0) return null;
  const constants = new Rounds(ir, graph, block);
  for (const loop of loops) {
    const length = graph.blocks[loop.end - 1]!.end - graph.blocks[loop.first]!.start;
    const room = Math.floor((maxInstructions - ir.instructions.length) / length) + 1;
    const rounds = constants.of(loop.first, loop.end, Math.min(maxRounds, room));
    if (rounds !== null && rounds.length > 1 && dependsOnRound(ir, graph, loop, rounds, mayCount(block))) {
      return written(code, graph, loop, rounds);
    }
  }
  return null;
}

/** The code with a register for what each round computes, so that it follows from the round's constants. */
function withRoundsApart({ ir, origins }: SourceCode): SourceCode {
  const graph = flowGraphOf(ir.instructions);
  const returned = resultsOf(ir);
  const liveness = livenessOf(ir, graph, returned);
  const fixed = registersIn(ir.params);
  const { instructions, registers } = withWebs(ir, graph, liveness, { fixed, returned, most: maxInstructions });
  return { ir: { ...ir, instructions, registers }, origins };
}

/** The code without branches that constants decide, whoever takes them, and without what these never lead to. */
function withoutConstantBranches(code: SourceCode, block: Dim3): SourceCode {
  const { ir } = code;
  const graph = flowGraphOf(ir.instructions);
  const { reached, decided } = new Rounds(ir, graph, block).inAll();
  return withReplaced(code, (instruction, i) => {
    const at = graph.blockAt(i);
    if (!reached.has(at)) return [];
    const passes = i === graph.blocks[at]!.end - 1 ? decided.get(at) : undefined;
    return passes === undefined ? [instruction] : passes ? [{ ...instruction, guard: null }] : [];
  });
}

/** The outermost loops come first. */
function loopsWithBarriers(ir: IrFunction, { blocks }: FlowGraph): readonly Loop[] {
  const above = dominatorsOf({ blocks, blockAt: () => 0 });
  const dominates = (a: number, b: number): boolean => {
    let at = b;
    while (at > a) at = above[at]!;
    return at === a;
  };
  const loops: Loop[] = [];
  for (const { index: first, predecessors } of blocks) {
    const ends = predecessors.filter((p) => p >= first);
    if (ends.length === 0) continue;
    const end = Math.max(...ends) + 1;
    const inside = blocks.slice(first, end);
    const own = new Set(ends);
    for (const b of own) if (b !== first) for (const p of blocks[b]!.predecessors) own.add(p);
    const isEntered = inside.some((b) => b.predecessors.some((p) => b.index !== first && (p < first || p >= end)));
    if (isEntered || own.size !== inside.length || ![...own].every((b) => dominates(first, b))) continue;
    const instructions = ir.instructions.slice(blocks[first]!.start, blocks[end - 1]!.end);
    const isPlain = instructions.every(({ op, lanes }) => lanes === undefined && mayRepeat.has(op.kind));
    if (isPlain && instructions.some(isBarrier)) loops.push({ first, end });
  }
  return loops.sort((a, b) => b.end - b.first - (a.end - a.first));
}

/** Whether the round decides, together with a thread's number, who takes part, or where shared memory is accessed. */
function dependsOnRound(
  ir: IrFunction,
  { blocks }: FlowGraph,
  { first, end }: Loop,
  rounds: readonly Round[],
  counts: boolean,
): boolean {
  const instructions = ir.instructions.slice(blocks[first]!.start, blocks[end - 1]!.end);
  const changing = counts
    ? countersIn(instructions)
    : new Set([...rounds[0]!.before.keys()].filter((r) => isDoubled(rounds.map((x) => x.before.get(r)))));
  if (changing.size === 0) return false;
  for (let size = -1; size < changing.size; ) {
    size = changing.size;
    for (const instruction of instructions) {
      const { op } = instruction;
      if (op.kind !== "pure" || !op.values.some((value) => registersOf(value).some((r) => changing.has(r)))) continue;
      writesOf(instruction, (r) => changing.add(r));
    }
  }
  const kinds = kindsOf(ir);
  return instructions.some(({ op, dst }) => {
    const isOfThreads = (value: Parameters<typeof kindOf>[0]): boolean =>
      kindOf(value, kinds) !== kind.uniform && registersOf(value).some((r) => changing.has(r));
    if (op.kind === "pure") {
      return op.values.some((value, i) => {
        const to = dst[i];
        return typeof to === "number" && ir.registers[to]!.class === "pred" && isOfThreads(value);
      });
    }
    return accessesOf(op).some(
      ({ access: { space }, place }) => space === "shared" && place.kind === "address" && isOfThreads(place.address),
    );
  });
}

/**
 * Whether the values of a register in the rounds of a loop go further, or less far, from one to the next: where they
 * count, as over tiles, addresses are as good in a loop.
 */
function isDoubled(values: readonly ReturnType<Constants["get"]>[]): boolean {
  const [a, b, c] = values.map((v) => (v?.kind === "const" && v.ty !== "pred" ? Number(v.value) : Number.NaN));
  return c === undefined ? a! > 0 && (b === 2 * a! || a === 2 * b!) : c - b! !== b! - a! && !Number.isNaN(a! + b! + c);
}

/** The registers that a loop counts up or down, whatever they begin with: what it computes of themselves alone. */
function countersIn(instructions: readonly Instruction[]): Set<number> {
  const found = new Set<number>();
  for (const { op, dst } of instructions) {
    if (op.kind !== "pure") continue;
    op.values.forEach((value, i) => {
      const [to, read] = [dst[i], registersOf(value)];
      const isOwn = value.kind === "prim" && read.length > 0 && read.every((r) => r === to);
      if (typeof to === "number" && isOwn) found.add(to);
    });
  }
  return found;
}

/** The code with a copy of a loop for each of its rounds. */
function written(
  { ir, origins }: SourceCode,
  { blocks, blockAt }: FlowGraph,
  { first, end }: Loop,
  rounds: readonly Round[],
): SourceCode {
  const [start, after] = [blocks[first]!.start, blocks[end - 1]!.end];
  const moved: { readonly instruction: Instruction; readonly round: number; readonly from: number }[] = [];
  const add = (from: number, round: number, instruction = ir.instructions[from]!): void => {
    moved.push({ instruction, round, from });
  };
  for (let i = 0; i < start; i++) add(i, -1);
  /** By round and block, its place. */
  const places: Int32Array[] = [];
  rounds.forEach(({ reached, decided }, round) => {
    const own = new Int32Array(end - first);
    places.push(own);
    for (let b = first; b < end; b++) {
      own[b - first] = moved.length;
      if (!reached.has(b)) continue;
      const last = blocks[b]!.end - 1;
      for (let i = blocks[b]!.start; i < last; i++) add(i, round);
      const passes = decided.get(b);
      if (passes === false) continue;
      const { guard, ...unguarded } = ir.instructions[last]!;
      const instruction = { ...unguarded, guard: passes === true ? null : guard };
      const { op } = instruction;
      const isNext = instruction.guard === null && op.kind === "branch" && op.target === start && b === end - 1;
      if (!isNext) add(last, round, instruction);
    }
  });
  const added = moved.length - after;
  for (let i = after; i < ir.instructions.length; i++) add(i, -1);
  const placeIn = (round: number, target: number): number => {
    if (target < start) return target;
    if (target >= after) return target + added;
    if (round < 0) return start;
    const block = blockAt(target);
    return places[block === first ? round + 1 : round]![block - first]!;
  };
  return {
    ir: {
      ...ir,
      instructions: moved.map(({ instruction, round }) => retargeted(instruction, (t) => placeIn(round, t))),
    },
    origins: moved.map(({ from }) => origins?.[from] ?? from),
  };
}
