import { type Expr, everyLeaf } from "../../semantics/index.ts";
import type { Instruction } from "../instruction.ts";
import type { IrFunction } from "../module.ts";

/**
 * Registers of a vISA kernel, its byte file promoted, that all active lanes of a thread have the same value of:
 * elements that lanes share, and predicates that are computed from nothing else.
 */
export class ThreadUniform {
  /** Whether every element that lanes share is computed from such elements alone, not from one lane's own value. */
  readonly holds: boolean;
  readonly #registers: Set<number>;

  constructor(ir: IrFunction) {
    const shared = ir.registers.flatMap(({ home }, r) => (home?.lanes === null ? [r] : []));
    const others = ir.registers.flatMap(({ home }, r) => (home === undefined ? [r] : []));
    this.#registers = new Set([...shared, ...others]);
    // From the best case on, until nothing changes.
    for (let changed = true; changed; ) {
      changed = false;
      for (const instruction of ir.instructions) {
        const { dst } = instruction;
        for (let i = 0; i < dst.length; i++) {
          const to = dst[i];
          if (typeof to !== "number" || !this.#registers.has(to) || this.#isUniform(instruction, i)) continue;
          this.#registers.delete(to);
          changed = true;
        }
      }
    }
    this.holds = shared.every((r) => this.#registers.has(r));
  }

  has(register: number): boolean {
    return this.#registers.has(register);
  }

  /** Whether an instruction gives a result the same value in all active lanes. */
  #isUniform({ op, guard, lanes }: Instruction, result: number): boolean {
    if (guard !== null && !this.#registers.has(guard.register)) return false;
    const isPart = lanes !== undefined && lanes.count > 1 && lanes.first > 0;
    if (isPart) return false;
    if (op.kind === "pure") return this.isSame(op.values[result]!);
    if (op.kind === "warp") {
      const { warp } = op;
      return warp.op === "shfl" ? this.isSame(warp.operands[1]) : warp.op === "elect" && result === 0;
    }
    return op.kind === "load" && this.isSame(op.place.kind === "address" ? op.place.address : op.place.offset);
  }

  /** Whether an expression has the same value in all active lanes. */
  isSame(expr: Expr): boolean {
    return everyLeaf(expr, (leaf) => {
      switch (leaf.kind) {
        case "const":
        case "symbol":
        case "lane-word":
          return true;
        case "reg":
          return this.#registers.has(leaf.reg);
        case "special":
        case "frame":
        case "old":
        case "region":
        case "indirect":
          return false;
      }
    });
  }
}
