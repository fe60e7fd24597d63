import { operandsOf, writesOf } from "../../../../ir/flow/accesses.ts";
import type { FlowGraph } from "../../../../ir/flow/flow-graph.ts";
import { type LoopRange, loopsOf } from "../../../../ir/flow/loops.ts";
import { type Instruction, laneAddressOf } from "../../../../ir/index.ts";
import { nan32, nan64 } from "../../../../numeric/float-pattern.ts";
import type { Expr } from "../../../../semantics/index.ts";

/** Registers between which values are moved. */
interface Web {
  readonly members: number[];
  /** The type of the results that are computed for them; null: none are. */
  ty: "f32" | "f64" | null;
  /** Whether they hold nothing but results of arithmetic in that type, and only stores and arithmetic read them. */
  isNumber: boolean;
  /** The largest loop depth at which results are computed, and at which the bits are stored; -1: nowhere. */
  computed: number;
  stored: number;
}

/**
 * Deferred canonicalization: the registers whose NaNs are replaced by PTX's where they are stored rather than where
 * they are computed, with the types of the numbers in them. These are sums that a loop computes and that are stored
 * after it; until then nothing observes which NaN they hold.
 */
export function deferredNans(
  instructions: readonly Instruction[],
  graph: FlowGraph,
  results: readonly number[],
): ReadonlyMap<number, "f32" | "f64"> {
  if (!instructions.some(computesNumber)) return new Map();
  const depths = depthsOf(graph);
  const webs = new NumberWebs();
  for (const { index, start, end } of graph.blocks) {
    for (let i = start; i < end; i++) webs.add(instructions[i]!, depths[index]!);
  }
  for (const result of results) webs.refuse(result);
  return webs.deferred();
}

class NumberWebs {
  readonly #webs = new Map<number, Web>();
  readonly #seen = new Set<Expr>();

  /** Takes note of what an instruction at a loop depth does to registers. */
  add(instruction: Instruction, depth: number): void {
    const { op, dst } = instruction;
    if (op.kind === "pure") {
      op.values.forEach((value, k) => {
        const to = dst[k];
        if (typeof to === "number") this.#write(to, value, depth);
        if (value.kind !== "reg" || typeof to !== "number") this.#read(value);
      });
      return;
    }
    writesOf(instruction, (r) => this.refuse(r));
    for (const expr of operandsOf(op)) {
      if (op.kind === "store" && expr.kind === "reg" && op.values.includes(expr) && expr !== laneAddressOf(op.place)) {
        const web = this.#of(expr.reg);
        web.stored = Math.max(web.stored, depth);
      } else this.#read(expr);
    }
  }

  /** The register holds something else than a number, or its bits are observed. */
  refuse(register: number): void {
    this.#of(register).isNumber = false;
  }

  /** The registers of webs whose results are computed in more loops than they are stored in. */
  deferred(): ReadonlyMap<number, "f32" | "f64"> {
    const found = new Map<number, "f32" | "f64">();
    for (const [register, { ty, isNumber, computed, stored }] of this.#webs) {
      if (isNumber && ty !== null && stored >= 0 && computed > stored) found.set(register, ty);
    }
    return found;
  }

  #of(register: number): Web {
    let web = this.#webs.get(register);
    if (web === undefined) {
      web = { members: [register], ty: null, isNumber: true, computed: -1, stored: -1 };
      this.#webs.set(register, web);
    }
    return web;
  }

  #join(a: number, b: number): void {
    const [one, other] = [this.#of(a), this.#of(b)];
    if (one === other) return;
    // The smaller into the larger: a web may have nearly all registers.
    const [to, from] = one.members.length < other.members.length ? [other, one] : [one, other];
    const { ty, isNumber, computed, stored } = from;
    to.isNumber &&= isNumber && (to.ty === null || ty === null || ty === to.ty);
    to.ty ??= ty;
    to.computed = Math.max(to.computed, computed);
    to.stored = Math.max(to.stored, stored);
    for (const r of from.members) {
      this.#webs.set(r, to);
      to.members.push(r);
    }
  }

  #write(to: number, value: Expr, depth: number): void {
    if (value.kind === "reg") this.#join(to, value.reg);
    else if (value.kind === "prim" && (value.ty === "f32" || value.ty === "f64")) {
      const web = this.#of(to);
      web.isNumber &&= web.ty === null || web.ty === value.ty;
      web.ty = value.ty;
      web.computed = Math.max(web.computed, depth);
    } else if (value.kind !== "const" || isOtherNan(value)) this.refuse(to);
  }

  /** Refuses registers that are read as anything but numbers. */
  #read(expr: Expr): void {
    if (expr.kind === "reg") {
      if (expr.ty !== "f32" && expr.ty !== "f64") this.refuse(expr.reg);
    } else if (expr.kind === "prim" && !this.#seen.has(expr)) {
      this.#seen.add(expr);
      for (const arg of expr.args) this.#read(arg);
    }
  }
}

/** Whether an instruction does arithmetic that may give a NaN. */
function computesNumber({ op }: Instruction): boolean {
  if (op.kind !== "pure") return false;
  for (let i = 0; i < op.values.length; i++) {
    const { kind, ty } = op.values[i]!;
    if (kind === "prim" && (ty === "f32" || ty === "f64")) return true;
  }
  return false;
}

/** By block, the number of loops that contain it. */
function depthsOf(graph: FlowGraph): readonly number[] {
  const depths = graph.blocks.map(() => 0);
  const visit = ({ start, end, inner }: LoopRange): void => {
    for (let block = start; block <= end; block++) depths[block]!++;
    inner.forEach(visit);
  };
  loopsOf(graph).forEach(visit);
  return depths;
}

/** Whether a constant has the bits of a NaN other than PTX's. */
function isOtherNan({ ty, value }: Extract<Expr, { kind: "const" }>): boolean {
  if (ty === "i32") return (Number(value) & 0x7fff_ffff) > 0x7f80_0000 && Number(value) !== nan32;
  if (ty === "i64") return (BigInt(value) & 0x7fff_ffff_ffff_ffffn) > 0x7ff0_0000_0000_0000n && BigInt(value) !== nan64;
  return true;
}
