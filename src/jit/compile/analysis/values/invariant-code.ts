import { laneAddressOf } from "../../../../ir/access.ts";
import { operandsOf, readsOf } from "../../../../ir/flow/accesses.ts";
import type { Destination, Instruction, Op } from "../../../../ir/index.ts";
import { everyLeaf, type Expr } from "../../../../semantics/index.ts";
import { isLinear } from "../../../../ir/uniformity/shape.ts";
import { type KnownLanes, noKnownLanes } from "./known-lanes.ts";
import { type Lifetime, lifetimeOf } from "./special-registers.ts";
import type { UniformityAnalysis } from "./uniformity.ts";

/**
 * Invariant code: instructions that are executed before all others, once for the grid, once for each block, or whenever
 * a chunk of lanes begins or resumes.
 */
export interface Invariants {
  readonly grid: readonly number[];
  readonly block: readonly number[];
  readonly chunk: readonly number[];
  /** The registers that these write, and the rematerialized ones. */
  readonly registers: ReadonlySet<number>;
  /** Registers that are computed wherever one is read, with their values: that costs less than to keep them. */
  readonly rematerialized: ReadonlyMap<number, Expr>;
  /** Invariant registers that are operands of vector operations: their splats are made once, too. */
  readonly splats: ReadonlySet<number>;
  /** What is known lane by lane, and never computed. */
  readonly known: KnownLanes;
  has(instruction: number): boolean;
}

const rank: Readonly<Record<Lifetime, number>> = { grid: 0, block: 1, chunk: 2, code: 3 };

/**
 * Finds invariant code: instructions without a guard whose operands are invariant, and whose result no other
 * instruction writes. They have no effects, so that they do no harm where control never reaches their place.
 * `suspensions`: the blocks at which lanes resume.
 */
export function invariantsOf({ code, register }: UniformityAnalysis, suspensions: Iterable<number>): Invariants {
  const { instructions, writes, liveness, graph } = code;
  const readFirst = liveness.liveIn(0);
  const lifetimes = new Map<number, Lifetime>();
  const kept = new Set<number>();
  for (const block of suspensions)
    liveness.liveIn(block).forEach((r) => {
      kept.add(r);
    });
  const rematerialized = new Map<number, Expr>();
  const isPrivate = (r: number): boolean => !liveness.acrossLanes.has(r) && code.ir.registers[r]!.home === undefined;
  const order: { readonly index: number; readonly lifetime: Lifetime }[] = [];
  const lifetimeIn = (expr: Expr): Lifetime => {
    switch (expr.kind) {
      case "const":
        return "grid";
      case "reg":
        return lifetimes.get(expr.reg) ?? "code";
      case "special":
        return lifetimeOf(expr.name);
      case "prim":
        return expr.args.reduce<Lifetime>((most, arg) => longer(most, lifetimeIn(arg)), "grid");
      default:
        return "code";
    }
  };
  const isWrittenOnce = (dst: readonly Destination[]): dst is readonly number[] =>
    dst.every((to) => typeof to === "number" && writes[to] === 1 && !readFirst.has(to));
  for (const { start, end } of graph.blocks) {
    for (let i = start; i < end; i++) {
      const instruction = instructions[i]!;
      const { dst: registers } = instruction;
      if (!isWrittenOnce(registers) || !isFixed(instruction)) continue;
      const lifetime = operandsOf(instruction.op).reduce<Lifetime>(
        (most, expr) => longer(most, lifetimeIn(expr)),
        "grid",
      );
      if (lifetime === "code") continue;
      if (!registers.every((r) => isLinear(register(r)))) {
        const [r] = registers;
        if (!kept.has(r!) || !isPrivate(r!) || !isComparison(instruction.op)) continue;
        rematerialized.set(r!, instruction.op.values[0]!);
        order.push({ index: i, lifetime: "code" });
        lifetimes.set(r!, lifetime);
        continue;
      }
      order.push({ index: i, lifetime });
      for (const r of registers) lifetimes.set(r, lifetime);
    }
  }
  const moved = new Set(order.map((o) => o.index));
  const at = (lifetime: Lifetime): number[] => order.filter((o) => o.lifetime === lifetime).map((o) => o.index);
  return {
    grid: at("grid"),
    block: at("block"),
    chunk: at("chunk"),
    registers: new Set(lifetimes.keys()),
    rematerialized,
    splats: splatsOf(instructions, moved, lifetimes, register),
    known: noKnownLanes,
    has: (instruction) => moved.has(instruction),
  };
}

