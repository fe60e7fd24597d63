import { registersRead, writesOf } from "../../../../ir/flow/accesses.ts";
import type { Instruction } from "../../../../ir/index.ts";
import type { Expr } from "../../../../semantics/index.ts";
import { type Invariants, isComparison } from "./invariant-code.ts";
import type { UniformityAnalysis } from "./uniformity.ts";

/** Predicates that are computed wherever one is read, from values that all threads share and invariants. */
export interface SharedPredicates {
  /** The instructions that write them where they stand. */
  readonly instructions: ReadonlySet<number>;
  readonly values: ReadonlyMap<number, Expr>;
  /** The registers of which they are computed, invariants left out. */
  readonly operands: ReadonlySet<number>;
}

/**
 * Finds the predicates that compare an invariant with a value that all threads share, as in `tid < n` where `n` changes
 * from round to round, and that are kept from one barrier region to the next, or that only branches read: mostly all
 * lanes of a chunk go the same way, which the comparison of its first or its last one tells. `isShared`: registers with
 * one value in all threads. None of its operands may change as long as such a predicate is needed.
 */
export function sharedPredicatesOf(
  { code, register }: UniformityAnalysis,
  { registers, has }: Invariants,
  suspensions: Iterable<number>,
  isShared: (register: number) => boolean,
): SharedPredicates {
  const { instructions, liveness, writes, graph } = code;
  const kept = new Set<number>();
  for (const block of suspensions) {
    liveness.liveIn(block).forEach((r) => {
      kept.add(r);
    });
  }
  const isKnown = (r: number): boolean => registers.has(r) || isShared(r);
  const others = readOtherwise(instructions);
  const isCandidate = (i: number): boolean => {
    const { op, dst, guard, lanes } = instructions[i]!;
    const [to] = dst;
    if (guard !== null || lanes !== undefined || has(i) || typeof to !== "number" || !isComparison(op)) return false;
    const isOwn = writes[to] === 1 && !liveness.liveIn(0).has(to) && !liveness.acrossLanes.has(to);
    return (
      isOwn &&
      (kept.has(to) || !others.has(to)) &&
      register(to).kind === "vector" &&
      registersRead(instructions[i]!).every(isKnown)
    );
  };
  const found = new Map<number, number>();
  instructions.forEach((instruction, i) => {
    if (isCandidate(i)) found.set(instruction.dst[0] as number, i);
  });
  /** By operand, the predicates that are computed of it. */
  const readers = new Map<number, number[]>();
  for (const [to, i] of found) {
    for (const r of registersRead(instructions[i]!))
      if (!registers.has(r)) readers.set(r, [...(readers.get(r) ?? []), to]);
  }
  for (const { index } of found.size === 0 ? [] : graph.blocks) {
    liveness.walk(index, (i, liveAfter) => {
      writesOf(instructions[i]!, (r) => {
        for (const to of readers.get(r) ?? []) if (liveAfter.has(to)) found.delete(to);
      });
    });
  }
  const values = new Map<number, Expr>();
  const operands = new Set<number>();
  for (const [to, i] of found) {
    const { op } = instructions[i]!;
    if (op.kind === "pure") values.set(to, op.values[0]!);
    for (const r of registersRead(instructions[i]!)) if (!registers.has(r)) operands.add(r);
  }
  return { instructions: new Set(found.values()), values, operands };
}

/** The registers that are read, but not as guards of branches alone. */
function readOtherwise(instructions: readonly Instruction[]): ReadonlySet<number> {
  const found = new Set<number>();
  for (const instruction of instructions) {
    const { op, guard } = instruction;
    const isGuarded = op.kind === "branch" && guard !== null && guard.collapse === undefined;
    for (const r of registersRead(instruction)) if (!isGuarded || r !== guard.register) found.add(r);
  }
  return found;
}
