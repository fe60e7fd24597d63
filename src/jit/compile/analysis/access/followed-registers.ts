import { accessesOf } from "../../../../ir/op-traits.ts";
import { registersRead, writersIn } from "../../../../ir/flow/accesses.ts";
import type { Instruction, IrFunction } from "../../../../ir/index.ts";
import { type Expr, registersOf } from "../../../../semantics/index.ts";
import type { ThreadValues } from "../values/thread-values.ts";
import type { AddressAges } from "./address-ages.ts";
import { added, type AddressSums } from "./address-sums.ts";

/** What is known of a kernel's registers. */
export interface RegisterFacts {
  /** What follows from the numbers of a block's threads. */
  readonly values: ThreadValues;
  readonly sums: AddressSums;
  readonly ages: AddressAges;
}

/** Of counters, the low bits that are followed: as many as masks ask for, or the least. */
export const lowBits = { least: 2, most: 10 };

export const isShared = (instruction: Instruction): boolean =>
  accessesOf(instruction.op).some(({ access: { space } }) => space === "shared");

/**
 * The registers that addresses in shared memory are computed from, as far as they do not follow from the threads'
 * numbers, and conditions that follow from these. None if all of them are written once.
 */
export function followedRegisters(ir: IrFunction, values: ThreadValues): Set<number> {
  const { instructions } = ir;
  const writers = writersIn(instructions);
  const isFollowed = followable(ir, values, writers);
  const found = new Set<number>();
  const add = (r: number): void => {
    if (isFollowed(r)) found.add(r);
  };
  for (const { op } of instructions) {
    for (const { access, place } of accessesOf(op)) {
      if (access.space === "shared" && place.kind === "address") registersOf(place.address).forEach(add);
    }
  }
  for (const r of found) for (const writer of writers.get(r)!) registersRead(writer).forEach(add);
  if (![...found].some((r) => writers.get(r)!.length > 1)) return new Set();
  for (const { op, guard } of instructions) {
    if (op.kind !== "branch" || guard === null || found.has(guard.register) || !isFollowed(guard.register)) continue;
    const read = writers.get(guard.register)!.flatMap(registersRead);
    if (read.some((r) => found.has(r)) && read.every((r) => found.has(r) || values.knows(r))) found.add(guard.register);
  }
  return found;
}

/** Whether what a register holds can be followed: it is computed, and not from threads' numbers alone. */
function followable(
  { registers }: IrFunction,
  values: ThreadValues,
  writers: ReadonlyMap<number, readonly Instruction[]>,
): (register: number) => boolean {
  return (r) => {
    const { class: c, bits } = registers[r]!;
    if ((c !== "pred" && bits < 32) || values.knows(r)) return false;
    return writers.get(r)?.every(({ op }) => op.kind === "pure") === true;
  };
}

/** Registers, and those on which branches depend, as far as these follow from threads' numbers and what is computed. */
export function withDecisions(ir: IrFunction, values: ThreadValues, addressing: ReadonlySet<number>): Set<number> {
  const writers = writersIn(ir.instructions);
  const isFollowed = followable(ir, values, writers);
  const found = new Set(addressing);
  for (const { op, guard } of ir.instructions) {
    if (guard === null || (op.kind !== "branch" && accessesOf(op).length === 0)) continue;
    const needed = new Set([guard.register]);
    for (const r of needed) {
      if (values.knows(r)) needed.delete(r);
      else if (!isFollowed(r)) break;
      else for (const from of writers.get(r)!.flatMap(registersRead)) needed.add(from);
    }
    if ([...needed].every(isFollowed)) for (const r of needed) found.add(r);
  }
  return found;
}

/** The registers that several branches depend on and all lanes of a warp share. */
export function conditionsOf(instructions: readonly Instruction[], { values, ages }: RegisterFacts): readonly number[] {
  const seen = new Set<number>();
  const several = new Set<number>();
  for (const { op, guard } of instructions) {
    if (op.kind !== "branch" || guard === null || guard.collapse !== undefined || values.knows(guard.register))
      continue;
    (seen.has(guard.register) ? several : seen).add(guard.register);
  }
  return [...several].filter((r) => !ages.varies(r));
}

/** How many low bits of registers masks keep, as far as they are constants. */
export function bitsAskedFor({ instructions }: IrFunction, followed: ReadonlySet<number>): number {
  let most = lowBits.least;
  const visit = (expr: Expr): void => {
    if (expr.kind !== "prim") return;
    expr.args.forEach(visit);
    if (expr.prim !== "i32.and") return;
    for (const arg of expr.args) {
      const bits = arg.kind === "const" && (arg.value as number) > 0 ? 32 - Math.clz32(arg.value as number) : 0;
      if (bits <= lowBits.most) most = Math.max(most, bits);
    }
  };
  for (const { op, dst } of instructions) {
    if (op.kind === "pure" && dst.some((r) => typeof r === "number" && followed.has(r))) op.values.forEach(visit);
  }
  return most;
}

/** The registers to which constants are added as often as conditions allow that do not follow from them. */
export function countersAmong(
  followed: ReadonlySet<number>,
  { instructions }: IrFunction,
  sums: AddressSums,
): number[] {
  const writers = writersIn(instructions);
  const deciding = new Set<number>();
  for (const { guard } of instructions)
    if (guard !== null && followed.has(guard.register)) deciding.add(guard.register);
  for (const r of deciding) {
    for (const writer of writers.get(r)!)
      for (const from of registersRead(writer)) if (followed.has(from)) deciding.add(from);
  }
  const isAdvanced = (r: number): boolean => {
    const own = sums.of({ kind: "reg", ty: "i32", reg: r });
    return writers.get(r)!.some(({ op, dst }) => {
      const value = op.kind === "pure" ? op.values[dst.indexOf(r)] : undefined;
      if (value === undefined) return false;
      const by = added(sums.of(value), own, -1n);
      return by.size === 1 && by.has("");
    });
  };
  return [...followed].filter((r) => !deciding.has(r) && writers.get(r)!.length > 1 && isAdvanced(r));
}
