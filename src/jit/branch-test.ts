import { readsOf, writesOf } from "../ir/flow/accesses.ts";
import type { Instruction } from "../ir/index.ts";
import type { Expr } from "../semantics/index.ts";
import { type Wasm, wasm } from "../wasm/index.ts";
import type { Chunk } from "./chunk.ts";
import { both, times } from "./scalar.ts";

/**
 * What decides about the branch at the end of a block: instructions that nobody else needs but the copies that belong to the
 * branch. They need not be executed in each lane as long as it is clear that all lanes go the same way.
 */
export interface BranchTest {
  /** In their order. */
  readonly instructions: readonly number[];
  /** By the predicate that one of them writes, what it is. */
  readonly predicates: ReadonlyMap<number, Expr>;
}

/** Instructions of a test, at most. */
const mostInstructions = 64;

/** The test of a block's branch; null where there is none. `copies`: where these begin; `isFixed`: what is executed elsewhere. */
export function testOf(
  { analysis }: Chunk,
  block: number,
  copies: number,
  isFixed: (instruction: number) => boolean,
): BranchTest | null {
  const { graph, instructions, liveness } = analysis.code;
  const { start, end, successors } = graph.blocks[block]!;
  const { guard, lanes } = instructions[end - 1]!;
  if (guard === null || guard.collapse !== undefined || lanes !== undefined) return null;
  const readers = readersOf(instructions, start, copies);
  const found: number[] = [];
  const predicates = new Map<number, Expr>();
  /** Whether nothing but the test reads a register. */
  const isOurs = (r: number): boolean =>
    (readers.get(r) ?? []).every((i) => found.includes(i)) &&
    !successors.some((s) => s < graph.blocks.length && liveness.liveIn(s).has(r));
  const wanted = new Set([guard.register]);
  const changed = new Set<number>();
  for (let i = copies - 1; i >= start; i--) {
    const instruction = instructions[i]!;
    const [to, ...others] = writes(instruction);
    const isWanted = to !== undefined && others.length === 0 && wanted.delete(to) && found.length < mostInstructions;
    if (
      isWanted &&
      isPlain(instruction) &&
      !isFixed(i) &&
      isOurs(to) &&
      !reads(instruction).some((r) => changed.has(r))
    ) {
      found.unshift(i);
      predicates.set(to, (instruction.op as PureOp).values[0]!);
      for (const r of reads(instruction)) if (analysis.code.ir.registers[r]!.class === "pred") wanted.add(r);
    } else for (const r of writes(instruction)) changed.add(r);
  }
  return predicates.has(guard.register) ? { instructions: found, predicates } : null;
}

type PureOp = Extract<Instruction["op"], { kind: "pure" }>;

const isPlain = ({ op, guard, lanes, dst }: Instruction): boolean =>
  op.kind === "pure" && guard === null && lanes === undefined && dst.length === 1;

function writes(instruction: Instruction): number[] {
  const found: number[] = [];
  writesOf(instruction, (r) => found.push(r));
  return found;
}

function reads(instruction: Instruction): number[] {
  const found: number[] = [];
  readsOf(instruction, { register: (r) => found.push(r) });
  return found;
}

/** By register, the instructions of a range that read it. */
function readersOf(instructions: readonly Instruction[], start: number, end: number): ReadonlyMap<number, number[]> {
  const found = new Map<number, number[]>();
  for (let i = start; i < end; i++) {
    for (const r of reads(instructions[i]!)) {
      const list = found.get(r);
      if (list === undefined) found.set(r, [i]);
      else list.push(i);
    }
  }
  return found;
}

/**
 * An `i32` that is 1 only if a predicate is `holds` in all lanes of the chunk, without a look at each of them; or null. `last`:
 * the number (i64) of the last lane, where what grows in the chunk does so beyond it.
 */
export function everywhere(
  chunk: Chunk,
  predicates: ReadonlyMap<number, Expr>,
  expr: Expr,
  holds: boolean,
  last: Wasm = wasm.i64(BigInt(chunk.lanes - 1)),
): Wasm | null {
  if (expr.kind === "const") return wasm.i32(expr.value === holds ? 1 : 0);
  if (expr.kind === "reg") {
    const known = predicates.get(expr.reg);
    if (known !== undefined) return everywhere(chunk, predicates, known, holds, last);
    const value = chunk.value(expr);
    if (value.kind !== "uniform" || value.ty !== "pred") return null;
    return holds ? value.scalar : wasm.op("i32.eqz", value.scalar);
  }
  if (expr.kind !== "prim") return null;
  if (expr.prim === "pred.not") return everywhere(chunk, predicates, expr.args[0]!, !holds, last);
  if (expr.prim === "pred.and" || expr.prim === "pred.or") {
    const [a, b] = expr.args.map((arg) => everywhere(chunk, predicates, arg, holds, last)) as [
      Wasm | null,
      Wasm | null,
    ];
    if ((expr.prim === "pred.and") === holds) return a === null || b === null ? null : both(a, b);
    return a === null || b === null ? (a ?? b) : wasm.op("i32.or", a, b);
  }
  const found = /^i32\.(lt|le)_([su])$/.exec(expr.prim);
  if (found === null) return null;
  const [, relation, sign] = found as unknown as [string, "lt" | "le", "s" | "u"];
  // What is not less is greater or equal.
  const [a, b] = holds ? expr.args : [expr.args[1]!, expr.args[0]!];
  const isStrict = (relation === "lt") === holds;
  return ordered(chunk, a!, b!, isStrict, sign, last);
}

/** 1 only if the first is less than the second (or equal to it) everywhere; one of them changes from lane to lane by a number. */
function ordered(chunk: Chunk, a: Expr, b: Expr, isStrict: boolean, sign: "s" | "u", lane: Wasm): Wasm | null {
  const [left, right] = [chunk.value(a), chunk.value(b)];
  const extended = (word: Wasm): Wasm => wasm.op(`i64.extend_i32_${sign}`, word);
  const less = (x: Wasm, y: Wasm): Wasm => wasm.op(isStrict ? "i64.lt_s" : "i64.le_s", x, y);
  const [least, most] = sign === "s" ? [-(2n ** 31n), 2n ** 31n - 1n] : [0n, 2n ** 32n - 1n];
  const ends = (base: Wasm, stride: number): readonly [Wasm, Wasm] => {
    const first = extended(base);
    return [first, wasm.op("i64.add", first, stride === 0 ? wasm.i64(0n) : times(lane, stride))];
  };
  // Beyond the other end the numbers would begin again.
  if (left.kind === "uniform" && right.kind === "uniform") {
    return wasm.op(`i32.${isStrict ? "lt" : "le"}_${sign}`, left.scalar, right.scalar);
  }
  if (left.kind === "affine" && right.kind === "uniform") {
    const [first, last] = ends(left.base, left.stride);
    const limit = extended(right.scalar);
    if (left.stride > 0) return less(last, limit);
    return both(less(first, limit), wasm.op("i64.ge_s", last, wasm.i64(least)));
  }
  if (left.kind === "uniform" && right.kind === "affine") {
    const [first, last] = ends(right.base, right.stride);
    const limit = extended(left.scalar);
    if (right.stride < 0) return less(limit, last);
    return both(less(limit, first), wasm.op("i64.le_s", last, wasm.i64(most)));
  }
  return null;
}
