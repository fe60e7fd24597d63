import { writesOf } from "../../../../ir/flow/accesses.ts";
import type { Instruction } from "../../../../ir/index.ts";
import type { Expr } from "../../../../semantics/index.ts";
import type { PreparedCode } from "../code/prepared-code.ts";

/** The integers from one to another. */
export interface Interval {
  readonly min: number;
  readonly max: number;
}

type Prim = Extract<Expr, { kind: "prim" }>;

const word: Interval = { min: -(2 ** 31), max: 2 ** 31 - 1 };

/** How often the interval of a register may grow before it counts as any. */
const maxGrowth = 4;

export const within = ({ min, max }: Interval, bits: number, signed: boolean): boolean =>
  signed ? min >= -(2 ** (bits - 1)) && max < 2 ** (bits - 1) : min >= 0 && max < 2 ** bits;

/** Any number of so many bits without a sign. */
const unsigned = (bits: number): Interval => ({ min: 0, max: 2 ** bits - 1 });
const signed = (bits: number): Interval => ({ min: -(2 ** (bits - 1)), max: 2 ** (bits - 1) - 1 });

const union = (a: Interval, b: Interval): Interval => ({ min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) });

/** A result, unless it may wrap around. */
const exact = (found: Interval): Interval => (within(found, 32, true) ? found : word);

const includes = (outer: Interval, inner: Interval): boolean => inner.min >= outer.min && inner.max <= outer.max;

/** The bits that the largest number has. */
const bitsOf = (max: number): number => Math.ceil(Math.log2(max + 1));

const constantOf = (expr: Expr): number | null =>
  expr.kind === "const" && expr.ty === "i32" ? (expr.value as number) | 0 : null;

/** A minimum or maximum, which the IR writes as a comparison and a selection. */
export interface Extremum {
  readonly name: "min" | "max";
  readonly signed: boolean;
  readonly args: readonly [Expr, Expr];
}

/** The minimum or maximum that an expression is; null if it is none. */
export function extremumOf({ prim, args }: Prim): Extremum | null {
  if (prim !== "i32.select") return null;
  const [condition, a, b] = args as readonly [Expr, Expr, Expr];
  if (condition.kind !== "prim" || !/^i32\.l[te]_[su]$/.test(condition.prim)) return null;
  const isSigned = condition.prim.endsWith("_s");
  const [x, y] = condition.args as readonly [Expr, Expr];
  if (isSame(x, a) && isSame(y, b)) return { name: "min", signed: isSigned, args: [a, b] };
  return isSame(x, b) && isSame(y, a) ? { name: "max", signed: isSigned, args: [a, b] } : null;
}

/** The number of which an expression is the absolute value; null if it is none. */
export function magnitudeOf({ prim, args }: Prim): Expr | null {
  if (prim !== "i32.select") return null;
  const [condition, negated, a] = args as readonly [Expr, Expr, Expr];
  if (condition.kind !== "prim" || condition.prim !== "i32.lt_s" || negated.kind !== "prim") return null;
  if (negated.prim !== "i32.sub" || constantOf(negated.args[0]!) !== 0 || constantOf(condition.args[1]!) !== 0)
    return null;
  return isSame(condition.args[0]!, a) && isSame(negated.args[1]!, a) ? a : null;
}

function isSame(a: Expr, b: Expr): boolean {
  if (a === b) return true;
  if (a.kind === "reg") return b.kind === "reg" && a.reg === b.reg && a.ty === b.ty;
  return a.kind === "const" && b.kind === "const" && a.ty === b.ty && a.value === b.value;
}

/**
 * The integers that values of 32 bits may be, with their sign: of what is loaded as bytes or halves, masked, compared,
 * and computed from such numbers, in registers that are written anywhere. They hold for lanes that have executed the
 * instructions in question.
 */
export class SignedRanges {
  readonly #registers: PreparedCode["ir"]["registers"];
  /** By register, an interval of integers that are equal to its values modulo 2 to the power of its width. */
  readonly #intervals: (Interval | null)[];
  readonly #memo = new Map<Expr, Interval>();

