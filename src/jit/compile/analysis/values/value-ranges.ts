import { writesOf } from "../../../../ir/flow/accesses.ts";
import type { Instruction } from "../../../../ir/index.ts";
import type { Expr } from "../../../../semantics/index.ts";
import type { UniformityAnalysis } from "./uniformity.ts";

/** What a value can be, as a number without sign: from the least to the most, and a multiple of a power of two. */
export interface Range {
  readonly least: number;
  /** Infinity where nothing is known of 64 bits. */
  readonly most: number;
  readonly align: number;
}

/** Larger numbers are not told from infinity: below, sums and products are exact. */
const maxMagnitude = 2 ** 48;

const maxAlign = 2 ** 30;

const full = (ty: Expr["ty"], align = 1): Range => ({
  least: 0,
  most: ty === "i32" ? 2 ** 32 - align : Number.POSITIVE_INFINITY,
  align,
});

/** A range of results, if none of them leaves the type's numbers; else only the alignment stays. */
function within(ty: Expr["ty"], least: number, most: number, align: number): Range {
  const end = ty === "i32" ? 2 ** 32 : maxMagnitude;
  return least >= 0 && most < end ? { least, most, align } : full(ty, align);
}

/**
 * Bounds of the values that lanes compute, as far as instructions show them: of what is masked, shifted, or loaded as a
 * byte. They hold for lanes that have executed what they read.
 */
export class ValueRanges {
  readonly #analysis: Pick<UniformityAnalysis, "code">;
  /** By register, the only instruction that writes it. */
  readonly #writers = new Map<number, Instruction>();
  readonly #registers = new Map<number, Range>();
  readonly #memo = new Map<Expr, Range>();

  constructor(analysis: Pick<UniformityAnalysis, "code">) {
    this.#analysis = analysis;
    const { instructions, writes, liveness } = analysis.code;
    const readFirst = liveness.liveIn(0);
    for (const instruction of instructions) {
      writesOf(instruction, (r) => {
        if (writes[r] === 1 && !readFirst.has(r)) this.#writers.set(r, instruction);
      });
    }
  }

  /** Of an expression of words or double words. */
  of(expr: Expr): Range {
    switch (expr.kind) {
      case "const": {
        if (typeof expr.value === "boolean") return full(expr.ty);
        const value = Number(BigInt.asUintN(expr.ty === "i32" ? 32 : 64, BigInt(expr.value)));
        return value > maxMagnitude ? full(expr.ty) : { least: value, most: value, align: alignOf(value) };
      }
      case "reg":
        return this.#inRegister(expr.reg, expr.ty);
      case "special":
        return /^tid\./.test(expr.name) ? { least: 0, most: 1023, align: 1 } : full(expr.ty);
      case "prim": {
        let range = this.#memo.get(expr);
        if (range === undefined) this.#memo.set(expr, (range = this.#ofPrim(expr)));
        return range;
      }
      default:
        return full(expr.ty);
    }
  }

  #inRegister(register: number, ty: Expr["ty"]): Range {
    const known = this.#registers.get(register);
    if (known !== undefined) return known;
    // A register that its own value is made of may be anything.
    this.#registers.set(register, full(ty));
    const writer = this.#writers.get(register);
    const { bits } = this.#analysis.code.ir.registers[register]!;
    const found = writer === undefined ? full(ty) : this.#written(writer, register, ty);
    const range = bits < 32 && found.most >= 2 ** bits ? { least: 0, most: 2 ** bits - 1, align: 1 } : found;
    this.#registers.set(register, range);
    return range;
  }

  #written({ op, dst }: Instruction, register: number, ty: Expr["ty"]): Range {
    if (op.kind === "load" && !op.access.signed && op.access.bits < 32) {
      return { least: 0, most: 2 ** op.access.bits - 1, align: 1 };
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
        return a.most < 2 ** 31 ? a : full(ty, a.align);
      case "wrap_i64":
        return within(ty, a.least, a.most, a.align);
    }
    if (b === undefined) return full(ty);
    const least = Math.min(a.align, b.align);
    switch (name) {
      case "add":
        return within(ty, a.least + b.least, a.most + b.most, least);
      case "sub":
        return within(ty, a.least - b.most, a.most - b.least, least);
      case "mul":
        return within(ty, a.least * b.least, a.most * b.most, Math.min(maxAlign, a.align * b.align));
      case "and":
        return { least: 0, most: Math.min(a.most, b.most), align: Math.max(a.align, b.align) };
      case "or":
      case "xor":
        return within(ty, 0, Math.max(bitsUpTo(a.most), bitsUpTo(b.most)), least);
      case "rem_u":
        return b.least > 0 && b.most < maxMagnitude
          ? { least: 0, most: Math.min(a.most, b.most - 1), align: 1 }
          : full(ty);
    }
    if (b.least !== b.most || b.most > 31) return full(ty);
    const factor = 2 ** b.most;
    if (name === "shl") {
      const align = Math.min(maxAlign, a.align * factor);
      return within(ty, a.least * factor, a.most * factor, align);
    }
    if (name !== "shr_u" || a.most > maxMagnitude) return full(ty);
    return { least: Math.floor(a.least / factor), most: Math.floor(a.most / factor), align: 1 };
  }

  #union(x: Expr, y: Expr): Range {
    const [a, b] = [this.of(x), this.of(y)];
    return {
      least: Math.min(a.least, b.least),
      most: Math.max(a.most, b.most),
      align: Math.min(a.align, b.align),
    };
  }
}

/** The largest power of two that a number is a multiple of. */
const alignOf = (value: number): number => {
  if (value === 0) return maxAlign;
  const bit = BigInt(value) & -BigInt(value);
  return Math.min(maxAlign, Number(bit));
};

/** All bits up to the highest of a number. */
const bitsUpTo = (most: number): number => (most > maxMagnitude ? most : 2 ** Math.ceil(Math.log2(most + 1)) - 1);
