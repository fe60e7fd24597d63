import type { Expr } from "../../../../semantics/index.ts";
import { primOf } from "../../../../semantics/prims/index.ts";
import type { Ty, Value } from "../../../../semantics/types.ts";

/** A value of each thread of a block; a single one if it is the same in all of them. */
type Column = readonly Value[];

/** What an expression is in the threads of a block. */
export interface Known {
  readonly ty: Ty;
  readonly column: Column;
  /** Of how many low bits of a word the value is known; null: of all. */
  readonly low: number | null;
}

/** What a register holds: equal ones have the same number. */
export interface Held extends Known {
  readonly id: number;
}

const words = /^i32\.(add|sub|and|or|xor|mul|shl)$/;

/** What registers hold, each number or column of numbers once. */
export class HeldValues {
  readonly #known = new Map<string, Held>();

  of({ ty, column, low }: Known): Held {
    const text = `${ty} ${low} ${column.join()}`;
    let held = this.#known.get(text);
    if (held === undefined) this.#known.set(text, (held = { id: this.#known.size, ty, column, low }));
    return held;
  }
}

/** A value of each thread, as one value if all are the same. */
export const knownFrom = (ty: Ty, values: Column, low: number | null = null): Known => ({
  ty,
  column: values.every((value) => value === values[0]) ? values.slice(0, 1) : values,
  low,
});

/** Of words, so many low bits; null where not so many are known. */
export function lowBitsOf({ ty, column, low }: Known, count: number): Known | null {
  if (ty !== "i32" || (low ?? 32) < count) return null;
  return knownFrom(
    ty,
    (column as readonly number[]).map((value) => value & (2 ** count - 1)),
    count,
  );
}

/** The result of an operation; null where it is not known. */
export function resultOf({ prim, ty }: Extract<Expr, { kind: "prim" }>, args: readonly Known[]): Known | null {
  const low = args.every((arg) => arg.low === null) ? null : lowAfter(prim, args);
  if (low === undefined) return null;
  const evaluate = primOf(prim).eval as (...values: Value[]) => Value;
  const length = Math.max(1, ...args.map(({ column }) => column.length));
  const [a, b, ...others] = args.map(({ column }) => (column.length === length ? column : column[0]!));
  const of = (arg: Column | Value, t: number): Value => (typeof arg === "object" ? arg[t]! : arg);
  const column: Value[] = [];
  for (let t = 0; t < length; t++) {
    if (a === undefined) column.push(evaluate());
    else if (b === undefined) column.push(evaluate(of(a, t)));
    else if (others.length === 0) column.push(evaluate(of(a, t), of(b, t)));
    else column.push(evaluate(of(a, t), of(b, t), ...others.map((arg) => of(arg, t))));
  }
  const known = knownFrom(ty, column);
  return low === null || low >= 32 ? known : lowBitsOf(known, low);
}

/** Of how many low bits a result is known, where those of some operand are; undefined: none. */
function lowAfter(prim: string, args: readonly Known[]): number | null | undefined {
  const operation = words.exec(prim)?.[1];
  if (operation === undefined) return undefined;
  const [a, b] = args as readonly [Known, Known];
  const least = Math.min(a.low ?? 32, b.low ?? 32);
  if (operation === "and") {
    const masks = [a, b].filter((arg) => arg.low === null).flatMap(({ column }) => column as readonly number[]);
    return masks.length > 0 && masks.every((mask) => mask >= 0 && mask < 2 ** least) ? null : least;
  }
  if (operation === "shl") {
    const [count, other] = b.column;
    return b.low === null && other === undefined ? least + ((count as number) & 31) : undefined;
  }
  return least;
}
