import { laneAddressOf } from "../../../../ir/access.ts";
import { operandsOf, writesOf } from "../../../../ir/flow/accesses.ts";
import type { FlowGraph } from "../../../../ir/flow/flow-graph.ts";
import { type LoopRange, loopsOf } from "../../../../ir/flow/loops.ts";
import type { Instruction } from "../../../../ir/index.ts";
import { nan32, nan64 } from "../../../../numeric/float-pattern.ts";
import type { Expr } from "../../../../semantics/index.ts";

/** A web of registers between which values are moved. */
interface Web {
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
  const webs = new Map<number, { readonly web: Web; readonly members: number[] }>();
  const of = (register: number) => {
    let found = webs.get(register);
    if (found === undefined) {
      found = { web: { ty: null, isNumber: true, computed: -1, stored: -1 }, members: [register] };
      webs.set(register, found);
    }
    return found;
  };
  const refuse = (register: number): void => {
    of(register).web.isNumber = false;
  };
  const join = (a: number, b: number): void => {
    const [one, other] = [of(a), of(b)];
    if (one === other) return;
    // The smaller into the larger: a web may have nearly all registers.
    const [to, from] = one.members.length < other.members.length ? [other, one] : [one, other];
    const { ty, isNumber, computed, stored } = from.web;
    to.web.isNumber &&= isNumber && (to.web.ty === null || ty === null || ty === to.web.ty);
    to.web.ty ??= ty;
    to.web.computed = Math.max(to.web.computed, computed);
    to.web.stored = Math.max(to.web.stored, stored);
    for (const r of from.members) {
      webs.set(r, to);
      to.members.push(r);
    }
  };
  const seen = new Set<Expr>();
  /** Refuses registers that are read as anything but numbers. */
  const visit = (expr: Expr): void => {
    if (expr.kind === "reg") {
      if (expr.ty !== "f32" && expr.ty !== "f64") refuse(expr.reg);
    } else if (expr.kind === "prim" && !seen.has(expr)) {
      seen.add(expr);
      expr.args.forEach(visit);
    }
  };
  const write = (to: number, value: Expr, depth: number): void => {
    if (value.kind === "reg") join(to, value.reg);
    else if (value.kind === "prim" && (value.ty === "f32" || value.ty === "f64")) {
      const { web } = of(to);
      web.isNumber &&= web.ty === null || web.ty === value.ty;
      web.ty = value.ty;
      web.computed = Math.max(web.computed, depth);
    } else if (value.kind !== "const" || isOtherNan(value)) refuse(to);
  };
  graph.blocks.forEach(({ start, end }, block) => {
    const depth = depths[block]!;
    for (let i = start; i < end; i++) {
      const { op, dst } = instructions[i]!;
      if (op.kind === "pure") {
        op.values.forEach((value, k) => {
          const to = dst[k];
          if (typeof to === "number") write(to, value, depth);
          if (value.kind !== "reg" || typeof to !== "number") visit(value);
        });
        continue;
      }
      writesOf(instructions[i]!, refuse);
      for (const expr of operandsOf(op)) {
        if (
          op.kind === "store" &&
          expr.kind === "reg" &&
          op.values.includes(expr) &&
          expr !== laneAddressOf(op.place)
        ) {
          const { web } = of(expr.reg);
          web.stored = Math.max(web.stored, depth);
        } else visit(expr);
      }
    }
  });
  for (const result of results) refuse(result);
  const deferred = new Map<number, "f32" | "f64">();
  for (const [register, { web }] of webs) {
    if (web.isNumber && web.ty !== null && web.stored >= 0 && web.computed > web.stored) deferred.set(register, web.ty);
  }
  return deferred;
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