  constructor({ ir, instructions, liveness }: Pick<PreparedCode, "ir" | "instructions" | "liveness">) {
    this.#registers = ir.registers;
    this.#intervals = ir.registers.map(() => null);
    // Registers hold zeros at first.
    liveness.liveIn(0).forEach((r) => {
      this.#intervals[r] = { min: 0, max: 0 };
    });
    for (const { storage } of ir.params) {
      if (storage.kind === "register") for (const r of storage.registers) this.#intervals[r] = word;
    }
    const growth = new Uint8Array(ir.registers.length);
    let isChanged = true;
    const write = (instruction: Instruction, r: number): void => {
      const known = this.#intervals[r]!;
      const found = this.#written(instruction, r);
      if (known !== null && includes(known, found)) return;
      isChanged = true;
      growth[r]!++;
      this.#intervals[r] = growth[r]! > maxGrowth ? word : known === null ? found : union(known, found);
    };
    while (isChanged) {
      isChanged = false;
      for (const instruction of instructions) {
        this.#memo.clear();
        writesOf(instruction, (r) => write(instruction, r));
      }
    }
    this.#memo.clear();
  }

  /** What an instruction writes to a register. */
  #written({ op, dst }: Instruction, register: number): Interval {
    const { class: c, bits } = this.#registers[register]!;
    if (c !== "b32") return word;
    if (op.kind === "load" && op.access.bits < 32) {
      return op.access.signed ? signed(op.access.bits) : unsigned(op.access.bits);
    }
    const value = op.kind === "pure" ? op.values[dst.indexOf(register)] : undefined;
    if (value === undefined || value.ty !== "i32") return word;
    const found = bits < 32 ? this.modulo(value, bits) : this.of(value);
    return exact(found);
  }

  /** The integers, with their sign, that an expression of type i32 may be. */
  of(expr: Expr): Interval {
    if (expr.ty !== "i32") return word;
    switch (expr.kind) {
      case "const": {
        const value = constantOf(expr)!;
        return { min: value, max: value };
      }
      case "reg":
        return this.#inRegister(expr.reg);
      case "prim": {
        let found = this.#memo.get(expr);
        if (found === undefined) this.#memo.set(expr, (found = this.#ofPrim(expr)));
        return found;
      }
      default:
        return word;
    }
  }

  #inRegister(register: number): Interval {
    const { class: c, bits } = this.#registers[register]!;
    if (c !== "b32") return word;
    // Before the first value is found, any would do.
    const found = this.#intervals[register] ?? { min: 0, max: 0 };
    return bits < 32 && !within(found, bits, false) ? unsigned(bits) : found;
  }

  /** Integers that are equal to the values of an expression modulo 2 to the power of `bits`. */
  modulo(expr: Expr, bits: number): Interval {
    if (expr.kind === "reg" && expr.ty === "i32") {
      const { class: c, bits: own } = this.#registers[expr.reg]!;
      return c === "b32" && own >= bits ? (this.#intervals[expr.reg] ?? { min: 0, max: 0 }) : this.of(expr);
    }
    if (expr.kind !== "prim" || expr.ty !== "i32") return this.of(expr);
    const [a, b] = expr.args as readonly [Expr, Expr];
    switch (expr.prim) {
      case "i32.add":
      case "i32.sub":
      case "i32.mul":
        return arithmetic(expr.prim, this.modulo(a, bits), this.modulo(b, bits)) ?? this.of(expr);
      case "i32.and":
        return keepsLow(constantOf(b), bits) ? this.modulo(a, bits) : this.of(expr);
      case "i32.extend16_s":
        return bits <= 16 ? this.modulo(a, bits) : this.of(expr);
      case "i32.extend8_s":
        return bits <= 8 ? this.modulo(a, bits) : this.of(expr);
      default:
        return this.of(expr);
    }
  }

  /** The low bits of an expression as a number. */
  #low(expr: Expr, bits: number, isSigned: boolean): Interval {
    const found = this.modulo(expr, bits);
    if (within(found, bits, isSigned)) return found;
    return isSigned ? signed(bits) : unsigned(bits);
  }

  #ofPrim(expr: Prim): Interval {
    const { prim, args } = expr;
    const extremum = extremumOf(expr);
    if (extremum !== null) return this.#ofExtremum(extremum);
    const magnitude = magnitudeOf(expr);
    if (magnitude !== null) {
      const { min, max } = this.of(magnitude);
      return exact({ min: Math.max(0, min, -max), max: Math.max(max, -min) });
    }
    const [a, b, c] = args as readonly [Expr, Expr, Expr];
    switch (prim) {
      case "i32.select":
        return union(this.of(b), this.of(c));
      case "i32.extend8_s":
        return this.#low(a, 8, true);
      case "i32.extend16_s":
        return this.#low(a, 16, true);
      case "i32.popcnt":
      case "i32.clz":
        return { min: 0, max: 32 };
      case "i32.add":
      case "i32.sub":
      case "i32.mul":
        return exact(arithmetic(prim, this.of(a), this.of(b)) ?? word);
      case "i32.and":
        return this.#and(a, b);
      case "i32.or":
      case "i32.xor":
        return joined(prim, this.of(a), this.of(b));
      case "i32.shl":
      case "i32.shr_s":
      case "i32.shr_u":
        return this.#shift(prim, a, constantOf(b));
      case "i32.mul_high_u":
      case "i32.mul_high_s": {
        const [{ min, max }, by] = [this.of(a), factorOf(prim, b)];
        return min < 0 || by === null ? word : exact({ min: highOf(min, by), max: highOf(max, by) });
      }
      default:
        return word;
    }
  }

  #ofExtremum({ name, signed: isSigned, args }: Extremum): Interval {
    const [a, b] = args.map((arg) => this.of(arg)) as [Interval, Interval];
    if (!isSigned && (a.min < 0 || b.min < 0)) return union(a, b);
    return { min: Math[name](a.min, b.min), max: Math[name](a.max, b.max) };
  }

  #and(a: Expr, b: Expr): Interval {
    const mask = constantOf(b);
    for (const bits of [8, 16] as const) if (mask === 2 ** bits - 1) return this.#low(a, bits, false);
    const positive = [this.of(a), this.of(b)].filter(({ min }) => min >= 0);
    return positive.length === 0 ? word : { min: 0, max: Math.min(...positive.map(({ max }) => max)) };
  }

  #shift(prim: "i32.shl" | "i32.shr_s" | "i32.shr_u", a: Expr, count: number | null): Interval {
    if (count === null || count < 0 || count > 31) return word;
    const range = this.of(a);
    const factor = 2 ** count;
    if (prim === "i32.shl") return exact({ min: range.min * factor, max: range.max * factor });
    if (prim === "i32.shr_u" && range.min < 0) return count === 0 ? range : unsigned(32 - count);
    return { min: Math.floor(range.min / factor), max: Math.floor(range.max / factor) };
  }
}

