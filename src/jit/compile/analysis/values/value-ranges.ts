import { writesOf } from "../../../../ir/flow/accesses.ts";
import type { Instruction } from "../../../../ir/index.ts";
import type { Dim3 } from "../../../../machine/reports/report.ts";
import type { Expr } from "../../../../semantics/index.ts";
import { maxThreads } from "../../../abi/launch-shape.ts";
import { type Dimension, dimensions, isDimension } from "./special-registers.ts";
import type { UniformityAnalysis } from "./uniformity.ts";

/** Bounds of a value as an unsigned number, and a power of two of which it is a multiple. */
export interface Range {
  readonly min: number;
  /** Infinity for a 64-bit value without a known bound. */
  readonly max: number;
  readonly align: number;
}

/** Larger numbers count as infinity; below, sums and products are exact. */
const maxMagnitude = 2 ** 48;

const maxAlign = 2 ** 30;

const full = (ty: Expr["ty"], align = 1): Range => ({
  min: 0,
  max: ty === "i32" ? 2 ** 32 - align : Number.POSITIVE_INFINITY,
  align,
});

/** A range of results, unless some may wrap around: then only the alignment is known. */
function within(ty: Expr["ty"], min: number, max: number, align: number): Range {
  const end = ty === "i32" ? 2 ** 32 : maxMagnitude;
  return min >= 0 && max < end ? { min, max, align } : full(ty, align);
}

/**
 * Value ranges: bounds of what lanes compute, as far as instructions show it: of values that are masked, shifted, or
 * loaded as bytes. They hold for lanes that have executed the instructions in question.
 */
export class ValueRanges {
  readonly #analysis: Pick<UniformityAnalysis, "code">;
  readonly #block: Dim3 | null;
  /** By register, its only writer. */
  readonly #writers = new Map<number, Instruction>();
  readonly #registers = new Map<number, Range>();
  readonly #memo = new Map<Expr, Range>();

  /** `block`: the threads of a block, where they are known. */
  constructor(analysis: Pick<UniformityAnalysis, "code">, block: Dim3 | null) {
    this.#analysis = analysis;
    this.#block = block;
    const { instructions, writes, liveness } = analysis.code;
    const readFirst = liveness.liveIn(0);
    for (const instruction of instructions) {
      writesOf(instruction, (r) => {
        if (writes[r] === 1 && !readFirst.has(r)) this.#writers.set(r, instruction);
      });
    }
  }

  /** The range of an expression of type i32 or i64. */
  of(expr: Expr): Range {
    switch (expr.kind) {
      case "const": {
        if (typeof expr.value === "boolean") return full(expr.ty);
        const value = Number(BigInt.asUintN(expr.ty === "i32" ? 32 : 64, BigInt(expr.value)));
        return value > maxMagnitude ? full(expr.ty) : { min: value, max: value, align: alignOf(value) };
      }
      case "reg":
        return this.#inRegister(expr.reg, expr.ty);
      case "special":
        return isDimension(expr.name) ? this.#ofThreads(expr.name) : full(expr.ty);
      case "prim": {
        let range = this.#memo.get(expr);
        if (range === undefined) this.#memo.set(expr, (range = this.#ofPrim(expr)));
        return range;
      }
      default:
        return full(expr.ty);
    }
  }

  #ofThreads(name: Dimension): Range {
    const threads = this.#block?.[dimensions.indexOf(name)] ?? maxThreads;
    return { min: 0, max: threads - 1, align: 1 };
  }

  #inRegister(register: number, ty: Expr["ty"]): Range {
    const known = this.#registers.get(register);
    if (known !== undefined) return known;
    // A register that is computed from itself may be anything.
    this.#registers.set(register, full(ty));
    const writer = this.#writers.get(register);
    const { bits } = this.#analysis.code.ir.registers[register]!;
    const found = writer === undefined ? full(ty) : this.#written(writer, register, ty);
    const range = bits < 32 && found.max >= 2 ** bits ? { min: 0, max: 2 ** bits - 1, align: 1 } : found;
    this.#registers.set(register, range);
    return range;
  }

  #written({ op, dst }: Instruction, register: number, ty: Expr["ty"]): Range {
    if (op.kind === "load" && !op.access.signed && op.access.bits < 32) {
      return { min: 0, max: 2 ** op.access.bits - 1, align: 1 };
    }
    if (op.kind !== "pure") return full(ty);
    const value = op.values[dst.indexOf(register)]!;
    return value.ty === ty ? this.of(value) : full(ty);
  }

  #ofPrim({ prim, args, ty }: Extract<Expr, { kind: "prim" }>): Range {
    const [kind, name] = prim.split(".", 2) as [string, string];
    if (kind !== "i32" && kind !== "i64") return full(ty);
    if (name.startsWith("select")) return this.#union(args[1]!, args[2]!);
    const [a, b] = args.map((arg) => (arg.ty === "i32" || arg.ty === "i64" ? this.of(arg) : full(arg.ty)));
    if (a === undefined) return full(ty);
    switch (name) {
      case "extend_i32_u":
        return a;
      case "extend_i32_s":
        return a.max < 2 ** 31 ? a : full(ty, a.align);
      case "wrap_i64":
        return within(ty, a.min, a.max, a.align);
    }
    if (b === undefined) return full(ty);
    const common = Math.min(a.align, b.align);
    switch (name) {
      case "add":
        return within(ty, a.min + b.min, a.max + b.max, common);
      case "sub":
        return within(ty, a.min - b.max, a.max - b.min, common);
      case "mul":
        return within(ty, a.min * b.min, a.max * b.max, Math.min(maxAlign, a.align * b.align));
      case "and":
        return { min: 0, max: Math.min(a.max, b.max), align: Math.max(a.align, b.align) };
      case "or":
      case "xor":
        return within(ty, 0, Math.max(bitsUpTo(a.max), bitsUpTo(b.max)), common);
      case "rem_u":
        return b.min > 0 && b.max < maxMagnitude ? { min: 0, max: Math.min(a.max, b.max - 1), align: 1 } : full(ty);
    }
    if (b.min !== b.max || b.max > 31) return full(ty);
    const factor = 2 ** b.max;
    if (name === "shl") {
      const align = Math.min(maxAlign, a.align * factor);
      return within(ty, a.min * factor, a.max * factor, align);
    }
    if (name !== "shr_u" || a.max > maxMagnitude) return full(ty);
    return { min: Math.floor(a.min / factor), max: Math.floor(a.max / factor), align: 1 };
  }

  #union(x: Expr, y: Expr): Range {
    const [a, b] = [this.of(x), this.of(y)];
    return {
      min: Math.min(a.min, b.min),
      max: Math.max(a.max, b.max),
      align: Math.min(a.align, b.align),
    };
  }
}

/** The largest power of two, up to `maxAlign`, that divides a number. */
const alignOf = (value: number): number => {
  if (value === 0) return maxAlign;
  const bit = BigInt(value) & -BigInt(value);
  return Math.min(maxAlign, Number(bit));
};

/** The largest number with no more bits than another. */
const bitsUpTo = (max: number): number => (max > maxMagnitude ? max : 2 ** Math.ceil(Math.log2(max + 1)) - 1);
