import { readsOf, writesOf } from "../ir/flow/accesses.ts";
import type { Expr } from "../semantics/index.ts";
import type { Analysis } from "./analysis.ts";

/**
 * Tells which values follow from the numbers of the lanes by arithmetic alone. Addresses that do are often those of neighbours,
 * where what has been loaded could be anything.
 */
export class Computed {
  readonly #analysis: Analysis;
  /** Registers that differ from lane to lane by what has come from elsewhere. */
  #others: Set<number> | null = null;

  constructor(analysis: Analysis) {
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
    for (let size = -1; size < found.size; ) {
      size = found.size;
      for (const instruction of code.instructions) {
        let hangs = instruction.op.kind !== "pure";
        if (!hangs) {
          readsOf(instruction, {
            register: (r) => {
              hangs ||= found.has(r);
            },
          });
        }
        if (!hangs) continue;
        writesOf(instruction, (r) => {
          if (register(r).kind !== "uniform") found.add(r);
        });
      }
    }
    return found;
  }
}
