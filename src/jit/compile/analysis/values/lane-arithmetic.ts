import { readsOf, writesOf } from "../../../../ir/flow/accesses.ts";
import type { Instruction } from "../../../../ir/index.ts";
import { type Expr, registersOf } from "../../../../semantics/index.ts";
import { strideOf } from "../../../../ir/uniformity/shape.ts";
import { soleValuesOf } from "./single-values.ts";
import type { UniformityAnalysis } from "./uniformity.ts";

/**
 * Finds values that follow from lane numbers by arithmetic alone. Lanes with such addresses often access neighbouring
 * words; addresses that depend on loaded values could be anywhere.
 */
export class LaneArithmetic {
  readonly #analysis: UniformityAnalysis;
  /** Registers that differ from lane to lane, and depend on what has been loaded or received. */
  #foreign: Set<number> | null = null;
  /** Registers that a selection has bent. */
  #bent: Set<number> | null = null;
  /** By register that is written by one instruction, before it is read, its value. */
  #values: ReadonlyMap<number, Expr> | null = null;
  /** By such a register, its step. */
  readonly #steps = new Map<number, number>();

  constructor(analysis: UniformityAnalysis) {
    this.#analysis = analysis;
  }

  is(expr: Expr): boolean {
    this.#foreign ??= this.#find(({ op }) => op.kind !== "pure");
    switch (expr.kind) {
      case "reg":
        return !this.#foreign.has(expr.reg);
      case "prim":
        return expr.args.every((arg) => this.is(arg));
      default:
        return expr.kind === "const" || expr.kind === "special";
    }
  }

  /**
   * Whether lanes with such addresses may access words of some bytes that are next to each other. They do not where the
   * address grows by more from lane to lane, but for what is written in several places, as a counter: that mostly is
   * the same in all of them.
   */
  mayAdjoin(address: Expr, bytes: number): boolean {
    if (!this.is(address)) return false;
    const step = Math.abs(this.#stepOf(address));
    return Number.isNaN(step) || step === 0 || step === bytes;
  }

  /** By how much a sum grows from lane to lane without what is written in several places; NaN: unevenly. */
  #stepOf(expr: Expr): number {
    const stride = strideOf(this.#analysis.shape(expr));
    if (stride !== null) return stride;
    if (expr.kind === "reg") {
      let step = this.#steps.get(expr.reg);
      if (step === undefined) {
        const value = (this.#values ??= soleValuesOf(this.#analysis.code)).get(expr.reg);
        this.#steps.set(expr.reg, (step = value === undefined ? 0 : this.#stepOf(value)));
      }
      return step;
    }
    if (expr.kind !== "prim") return NaN;
    const [a, b] = expr.args;
    switch (expr.prim.slice(4)) {
      case "add":
        return this.#stepOf(a!) + this.#stepOf(b!);
      case "sub":
        return this.#stepOf(a!) - this.#stepOf(b!);
      case "shl":
        return b!.kind === "const" ? this.#stepOf(a!) * 2 ** (Number(b.value) % 32) : NaN;
      case "mul":
        return b!.kind === "const" ? this.#stepOf(a!) * Number(b.value) : NaN;
      case "extend_i32_s":
      case "extend_i32_u":
      case "wrap_i64":
        return this.#stepOf(a!);
      default:
        return NaN;
    }
  }

  /**
   * Whether a value is one of these, and follows lane numbers but for some that are clamped: then mostly those of a
   * whole chunk follow each other.
   */
  isBent(expr: Expr): boolean {
    this.#bent ??= this.#find((instruction) => instruction.op.kind === "pure" && instruction.op.values.some(bends));
    return this.is(expr) && (bends(expr) || registersOf(expr).some((r) => this.#bent!.has(r)));
  }

  /** The registers that differ from lane to lane, and that some instructions write, or others that depend on these. */
  #find(isSource: (instruction: Instruction) => boolean): Set<number> {
    const { code, register } = this.#analysis;
    const found = new Set<number>();
    let depends = false;
    const visitor = {
      register: (r: number): void => {
        depends ||= found.has(r);
      },
    };
    const write = (r: number): void => {
      if (register(r).kind !== "uniform") found.add(r);
    };
    /** Those that have not been found to depend on any. */
    let others = code.instructions;
    for (let size = -1; size < found.size; ) {
      size = found.size;
      others = others.filter((instruction) => {
        depends = isSource(instruction);
        if (!depends && found.size > 0) readsOf(instruction, visitor);
        if (depends) writesOf(instruction, write);
        return !depends;
      });
    }
    return found;
  }
}

/** Whether an expression selects one of two values, as clamps do. */
const bends = (expr: Expr): boolean => expr.kind === "prim" && (expr.prim === "i32.select" || expr.args.some(bends));
