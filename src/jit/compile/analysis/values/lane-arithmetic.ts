import { readsOf, writesOf } from "../../../../ir/flow/accesses.ts";
import type { Instruction } from "../../../../ir/index.ts";
import { type Expr, registersOf } from "../../../../semantics/index.ts";
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
