import { type Expr, everyLeaf } from "../../semantics/index.ts";
import type { Instruction } from "../instruction.ts";
import type { IrFunction } from "../module.ts";

/**
 * Registers of a vISA kernel, its byte file promoted, that all active lanes of a thread have the same value of: elements
 * that lanes share, and predicates that are computed from nothing else.
 */
export class ThreadUniform {
  /** Whether every element that lanes share is computed from such elements alone, not from one lane's own value. */
  readonly holds: boolean;
  readonly #registers: Set<number>;

  constructor(ir: IrFunction) {
    const shared = ir.registers.flatMap(({ home }, r) => (home?.lanes === null ? [r] : []));
    const predicates = ir.registers.flatMap((register, r) => (register.class === "pred" ? [r] : []));
    this.#registers = new Set([...shared, ...predicates]);
    // From the best case on, until nothing changes.
    for (let changed = true; changed; ) {
      changed = false;
      for (const instruction of ir.instructions) {
        if (this.#isUniform(instruction)) continue;
        for (const to of instruction.dst) if (typeof to === "number" && this.#registers.delete(to)) changed = true;
      }
    }
    this.holds = shared.every((r) => this.#registers.has(r));
  }

  has(register: number): boolean {
    return this.#registers.has(register);
  }

  /** Whether an instruction gives its results the same value in all active lanes. */
  #isUniform({ op, guard, lanes }: Instruction): boolean {
    if (guard !== null && !this.#registers.has(guard.register)) return false;
    const isPart = lanes !== undefined && lanes.count > 1 && lanes.first > 0;
    if (isPart) return false;
    if (op.kind === "pure") return op.values.every((value) => this.#isSame(value));
    return op.kind === "load" && this.#isSame(op.place.kind === "address" ? op.place.address : op.place.offset);
  }

  #isSame(expr: Expr): boolean {
    return everyLeaf(expr, (leaf) => {
      switch (leaf.kind) {
        case "const":
        case "symbol":
          return true;
        case "reg":
          return this.#registers.has(leaf.reg);
        case "special":
        case "frame":
        case "old":
        case "region":
        case "indirect":
        case "lane-word":
          return false;
      }
    });
  }
}