/** A constant factor that is not negative, as it counts in the high half of a product; null for others. */
export function factorOf(prim: "i32.mul_high_u" | "i32.mul_high_s", expr: Expr): number | null {
  const factor = constantOf(expr);
  if (factor === null) return null;
  return prim === "i32.mul_high_u" ? factor >>> 0 : factor < 0 ? null : factor;
}

/** The high half of a product of numbers that are not negative. */
const highOf = (a: number, b: number): number => Number((BigInt(a) * BigInt(b)) >> 32n);

/**
 * The factor by which the high half of a product of halves is that of a product of words, for all numbers up to one;
 * null if there is none. Compilers divide by constants in this way.
 */
export function halfFactor(factor: number, max: number): number | null {
  const found = Math.ceil(factor / 2 ** 16);
  if (found >= 2 ** 16 || max >= 2 ** 16) return null;
  for (let x = 1; x <= max; x++) {
    if (Math.floor((x * factor) / 2 ** 32) !== Math.floor((x * found) / 2 ** 16)) return null;
  }
  return found;
}

/** Whether a mask keeps all low bits. */
export const keepsLow = (mask: number | null, bits: number): boolean =>
  mask !== null && (mask & (2 ** bits - 1)) === 2 ** bits - 1;

/** Sums, differences and products, unless they are too large to be exact. */
function arithmetic(prim: "i32.add" | "i32.sub" | "i32.mul", a: Interval, b: Interval): Interval | null {
  const found =
    prim === "i32.add"
      ? { min: a.min + b.min, max: a.max + b.max }
      : prim === "i32.sub"
        ? { min: a.min - b.max, max: a.max - b.min }
        : product(a, b);
  return Math.max(Math.abs(found.min), Math.abs(found.max)) < 2 ** 48 ? found : null;
}

function product(a: Interval, b: Interval): Interval {
  const ends = [a.min * b.min, a.min * b.max, a.max * b.min, a.max * b.max];
  return { min: Math.min(...ends), max: Math.max(...ends) };
}

/** The bits that at least one has, or exactly one. */
function joined(prim: "i32.or" | "i32.xor", a: Interval, b: Interval): Interval {
  const min = prim === "i32.or" ? Math.max(a.min, b.min) : 0;
  if (a.min >= 0 && b.min >= 0) return exact({ min, max: 2 ** bitsOf(Math.max(a.max, b.max)) - 1 });
  for (const bits of [8, 16]) if (within(a, bits, true) && within(b, bits, true)) return signed(bits);
  return word;
}
