import { writesOf } from "../../../../ir/flow/accesses.ts";
import { accessesOf, type IrFunction } from "../../../../ir/index.ts";
import { symbolsOf, visitOperands } from "../../../../ir/operands.ts";
import type { Extent } from "../../../../machine/memory/extent.ts";
import type { Dim3 } from "../../../../machine/reports/report.ts";
import type { Program } from "../../../../program/program.ts";
import { type Expr, everyLeaf } from "../../../../semantics/index.ts";
import { threadFactsOf } from "./reaching-threads.ts";

type Variables = Pick<Program, "variables" | "bindings">;

/** Bytes of shared memory. */
type Range = Pick<Extent, "start" | "end">;

/** A kernel in blocks of one size. */
interface KernelInBlocks {
  readonly ir: IrFunction;
  readonly block: Dim3;
}

/** A kernel, and the same in blocks in which several of its own lie one after the other. */
export interface SharedCopies {
  readonly of: KernelInBlocks;
  readonly in: KernelInBlocks;
  /** Bytes from a shared variable of one block to that of the next. */
  readonly stride: number;
}

const none: Range = { start: 0, end: 0 };

/**
 * Where the shared variables lie that a kernel names. Null where the launch gives the size of one, and where it may
 * access shared memory otherwise, or show anybody where variables are.
 */
export function sharedRangeOf(ir: IrFunction, program: Variables): Range | null {
  const ranges = namedIn(ir, program);
  const { instructions } = ir;
  const spaces = new Set(instructions.flatMap(({ op }) => accessesOf(op).map(({ access }) => access.space)));
  if (ranges.size === 0) return spaces.has("shared") ? null : none;
  if (spaces.has("generic") || [...ranges.values()].includes(null) || showsPlaces(ir, ranges)) return null;
  const found = [...ranges.values()].map((range) => range!);
  return { start: Math.min(...found.map((r) => r.start)), end: Math.max(...found.map((r) => r.end)) };
}

/** The shared variables that a kernel names; null for those whose size the launch gives. */
function namedIn({ instructions }: IrFunction, { variables }: Variables): ReadonlyMap<string, Range | null> {
  const found = new Map<string, Range | null>();
  const note = (name: string): void => {
    const placed = variables.get(name);
    if (placed?.variable.space !== "shared") return;
    const { variable, address } = placed;
    found.set(name, variable.dynamicShared ? null : { start: address, end: address + variable.size });
  };
  for (const { op } of instructions) symbolsOf(op, note, new Set());
  return found;
}

/** Whether what follows from the address of a shared variable is used for anything but accesses to shared memory. */
function showsPlaces({ instructions }: IrFunction, variables: ReadonlyMap<string, unknown>): boolean {
  const registers = new Set<number>();
  const follows = (expr: Expr): boolean =>
    !everyLeaf(expr, (leaf) =>
      leaf.kind === "reg" ? !registers.has(leaf.reg) : leaf.kind !== "symbol" || !variables.has(leaf.symbol),
    );
  for (let size = -1; size < registers.size; ) {
    size = registers.size;
    for (const instruction of instructions) {
      const { op } = instruction;
      if (op.kind === "pure" && op.values.some(follows)) writesOf(instruction, (r) => registers.add(r));
    }
  }
  return instructions.some(({ op, guard }) => {
    if (guard !== null && registers.has(guard.register)) return true;
    if (op.kind === "pure") return false;
    let uses = 0;
    visitOperands(op, (expr) => (uses += Number(follows(expr))));
    const isOwn = accessesOf(op).filter(
      ({ access: { space }, place }) => space === "shared" && place.kind === "address" && follows(place.address),
    );
    return uses > isOwn.length;
  });
}

/**
 * Whether each thread finds its variables in shared memory, and nothing else, and where blocks lie one after the other
 * the same in the copy of its own block. What is accessed must follow from the thread's number alone.
 */
export function findsOwnVariables(copies: SharedCopies, program: Variables): boolean {
  const { stride } = copies;
  const [own, whole] = [copies.of, copies.in].map(({ ir, block }) => threadFactsOf(ir, block, program.bindings));
  const ranges = [...namedIn(copies.of.ir, program).values()];
  return copies.of.ir.instructions.every(({ op }, i) => {
    const places = accessesOf(copies.in.ir.instructions[i]!.op);
    return accessesOf(op).every(({ access: { space, bits, count, align }, place }, n) => {
      if (space !== "shared") return true;
      const other = places[n]!.place;
      if (place.kind !== "address" || other.kind !== "address") return false;
      const starts = own!.values?.of(place.address) ?? null;
      const all = whole!.values?.of(other.address) ?? null;
      if (starts === null || all === null) return false;
      const threads = own!.at(i);
      const bytes = (bits / 8) * count;
      return all.every((at, t) => {
        const thread = t % starts.length;
        const start = starts[thread]!;
        if (!threads.has(thread)) return true;
        const isIn = ranges.some((r) => r !== null && start >= r.start && start + bytes <= r.end);
        return isIn && start % align === 0 && at === start + Math.floor(t / starts.length) * stride;
      });
    });
  });
}
