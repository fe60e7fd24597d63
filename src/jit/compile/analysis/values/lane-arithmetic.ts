import { readsOf, writesOf } from "../../../../ir/flow/accesses.ts";
import type { Expr } from "../../../../semantics/index.ts";
import type { UniformityAnalysis } from "./uniformity.ts";

/**
 * Finds values that follow from lane numbers by arithmetic alone. Lanes with such addresses often access neighbouring
 * words; addresses that depend on loaded values could be anywhere.
 */
export class LaneArithmetic {
  readonly #analysis: UniformityAnalysis;
  /** Registers that differ from lane to lane, and depend on what has been loaded or received. */
  #foreign: Set<number> | null = null;

  constructor(analysis: UniformityAnalysis) {
    this.#analysis = analysis;
  }

  is(expr: Expr): boolean {
    this.#foreign ??= this.#find();
    switch (expr.kind) {
      case "reg":
        return !this.#foreign.has(expr.reg);
      case "prim":
        return expr.args.every((arg) => this.is(arg));
      default:
        return expr.kind === "const" || expr.kind === "special";
    }
  }

  #find(): Set<number> {
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
    for (let size = -1; size < found.size; ) {
      size = found.size;
      for (const instruction of code.instructions) {
        depends = instruction.op.kind !== "pure";
        if (!depends && found.size > 0) readsOf(instruction, visitor);
        if (depends) writesOf(instruction, write);
      }
    }
    return found;
  }
}
