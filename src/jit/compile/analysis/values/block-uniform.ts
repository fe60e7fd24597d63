import { writesOf } from "../../../../ir/flow/accesses.ts";
import { postDominatorsOf } from "../../../../ir/flow/index.ts";
import { type Instruction, laneAddressOf } from "../../../../ir/index.ts";
import { type Expr, everyLeaf } from "../../../../semantics/index.ts";
import type { PreparedCode } from "../code/prepared-code.ts";
import { isSameInBlock } from "./special-registers.ts";

/**
 * Registers that have the same value in all threads of a block: computed from parameters, constants, block ids and what
 * barriers reduce.
 */
export class BlockUniform {
  readonly #code: PreparedCode;
  readonly #registers: Set<number>;

  constructor(code: PreparedCode) {
    this.#code = code;
    this.#registers = new Set(code.ir.registers.keys());
    const { graph, instructions } = code;
    const meeting = postDominatorsOf(graph);
    // From the best case on, until nothing changes.
    for (let changed = true; changed; ) {
      changed = false;
      const apart = this.#apart(meeting);
      for (const { index, start, end } of graph.blocks) {
        for (let i = start; i < end; i++) {
          const instruction = instructions[i]!;
          if (!apart.has(index) && this.#isSame(instruction)) continue;
          writesOf(instruction, (r) => {
            if (this.#registers.delete(r)) changed = true;
          });
        }
      }
    }
  }

  has(register: number): boolean {
    return this.#registers.has(register);
  }

  /** Whether all threads of the block that come to the end of a basic block go the same way. */
  decides(block: number): boolean {
    const { guard, op } = this.#code.instructions[this.#code.graph.blocks[block]!.end - 1]!;
    if (op.kind === "branch-indexed") return this.#isSameValue(op.index);
    return guard === null || this.#registers.has(guard.register);
  }

  /** Blocks that some threads come to and others not, or not as often. */
  #apart(meeting: Int32Array): ReadonlySet<number> {
    const { blocks } = this.#code.graph;
    const apart = new Set<number>();
    for (const { index, successors } of blocks) {
      if (successors.length < 2 || this.decides(index)) continue;
      const seen = new Set<number>();
      const todo = successors.filter((s) => s !== meeting[index]);
      for (let b = todo.pop(); b !== undefined; b = todo.pop()) {
        if (b >= blocks.length || seen.has(b)) continue;
        seen.add(b);
        apart.add(b);
        for (const s of blocks[b]!.successors) if (s !== meeting[index]) todo.push(s);
      }
    }
    return apart;
  }

  #isSame({ op, guard, lanes }: Instruction): boolean {
    if (guard !== null && !this.#registers.has(guard.register)) return false;
    // All threads of the block take part in the reduction, and learn its result.
    if (op.kind === "barrier") return op.reduce !== null && op.count === null && lanes === undefined;
    if (op.kind === "pure") return op.values.every((value) => this.#isSameValue(value));
    return op.kind === "load" && op.access.space === "kernel-param" && this.#isSameValue(laneAddressOf(op.place));
  }

  #isSameValue(expr: Expr): boolean {
    return everyLeaf(expr, (leaf) => {
      if (leaf.kind === "reg") return this.#registers.has(leaf.reg);
      if (leaf.kind === "special") return isSameInBlock(leaf.name);
      return leaf.kind === "const" || leaf.kind === "symbol";
    });
  }
}
