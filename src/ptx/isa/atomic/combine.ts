import { type Access, atAddress, type Op } from "../../../ir/index.ts";
import type { Expr, Kit, Ty } from "../../../semantics/index.ts";
import { typeInfo } from "../../types.ts";
import type { OperandAccess } from "../define.ts";
import { extremum } from "../float/min-max.ts";
import { arithmetic, type HalfType, perElement, throughF32 } from "../half/half-type.ts";
import { accessOf } from "../memory/access.ts";

export const operations = ["and", "or", "xor", "exch", "add", "inc", "dec", "min", "max"] as const;
type Operation = (typeof operations)[number];
export const scalarTypes = ["b32", "b64", "u32", "u64", "s32", "s64", "f32", "f64"] as const;

const bitTypes = ["b32", "b64"];
const orderedTypes = ["u32", "s32", "u64", "s64"];
const typesOf: Readonly<Record<Operation, readonly string[]>> = {
  and: bitTypes,
  or: bitTypes,
  xor: bitTypes,
  exch: bitTypes,
  add: ["u32", "s32", "u64", "f32", "f64"],
  inc: ["u32"],
  dec: ["u32"],
  min: orderedTypes,
  max: orderedTypes,
};

interface AtomicModifiers {
  readonly op: Operation;
  readonly type: string;
  readonly space?: string | undefined;
  readonly "L2::cache_hint"?: boolean;
}

/** Why 9.7.13.5 and 9.7.13.6 do not allow these modifiers of a scalar operation, or null. */
export function atomicProblem(m: AtomicModifiers): string | null {
  const types = typesOf[m.op];
  if (!types.includes(m.type)) {
    return `'.${m.op}' takes ${types.map((type) => `'.${type}'`).join(" ")}, not '.${m.type}'`;
  }
  return hintProblem(m);
}

export const hintProblem = (m: Pick<AtomicModifiers, "space" | "L2::cache_hint">): string | null =>
  m["L2::cache_hint"] && m.space !== undefined && m.space !== "global"
    ? "'.L2::cache_hint' needs '.global' or a generic address"
    : null;

/** The modifier `.sem`, which defaults to relaxed. */
export type AtomicOrder = Exclude<Access["order"], "weak">;

/** The modifiers that describe the access of an atomic operation. */
export interface AtomicAccess {
  readonly type: string;
  readonly space?: string | undefined;
  readonly vec?: string | undefined;
  readonly sem?: AtomicOrder | undefined;
  readonly scope?: NonNullable<Access["scope"]> | undefined;
}

/** The old value of an element, with the type in which rows compute. */
const old = (type: string, index: number): Expr => {
  const { bits } = typeInfo(type)!;
  const ty: Ty = type === "f32" || type === "f64" ? type : bits > 32 ? "i64" : "i32";
  return { kind: "old", ty, index };
};

/** An atomic operation that replaces each element by `combine` of its old value and the element of `b`. */
export function atomic(
  m: AtomicAccess,
  address: Expr,
  ops: OperandAccess,
  combine: (old: Expr, b: Expr, index: number) => Expr,
): Op {
  const access = accessOf({ ...m, ss: m.space }, { order: m.sem ?? "relaxed", scope: m.scope ?? "gpu" });
  const values = ops.vector("b").map((b, i) => combine(old(m.type === "b128" ? "b64" : m.type, i), b, i));
  return { kind: "atomic", access, place: atAddress(address), combine: values };
}

/** The manual's `operation(r, s)` on scalars. */
export function combined(k: Kit, m: Pick<AtomicModifiers, "op" | "type" | "space">, r: Expr, s: Expr): Expr {
  const signed = m.type.startsWith("s");
  switch (m.op) {
    case "and":
      return k.and(r, s);
    case "or":
      return k.or(r, s);
    case "xor":
      return k.xor(r, s);
    case "exch":
      return s;
    case "add":
      return m.type === "f32" ? addF32(k, m.space, r, s) : k.add(r, s);
    case "inc":
      return k.select(k.le(s, r, false), k.i32(0), k.add(r, k.i32(1)));
    case "dec":
      return k.select(k.op("pred.or", k.eq(r, k.i32(0)), k.lt(s, r, false)), s, k.sub(r, k.i32(1)));
    case "min":
      return k.min(r, s, signed);
    case "max":
      return k.max(r, s, signed);
  }
}

/**
 * Addition of f32: global memory flushes subnormal numbers, shared memory does not. A generic address is treated as a
 * global one.
 */
export function addF32(k: Kit, space: string | undefined, r: Expr, s: Expr): Expr {
  if (space?.startsWith("shared")) return k.add(r, s);
  const flush = (value: Expr) => k.op("f32.ftz", value);
  return flush(k.add(flush(r), flush(s)));
}

/** Half-precision operations, which keep subnormal numbers (`.noftz`). */
export const combinedHalf = (k: Kit, op: "add" | "min" | "max", type: HalfType, r: Expr, s: Expr): Expr =>
  perElement(k, type, [r, s], (...elements) =>
    op === "add"
      ? arithmetic(k, "add", type, ...elements)
      : throughF32(k, type, elements, (...values) => extremum(k, op, false, values)),
  );
