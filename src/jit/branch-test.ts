import { readsOf, writesOf } from "../ir/flow/accesses.ts";
import type { Instruction } from "../ir/index.ts";
import type { Expr } from "../semantics/index.ts";
import { type Wasm, wasm } from "../wasm/index.ts";
import type { Chunk } from "./chunk.ts";

/**
 * The comparison of integers that decides about the branch at the end of a block, where nothing else reads what it gives but the
 * copies that belong to the branch: then it need not be made in each lane as long as all lanes go the same way. Null where
 * there is none. `copies`: where these begin.
 */
export function comparisonOf({ analysis }: Chunk, block: number, copies: number): number | null {
  const { graph, instructions, liveness } = analysis.code;
  const { start, end, successors } = graph.blocks[block]!;
  const { guard, lanes } = instructions[end - 1]!;
  if (guard === null || guard.collapse !== undefined || lanes !== undefined) return null;
  const { register } = guard;
  if (successors.some((s) => s < graph.blocks.length && liveness.liveIn(s).has(register))) return null;
  const changed = new Set<number>();
  for (let i = end - 2; i >= start; i--) {
    const instruction = instructions[i]!;
    if (writes(instruction).includes(register)) {
      return isPlain(instruction) && !reads(instruction).some((r) => changed.has(r)) ? i : null;
    }
    if (i < copies && reads(instruction).includes(register)) return null;
    for (const r of writes(instruction)) changed.add(r);
  }
  return null;
}

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

/** An `i32` that is 1 only if a predicate holds (or not) in all lanes of the chunk, without a look at each of them; or null. */
export function everywhere(chunk: Chunk, expr: Expr, holds: boolean): Wasm | null {
  if (expr.kind !== "prim") return null;
  if (expr.prim === "pred.not") return everywhere(chunk, expr.args[0]!, !holds);
  const found = /^i32\.(lt|le)_([su])$/.exec(expr.prim);
  if (found === null) return null;
  const [, relation, sign] = found as unknown as [string, "lt" | "le", "s" | "u"];
  // What is not less is greater or equal.
  const [a, b] = holds ? expr.args : [expr.args[1]!, expr.args[0]!];
  const isStrict = (relation === "lt") === holds;
  return ordered(chunk, a!, b!, isStrict, sign);
}

/** 1 only if the first is less than the second (or equal to it) everywhere; one of them changes from lane to lane by a number. */
function ordered(chunk: Chunk, a: Expr, b: Expr, isStrict: boolean, sign: "s" | "u"): Wasm | null {
  const [left, right] = [chunk.value(a), chunk.value(b)];
  const extended = (word: Wasm): Wasm => wasm.op(`i64.extend_i32_${sign}`, word);
  const less = (x: Wasm, y: Wasm): Wasm => wasm.op(isStrict ? "i64.lt_s" : "i64.le_s", x, y);
  const [least, most] = sign === "s" ? [-(2n ** 31n), 2n ** 31n - 1n] : [0n, 2n ** 32n - 1n];
  const both = (x: Wasm, y: Wasm): Wasm => wasm.op("i32.and", x, y);
  const ends = (base: Wasm, stride: number): readonly [Wasm, Wasm] => {
    const first = extended(base);
    return [first, wasm.op("i64.add", first, wasm.i64(BigInt(stride) * BigInt(chunk.lanes - 1)))];
  };
  // Beyond the other end the numbers would begin again.
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
