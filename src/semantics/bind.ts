import { pattern32, pattern64 } from "../numeric/float-pattern.ts";
import type { Expr, RegionLeaf, SpecialName } from "./expr.ts";
import { fold } from "./fold.ts";
import { kit } from "./kit.ts";
import { inModes } from "./prims/float-control.ts";
import type { PrimName } from "./prims/index.ts";
import { mapChanged } from "./rewrite.ts";
import type { Value } from "./types.ts";

/** Values of an expression's leaves that are known once the module is loaded. */
export interface Bindings {
  /** Returns the address of a module-level variable or function. */
  readonly symbol: (name: string, generic: boolean) => bigint;
  /** The offset that turns an address in the state space's window into a generic one. */
  readonly window: bigint;
  /** Returns the known value of a special register of 32 bits, if any; absent if none is known. */
  readonly special?: (name: SpecialName) => number | undefined;
  /** Whether global indices of threads, `ctaid * ntid + tid`, have no sign; absent where the grid is not known. */
  readonly indexed?: boolean;
  /** Returns what is read instead of a region that lies outside the byte file; absent if there is no file. */
  readonly region?: (leaf: RegionLeaf) => Expr;
  /** Returns the known value of a register, if any; absent if no register is known. */
  readonly register?: (leaf: RegisterLeaf) => Expr;
}

/** A leaf that reads a register. */
export type RegisterLeaf = Extract<Expr, { kind: "reg" }>;

/**
 * Replaces the leaves that are known and folds what depends on constants alone. Shared parts stay shared, and an
 * unchanged part is the same object.
 */
export function bind(expr: Expr, bindings: Partial<Bindings>, memo: Map<Expr, Expr> = new Map()): Expr {
  if (expr.kind === "const") return expr;
  if (expr.kind === "reg") return bindings.register?.(expr) ?? expr;
  const known = memo.get(expr);
  if (known !== undefined) return known;
  const bound = bindNode(expr, bindings, memo);
  memo.set(expr, bound);
  return bound;
}

function bindNode(expr: Expr, bindings: Partial<Bindings>, memo: Map<Expr, Expr>): Expr {
  if (expr.kind === "symbol") {
    if (bindings.symbol === undefined) return expr;
    const address = bindings.symbol(expr.symbol, expr.generic) + BigInt(expr.offset);
    return expr.ty === "i64" ? kit.i64(address) : kit.i32(Number(BigInt.asIntN(32, address)));
  }
  if (expr.kind === "special") {
    const value = expr.name === "window" ? bindings.window : bindings.special?.(expr.name);
    return value === undefined ? expr : constant(expr.ty, BigInt(value));
  }
  if (expr.kind === "region") return bindings.region?.(expr) ?? expr;
  if (expr.kind === "indirect") return { ...expr, address: bind(expr.address, bindings, memo) };
  if (expr.kind !== "prim") return expr;
  const args = mapChanged(expr.args, (arg) => bind(arg, bindings, memo));
  const half = halfOf(expr.prim, args[0]);
  if (half !== null) return half;
  const term = otherThanZero(expr.prim, args);
  if (term !== null) return term;
  const shifted = args[0]?.kind === "const" ? null : dividedByPower(expr.prim, args);
  if (shifted !== null) return shifted;
  const bound = withoutModes(args === expr.args ? expr : { ...expr, args });
  if (bound.kind !== "prim") return bound;
  // Not folded: a NaN constant would lose its bits.
  if (expr.ty === "f32" || expr.ty === "f64" || !args.every((a) => a.kind === "const")) return bound;
  return { kind: "const", ty: expr.ty, value: fold(bound, unreachable) };
}

/** Arithmetic whose modes are a constant, as simpler arithmetic, if these are the usual modes. */
function withoutModes(expr: Extract<Expr, { kind: "prim" }>): Expr {
  const [control, ...operands] = expr.args;
  if (control?.kind !== "const" || control.ty !== "i32") return expr;
  const prim = inModes(expr.prim, control.value as number);
  if (prim === undefined) return expr;
  return prim === null ? operands[0]! : kit.op(prim as PrimName, ...operands);
}

/** Simplifies a sum with a zero, which is common in addresses; null if `prim` is not such a sum. */
function otherThanZero(prim: PrimName, [a, b]: readonly Expr[]): Expr | null {
  if (prim !== "i32.add" && prim !== "i64.add") return null;
  const isZero = (term: Expr): boolean => term.kind === "const" && Number(term.value) === 0;
  return isZero(b!) ? a! : isZero(a!) ? b! : null;
}

/** An unsigned quotient by a power of two, or a rest, as a shift or a mask; null if it is not one. */
function dividedByPower(prim: PrimName, [value, by]: readonly Expr[]): Expr | null {
  const isRest = prim === "i32.rem_u" || prim === "i64.rem_u";
  if ((!isRest && prim !== "i32.div_u" && prim !== "i64.div_u") || by?.kind !== "const") return null;
  const divisor = BigInt.asUintN(by.ty === "i64" ? 64 : 32, BigInt(by.value as number | bigint));
  if (divisor === 0n || (divisor & (divisor - 1n)) !== 0n) return null;
  if (isRest) return kit.and(value!, constant(by.ty, divisor - 1n));
  return kit.shr(value!, kit.i32(divisor.toString(2).length - 1), false);
}

/** Reads half of a 64-bit element of the byte file as an element of its own; null if `prim` does not take a half. */
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
 * Returns an expression for the bits of a value that avoids floating-point values where possible: moving a NaN keeps
 * its payload, computing one does not. A computed value stays a float, and its NaN is made canonical when it is stored.
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

/** Splits an expression into a base and a constant number of bytes. */
export function splitOffset(expr: Expr): { readonly base: Expr | null; readonly offset: bigint } {
  if (expr.kind === "const") return { base: null, offset: BigInt(expr.value as number | bigint) };
  if (expr.kind === "prim" && (expr.prim === "i64.add" || expr.prim === "i32.add")) {
    const [a, b] = [splitOffset(expr.args[0]!), splitOffset(expr.args[1]!)];
    if (b.base === null) return { base: a.base, offset: a.offset + b.offset };
    if (a.base === null) return { base: b.base, offset: a.offset + b.offset };
  }
  return { base: expr, offset: 0n };
}
