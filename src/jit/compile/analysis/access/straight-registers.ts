import { laneAddressOf } from "../../../../ir/access.ts";
import { operandsOf, readsOf } from "../../../../ir/flow/accesses.ts";
import type { Instruction } from "../../../../ir/index.ts";
import { everyLeaf, type Expr } from "../../../../semantics/index.ts";
import { isLinear } from "../../../../ir/uniformity/shape.ts";
import type { Invariants } from "../values/invariant-code.ts";
import { lifetimeOf } from "../values/special-registers.ts";
import type { UniformityAnalysis } from "../values/uniformity.ts";
import { StraightAddresses } from "./straight-addresses.ts";

/** Registers that are rematerialized: what each is, and the instructions that compute them. */
export interface RematerializedRegisters {
  readonly instructions: ReadonlySet<number>;
  readonly values: ReadonlyMap<number, Expr>;
}

/** A register that one instruction writes. */
interface Candidate {
  readonly register: number;
  readonly instruction: number;
  readonly value: Expr;
}

/**
 * Clamped addresses that lanes would keep while they wait, though accesses read them only where lanes are clamped
 * (`StraightAddresses`): they are computed there, of invariants. Vectors that are loaded before an access are loaded
 * even if nothing reads them, and V8 keeps them in its stack; what is computed it moves to where it is read.
 *
 * `fixed`: the invariants; `resumed`: the blocks at which lanes resume. A register is one of these if a single
 * instruction writes it, before it is read, and computes it of what never changes: so it is the same wherever it is
 * read.
 */
export function straightRegisters(
  analysis: UniformityAnalysis,
  fixed: Invariants,
  resumed: Iterable<number>,
): RematerializedRegisters {
  const { instructions, liveness } = analysis.code;
  const candidates = candidatesIn(analysis, fixed);
  const kept = new Set<number>();
  for (const block of resumed) {
    liveness.liveIn(block).forEach((r) => {
      if (candidates.has(r)) kept.add(r);
    });
  }
  if (kept.size === 0) return { instructions: new Set(), values: new Map() };
  const straight = new StraightAddresses(analysis, fixed);
  for (let size = -1; size !== candidates.size; ) {
    size = candidates.size;
    const own = new Set([...candidates.values()].map(({ instruction }) => instruction));
    instructions.forEach((instruction, i) => {
      const address = own.has(i) ? null : straightAddressOf(instruction, i, straight);
      readsOf(instruction, { register: (r) => !own.has(i) && address?.has(r) !== true && candidates.delete(r) });
    });
    // What depends on a register that is not one of them is none either.
    for (const [r, { value }] of candidates) {
      if (!everyLeaf(value, (leaf) => isThere(leaf, fixed) || isOneOf(leaf, candidates))) candidates.delete(r);
    }
  }
  const found = neededFor(kept, candidates);
  return {
    instructions: new Set(found.map(({ instruction }) => instruction)),
    values: new Map(found.map(({ register, value }) => [register, value])),
  };
}

/** Registers that differ from lane to lane in no regular way, and that one instruction writes, before they are read. */
function candidatesIn({ code, register }: UniformityAnalysis, fixed: Invariants): Map<number, Candidate> {
  const { instructions, writes, liveness, ir } = code;
  const found = new Map<number, Candidate>();
  if (ir.file !== undefined) return found;
  const readFirst = liveness.liveIn(0);
  instructions.forEach(({ op, dst, guard, lanes }, instruction) => {
    const [to] = dst;
    if (op.kind !== "pure" || guard !== null || lanes !== undefined || dst.length !== 1 || typeof to !== "number")
      return;
    if (writes[to] !== 1 || readFirst.has(to) || liveness.acrossLanes.has(to) || isLinear(register(to))) return;
    const [value] = op.values;
    const { bits, home } = ir.registers[to]!;
    // Registers of other sizes take a part of the value.
    if (home !== undefined || fixed.rematerialized.has(to) || bits !== sizes[value!.ty as keyof typeof sizes]) return;
    found.set(to, { register: to, instruction, value: value! });
  });
  return found;
}

const sizes = { i32: 32, i64: 64, pred: 1 } as const;

/** Whether a leaf is the same wherever it is read. */
const isThere = (leaf: Expr, { registers }: Invariants): boolean => {
  if (leaf.kind === "reg") return registers.has(leaf.reg);
  return leaf.kind === "const" || (leaf.kind === "special" && lifetimeOf(leaf.name) !== "code");
};

const isOneOf = (leaf: Expr, candidates: ReadonlyMap<number, Candidate>): boolean =>
  leaf.kind === "reg" && candidates.get(leaf.reg)?.value.ty === leaf.ty;

/** The registers that an access reads for nothing but an address that is straight as long as no lane is clamped. */
function straightAddressOf(
  { op }: Instruction,
  index: number,
  straight: StraightAddresses,
): ReadonlySet<number> | null {
  if ((op.kind !== "load" && op.kind !== "store") || op.place.kind !== "address" || op.access.count !== 1) return null;
  const address = laneAddressOf(op.place);
  if (straight.of(address, { instruction: index }, op.access.bits / 8) === null) return null;
  const found = new Set<number>();
  const others = new Set<number>();
  for (const expr of operandsOf(op)) {
    everyLeaf(expr, (leaf) => {
      if (leaf.kind === "reg") (expr === address ? found : others).add(leaf.reg);
      return true;
    });
  }
  for (const r of others) found.delete(r);
  return found;
}

/** The candidates that some registers are, and those of which these are computed. */
function neededFor(kept: Iterable<number>, candidates: ReadonlyMap<number, Candidate>): readonly Candidate[] {
  const needed = new Map<number, Candidate>();
  const need = (r: number): void => {
    const candidate = candidates.get(r);
    if (candidate === undefined || needed.has(r)) return;
    needed.set(r, candidate);
    everyLeaf(candidate.value, (leaf) => {
      if (leaf.kind === "reg") need(leaf.reg);
      return true;
    });
  };
  for (const r of kept) need(r);
  return [...needed.values()];
}
