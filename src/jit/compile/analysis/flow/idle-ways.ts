import { registersRead, registersWritten } from "../../../../ir/flow/accesses.ts";
import type { Instruction } from "../../../../ir/index.ts";
import { everyLeaf, type Expr } from "../../../../semantics/index.ts";
import type { Invariants } from "../values/invariant-code.ts";
import type { UniformityAnalysis } from "../values/uniformity.ts";

/** A way through a barrier region on which a chunk does nothing that counts after it. */
export interface IdleWay {
  /** The way of chunks in all of whose lanes this predicate has this value. */
  readonly predicate: number;
  readonly holds: boolean;
  /** What predicates are, by register, after `scalars`. */
  readonly predicates: ReadonlyMap<number, Expr>;
  /** The instructions on it that compute values which all threads share, all of them in the first block. */
  readonly scalars: readonly number[];
  /** The registers of which the predicate and `scalars` are computed. */
  readonly asked: readonly number[];
}

/** What is known where a region begins. */
interface Beginning {
  /** By block that ends with a barrier, the block after it. */
  readonly barriers: ReadonlyMap<number, number>;
  readonly invariants: Invariants;
  /** Predicates that are computed wherever one is read. */
  readonly rematerialized: ReadonlyMap<number, Expr>;
  /** Whether all threads share the value of a register. */
  readonly isShared: (register: number) => boolean;
}

/** Blocks of a way, and instructions of all threads on it, at most. */
const most = { blocks: 16, scalars: 16 };

/**
 * The idle ways through the region that begins with a block, as its first branch decides: at most two. Whatever else
 * chunks compute there only matters in the region itself, such as the initial value of what others go on to compute.
 */
export function idleWaysOf(analysis: UniformityAnalysis, start: number, beginning: Beginning): readonly IdleWay[] {
  const { graph, instructions } = analysis.code;
  const { op, guard } = instructions[graph.blocks[start]!.end - 1]!;
  if (op.kind !== "branch" || guard === null || guard.collapse !== undefined) return [];
  const first = firstBlockOf(analysis, start, guard.register, beginning);
  if (first === null) return [];
  // Branches mostly lead past what others do.
  return [!guard.negate, guard.negate].flatMap((holds) => {
    const isIdle = leadsOut(analysis, start, { predicate: guard.register, holds, written: first.written }, beginning);
    return isIdle ? [{ ...first, predicate: guard.register, holds }] : [];
  });
}

/** What the first block computes; null if it does anything else, or the predicate is not known before it. */
function firstBlockOf(
  { code }: UniformityAnalysis,
  start: number,
  predicate: number,
  { invariants, rematerialized, isShared }: Beginning,
) {
  const { graph, instructions } = code;
  const { end } = graph.blocks[start]!;
  const predicates = new Map(rematerialized);
  const written = new Set<number>();
  const scalars: number[] = [];
  const asked: number[] = [];
  const isKnown = (r: number): boolean => isShared(r) || (invariants.registers.has(r) && !written.has(r));
  for (let i = graph.blocks[start]!.start; i < end - 1; i++) {
    const instruction = instructions[i]!;
    const { op } = instruction;
    if (invariants.has(i) || doesNothing(instruction)) continue;
    if (!computes(instruction)) return null;
    const writes = registersWritten(instruction);
    if (writes.some(isShared)) {
      if (!writes.every(isShared) || !registersRead(instruction).every(isKnown) || scalars.length === most.scalars)
        return null;
      scalars.push(i);
      asked.push(...registersRead(instruction));
    } else for (const r of writes) written.add(r);
    for (const [r, value] of predicates) if (!rematerialized.has(r) && reads(value, writes)) predicates.delete(r);
    for (const r of writes) predicates.delete(r);
    const [to] = writes;
    const isPredicate = op.kind === "pure" && writes.length === 1 && code.ir.registers[to!]!.class === "pred";
    if (isPredicate && !reads(op.values[0]!, writes)) predicates.set(to!, op.values[0]!);
  }
  const todo = new Set([predicate]);
  for (const r of todo) {
    const value = predicates.get(r);
    if (value === undefined) {
      if (!isKnown(r)) return null;
      asked.push(r);
      continue;
    }
    everyLeaf(value, (leaf) => {
      if (leaf.kind === "reg") todo.add(leaf.reg);
      return true;
    });
  }
  return { predicates, scalars, asked, written };
}

/** Whether a way ends at a barrier, or at the exit, and what has been written on it is not needed there. */
function leadsOut(
  { code, isDeparture }: UniformityAnalysis,
  start: number,
  { predicate, holds, written: before }: { predicate: number; holds: boolean; written: ReadonlySet<number> },
  { barriers, invariants, isShared }: Beginning,
): boolean {
  const { graph, instructions, liveness } = code;
  const written = new Set(before);
  let block = start;
  for (let count = 0; count < most.blocks; count++) {
    if (block >= graph.blocks.length || isDeparture[block] === true) return count > 0;
    const { start: from, end } = graph.blocks[block]!;
    const { op, guard, lanes } = instructions[end - 1]!;
    const after = barriers.get(block);
    const isComputed = after === undefined && op.kind !== "branch";
    for (let i = block === start ? end - 1 : from; i < (isComputed ? end : end - 1); i++) {
      if (invariants.has(i) || doesNothing(instructions[i]!)) continue;
      const writes = registersWritten(instructions[i]!);
      if (!computes(instructions[i]!) || writes.some((r) => isShared(r) || r === predicate)) return false;
      for (const r of writes) written.add(r);
    }
    if (after !== undefined) {
      const live = liveness.liveIn(after);
      const isOwn = (r: number): boolean => !liveness.acrossLanes.has(r) && code.ir.registers[r]!.home === undefined;
      return count > 0 && [...written].every((r) => !live.has(r) && isOwn(r));
    }
    if (op.kind !== "branch") {
      block++;
      continue;
    }
    if (lanes !== undefined || guard?.collapse !== undefined) return false;
    if (guard !== null && guard.register !== predicate) return false;
    block = guard === null || guard.negate !== holds ? graph.blockAt(op.target) : block + 1;
  }
  return false;
}

/** Whether a chunk that accesses no memory does nothing at an instruction: a fence orders its accesses alone. */
const doesNothing = ({ op }: Instruction): boolean => op.kind === "nothing" || op.kind === "fence";

/** Whether an instruction does nothing but compute registers, in all lanes. */
const computes = ({ op, guard, lanes, dst }: Instruction): boolean =>
  op.kind === "pure" &&
  guard === null &&
  lanes === undefined &&
  dst.every((to) => to === null || typeof to === "number");

/** Whether an expression reads one of some registers. */
const reads = (expr: Expr, registers: readonly number[]): boolean =>
  !everyLeaf(expr, (leaf) => leaf.kind !== "reg" || !registers.includes(leaf.reg));
