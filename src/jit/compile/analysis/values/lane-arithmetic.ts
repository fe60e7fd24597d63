import { readsOf, writesOf } from "../../../../ir/flow/accesses.ts";
import type { Expr } from "../../../../semantics/index.ts";
import type { UniformityAnalysis } from "./uniformity.ts";

/**
 * Tells which values follow from the numbers of the lanes by arithmetic alone. Addresses that do are often those of
 * neighbours, where what has been loaded could be anything.
 */
export class LaneArithmetic {
  readonly #analysis: UniformityAnalysis;
  /** Registers that differ from lane to lane by what has come from elsewhere. */
  #others: Set<number> | null = null;

  constructor(analysis: UniformityAnalysis) {
    this.#analysis = analysis;
  }

  is(expr: Expr): boolean {
    this.#others ??= this.#find();
    switch (expr.kind) {
      case "reg":
        return !this.#others.has(expr.reg);
      case "prim":
        return expr.args.every((arg) => this.is(arg));
      default:
        return expr.kind === "const" || expr.kind === "special";
    }
  }

  #find(): Set<number> {
    const { code, register } = this.#analysis;
    const found = new Set<number>();
    let hangs = false;
    const visitor = {
      register: (r: number): void => {
        hangs ||= found.has(r);
      },
    };
    const write = (r: number): void => {
      if (register(r).kind !== "uniform") found.add(r);
    };
    for (let size = -1; size < found.size; ) {
      size = found.size;
      for (const instruction of code.instructions) {
        hangs = instruction.op.kind !== "pure";
        if (!hangs && found.size > 0) readsOf(instruction, visitor);
        if (hangs) writesOf(instruction, write);
      }
    }
    return found;
  }
}
