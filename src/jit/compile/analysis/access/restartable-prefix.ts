import { readsOf, writesOf } from "../../../../ir/flow/accesses.ts";
import { accessesOf, type Instruction, isLanewise, type Op } from "../../../../ir/index.ts";
import type { Expr } from "../../../../semantics/index.ts";
import { isLinear } from "../../../../ir/uniformity/shape.ts";
import type { UniformityAnalysis } from "../values/uniformity.ts";

/**
 * The part of a block that may be hoisted to its start. It has no side effects, and overwrites nothing that the block
 * reads at its beginning: if a check fails, the general version can restart the block.
 */
export interface RestartablePrefix {
  /** Instructions whose results are a few scalars for all lanes. */
  readonly computed: readonly number[];
  /** Unguarded accesses, which may be checked beforehand. */
  readonly accesses: readonly number[];
  /** Whether the base of the address of an access is known once those instructions have been executed. */
  readonly isReady: (base: Expr, instruction: number) => boolean;
}

/**
 * `end`: the instruction after the last one that counts. `isSkipped`: whether one is executed elsewhere, or not at all.
 */
export function restartablePrefixOf(
  { code, register }: Pick<UniformityAnalysis, "code" | "register">,
  block: number,
  end: number,
  isSkipped: (instruction: number) => boolean,
): RestartablePrefix {
  const { graph, instructions, liveness } = code;
  const before = liveness.liveIn(block);
  /** By register, the first instruction that changes it and is not hoisted. */
  const changed = new Map<number, number>();
  const touched = new Set<number>();
  const isFree = (r: number): boolean => !before.has(r) && !touched.has(r);
  const isScalar = (r: number): boolean => isLinear(register(r));
  const computed: number[] = [];
  const accesses: number[] = [];
  for (let i = graph.blocks[block]!.start; i < end; i++) {
    if (isSkipped(i)) continue;
    const instruction = instructions[i]!;
    const { op, guard, lanes } = instruction;
    const written = registersOf(instruction, writesOf);
    const read = registersOf(instruction, (of, show) => readsOf(of, { register: show }));
    const isUnconditional = guard === null && lanes === undefined;
    if (
      isUnconditional &&
      op.kind === "pure" &&
      written.every((r) => isScalar(r) && isFree(r)) &&
      !read.some((r) => changed.has(r))
    ) {
      computed.push(i);
    } else {
      for (const r of written) if (!changed.has(r)) changed.set(r, i);
      if (isUnconditional && isLanewise(op) && accessesAddresses(op)) accesses.push(i);
      for (const r of read) touched.add(r);
    }
    for (const r of written) touched.add(r);
  }
  const isReady = (base: Expr, instruction: number): boolean => {
    if (base.kind === "prim") return base.args.every((arg) => isReady(arg, instruction));
    return base.kind === "const" || (base.kind === "reg" && (changed.get(base.reg) ?? instruction) >= instruction);
  };
  return { computed, accesses, isReady };
}

/** Whether an operation accesses memory, and only at addresses. */
function accessesAddresses(op: Op): boolean {
  const made = accessesOf(op);
  return made.length > 0 && made.every(({ place }) => place.kind === "address");
}

function registersOf(
  instruction: Instruction,
  show: (instruction: Instruction, visit: (register: number) => void) => void,
): readonly number[] {
  const found: number[] = [];
  show(instruction, (r) => found.push(r));
  return found;
}