/** Of invariants of chunks those on which some registers depend, in order. */
export function chunkInvariantsFor(
  { instructions }: Pick<UniformityAnalysis["code"], "instructions">,
  { chunk, rematerialized }: Invariants,
  registers: Iterable<number>,
): readonly number[] {
  const needed = new Set<number>();
  const need = (r: number): void => {
    if (needed.has(r)) return;
    needed.add(r);
    const computed = rematerialized.get(r);
    if (computed !== undefined) everyLeaf(computed, needLeaf);
  };
  const needLeaf = (leaf: Expr): boolean => {
    if (leaf.kind === "reg") need(leaf.reg);
    return true;
  };
  for (const r of registers) need(r);
  const found: number[] = [];
  for (let k = chunk.length - 1; k >= 0; k--) {
    const instruction = instructions[chunk[k]!]!;
    if (!instruction.dst.some((to) => typeof to === "number" && needed.has(to))) continue;
    found.push(chunk[k]!);
    readsOf(instruction, { register: need });
  }
  return found.reverse();
}

type PureOp = Extract<Op, { kind: "pure" }>;

/** Whether an operation compares words, or combines results of comparisons. */
export const isComparison = (op: Op): op is PureOp => {
  if (op.kind !== "pure" || op.values.length !== 1) return false;
  const [value] = op.values;
  return value!.kind === "prim" && /^i32\.(lt|le)_[su]$|^i32\.(eq|ne)$|^pred\.(not|and|or)$/.test(value!.prim);
};

const longer = (a: Lifetime, b: Lifetime): Lifetime => (rank[a] >= rank[b] ? a : b);

/** Whether the result of an instruction depends on nothing but its operands. */
function isFixed({ op, guard, lanes }: Instruction): boolean {
  if (guard !== null || lanes !== undefined) return false;
  return (
    op.kind === "pure" ||
    (op.kind === "load" && op.access.space === "kernel-param" && laneAddressOf(op.place).kind === "const")
  );
}

/** The invariant registers that are operands of vector operations. */
function splatsOf(
  instructions: readonly Instruction[],
  moved: ReadonlySet<number>,
  lifetimes: ReadonlyMap<number, Lifetime>,
  register: (r: number) => { readonly kind: string },
): ReadonlySet<number> {
  const found = new Set<number>();
  const isKept = (expr: Expr): expr is Extract<Expr, { kind: "reg" }> =>
    expr.kind === "reg" && register(expr.reg).kind === "uniform" && /grid|block/.test(lifetimes.get(expr.reg) ?? "");
  const seen = new Map<Expr, boolean>();
  /** Whether a value varies over the lanes. */
  const visit = (expr: Expr): boolean => {
    if (expr.kind === "reg") return register(expr.reg).kind === "vector";
    if (expr.kind !== "prim") return false;
    const known = seen.get(expr);
    if (known !== undefined) return known;
    let varies = false;
    for (let i = 0; i < expr.args.length; i++) varies = visit(expr.args[i]!) || varies;
    seen.set(expr, varies);
    if (varies) for (const arg of expr.args) if (isKept(arg)) found.add(arg.reg);
    return varies;
  };
  instructions.forEach((instruction, i) => {
    if (!moved.has(i) && instruction.op.kind === "pure") for (const expr of instruction.op.values) visit(expr);
  });
  return found;
}
