import { registersRead, registersWritten } from "../../../../ir/flow/accesses.ts";
import type { Instruction } from "../../../../ir/index.ts";
import type { Expr } from "../../../../semantics/index.ts";
import { isDead } from "../code/dead-code.ts";
import type { UniformityAnalysis } from "../values/uniformity.ts";

/**
 * The condition of the branch at the end of a block: instructions whose results nothing else reads but the copies that
 * belong to the branch. They need not be executed in each lane as long as it is known that all lanes go the same way.
 */
export interface BranchCondition {
  /** In their order. */
  readonly instructions: readonly number[];
  /** By predicate that one of them writes, its value. */
  readonly predicates: ReadonlyMap<number, Expr>;
}

/** The most instructions of a condition. */
const maxInstructions = 64;

/**
 * The condition of a block's branch; null where there is none. `rematerialized`: predicates that are computed wherever
 * one is read; `copies`: the first of the copies that belong to the branch; `isFixed`: whether an instruction is
 * executed elsewhere.
 */
export function branchConditionOf(
  { code }: Pick<UniformityAnalysis, "code">,
  rematerialized: ReadonlyMap<number, Expr>,
  block: number,
  copies: number,
  isFixed: (instruction: number) => boolean,
): BranchCondition | null {
  const { graph, instructions, liveness } = code;
  const { start, end, successors } = graph.blocks[block]!;
  const { guard, lanes } = instructions[end - 1]!;
  if (guard === null || guard.collapse !== undefined || lanes !== undefined) return null;
  if (rematerialized.has(guard.register)) return { instructions: [], predicates: rematerialized };
  let readers: ReadonlyMap<number, number[]> | undefined;
  const found: number[] = [];
  const predicates = new Map<number, Expr>();
  /** Whether nothing but the condition reads a register. */
  const isOurs = (r: number): boolean =>
    !successors.some((s) => s < graph.blocks.length && liveness.liveIn(s).has(r)) &&
    ((readers ??= readersOf(code, block, copies)).get(r) ?? []).every((i) => found.includes(i));
  const wanted = new Set([guard.register]);
  const changed = new Set<number>();
  for (let i = copies - 1; i >= start; i--) {
    const instruction = instructions[i]!;
    const [to, ...others] = registersWritten(instruction);
    const isWanted = to !== undefined && others.length === 0 && wanted.delete(to) && found.length < maxInstructions;
    if (
      isWanted &&
      computesOne(instruction) &&
      !isFixed(i) &&
      isOurs(to) &&
      !registersRead(instruction).some((r) => changed.has(r))
    ) {
      found.unshift(i);
      predicates.set(to, (instruction.op as PureOp).values[0]!);
      for (const r of registersRead(instruction)) if (code.ir.registers[r]!.class === "pred") wanted.add(r);
    } else for (const r of registersWritten(instruction)) changed.add(r);
  }
  return predicates.has(guard.register) ? { instructions: found, predicates } : null;
}

type PureOp = Extract<Instruction["op"], { kind: "pure" }>;

/** Whether an instruction computes one register, in all lanes. */
const computesOne = ({ op, guard, lanes, dst }: Instruction): boolean =>
  op.kind === "pure" && guard === null && lanes === undefined && dst.length === 1;

/** By register, the instructions of a block before its copies that read it and are executed at all. */
function readersOf(
  { instructions, liveness }: UniformityAnalysis["code"],
  block: number,
  copies: number,
): ReadonlyMap<number, number[]> {
  const found = new Map<number, number[]>();
  liveness.walk(block, (i, liveAfter) => {
    if (i >= copies || isDead(instructions[i]!, liveAfter)) return;
    for (const r of registersRead(instructions[i]!)) {
      const list = found.get(r);
      if (list === undefined) found.set(r, [i]);
      else list.push(i);
    }
  });
  return found;
}
