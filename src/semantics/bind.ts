import { pattern32, pattern64 } from "../numeric/float-pattern.ts";
import type { Expr, RegionLeaf } from "./expr.ts";
import { fold } from "./fold.ts";
import { kit } from "./kit.ts";
import type { PrimName } from "./prims/index.ts";
import { mapChanged } from "./rewrite.ts";
import type { Value } from "./types.ts";

/** What is known of an expression's leaves once the module is loaded. */
export interface Bindings {
  /** The address of a module-level variable or function. */
  readonly symbol: (name: string, generic: boolean) => bigint;
  /** What makes a window's address generic. */
  readonly window: bigint;
  /** What is read instead of a region that does not lie within the file; absent where there is no file. */
  readonly region?: (leaf: RegionLeaf) => Expr;
  /** What is known of a register; absent where nothing is. */
  readonly register?: (leaf: RegisterLeaf) => Expr;
}

export type RegisterLeaf = Extract<Expr, { kind: "reg" }>;

/**
 * Puts in the leaves that are known, and computes what follows from constants alone. Shared parts stay shared, and what does not
 * change is the same object.
 */
export function bind(expr: Expr, bindings: Bindings, memo: Map<Expr, Expr> = new Map()): Expr {
  if (expr.kind === "const") return expr;
  if (expr.kind === "reg") return bindings.register?.(expr) ?? expr;
  const known = memo.get(expr);
  if (known !== undefined) return known;
  const bound = bindNode(expr, bindings, memo);
  memo.set(expr, bound);
  return bound;
}

function bindNode(expr: Expr, bindings: Bindings, memo: Map<Expr, Expr>): Expr {
  if (expr.kind === "symbol") {
    const address = bindings.symbol(expr.symbol, expr.generic) + BigInt(expr.offset);
    return expr.ty === "i64" ? kit.i64(address) : kit.i32(Number(BigInt.asIntN(32, address)));
  }
  if (expr.kind === "special" && expr.name === "window") return constant(expr.ty, bindings.window);
  if (expr.kind === "region") return bindings.region?.(expr) ?? expr;
  if (expr.kind === "indirect") return { ...expr, address: bind(expr.address, bindings, memo) };
  if (expr.kind !== "prim") return expr;
  const args = mapChanged(expr.args, (arg) => bind(arg, bindings, memo));
  const half = halfOf(expr.prim, args[0]);
  if (half !== null) return half;
  const term = otherThanZero(expr.prim, args);
  if (term !== null) return term;
  const bound: Expr = args === expr.args ? expr : { ...expr, args };
  // A NaN constant would lose its bits.
  if (expr.ty === "f32" || expr.ty === "f64" || !args.every((a) => a.kind === "const")) return bound;
  return { kind: "const", ty: expr.ty, value: fold(bound, unreachable) };
}

/** What is left of a sum with a zero: addresses often have an offset of 0. */
function otherThanZero(prim: PrimName, [a, b]: readonly Expr[]): Expr | null {
  if (prim !== "i32.add" && prim !== "i64.add") return null;
  const isZero = (term: Expr): boolean => term.kind === "const" && Number(term.value) === 0;
  return isZero(b!) ? a! : isZero(a!) ? b! : null;
}

/** Half of a 64-bit element of the byte file is an element too. */
function halfOf(prim: PrimName, leaf: Expr | undefined): Expr | null {
  if ((prim !== "i32.wrap_i64" && prim !== "i32.high_i64") || leaf?.kind !== "region") return null;
  const { at, vertical, horizontal, ...rest } = leaf.region;
  const region = {
    ...rest,
    at: prim === "i32.high_i64" ? at + 4 : at,
    vertical: vertical * 2,
    horizontal: horizontal * 2,
  };
  return { kind: "region", ty: "i32", bits: 32, signed: true, region };
}

const constant = (ty: Expr["ty"], value: bigint): Expr =>
  ty === "i64" ? kit.i64(value) : kit.i32(Number(BigInt.asIntN(32, value)));

const unreachable = (): Value => {
  throw new Error("a constant has no leaves");
};

/**
 * The expression's bits, where they can be had without passing through a floating-point value: moving a NaN keeps its
 * payload, computing one does not. What is computed stays a float, and whoever stores it makes a NaN canonical.
 */
export function bitsOf(expr: Expr): Expr {
  if (expr.ty !== "f32" && expr.ty !== "f64") return expr;
  const ty = expr.ty === "f32" ? "i32" : "i64";
  if (expr.kind === "reg" || expr.kind === "old" || expr.kind === "region" || expr.kind === "indirect") {
    return { ...expr, ty };
  }
  if (expr.kind === "const") {
    const value = expr.value as number;
    return ty === "i32" ? kit.i32(pattern32(value)) : kit.i64(pattern64(value));
  }
  if (expr.kind !== "prim") return expr;
  if (expr.prim === "f32.reinterpret_i32" || expr.prim === "f64.reinterpret_i64") return expr.args[0]!;
  if ((expr.prim as string) === `${expr.ty}.select`) {
    const [p, a, b] = [expr.args[0]!, bitsOf(expr.args[1]!), bitsOf(expr.args[2]!)];
    if (a.ty === ty && b.ty === ty) return kit.select(p, a, b);
  }
  return expr;
}

/** An expression as a base and a constant number of bytes. */
export function splitOffset(expr: Expr): { readonly base: Expr | null; readonly offset: bigint } {
  if (expr.kind === "const") return { base: null, offset: BigInt(expr.value as number | bigint) };
  if (expr.kind === "prim" && (expr.prim === "i64.add" || expr.prim === "i32.add")) {
    const [a, b] = [splitOffset(expr.args[0]!), splitOffset(expr.args[1]!)];
    if (b.base === null) return { base: a.base, offset: a.offset + b.offset };
    if (a.base === null) return { base: b.base, offset: a.offset + b.offset };
  }
  return { base: expr, offset: 0n };
}
