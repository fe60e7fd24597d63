import { writesOf } from "../../../../ir/flow/accesses.ts";
import { flowGraphOf } from "../../../../ir/flow/flow-graph.ts";
import { livenessOf, resultsOf } from "../../../../ir/flow/liveness.ts";
import type { Guard, Instruction, Register } from "../../../../ir/index.ts";
import { retargeted } from "../../../../ir/retarget.ts";
import type { Expr } from "../../../../semantics/index.ts";
import type { PreparedCode } from "./prepared-code.ts";

/** An instruction with its number in the original code; a copy has that of the branch to which it belongs. */
export interface Line {
  instruction: Instruction;
  readonly origin: number;
  /** Whether it is for the lanes that take the branch after it. */
  readonly isCopy: boolean;
}

/** The instructions of a function by block, to which others are added, and its registers. */
export class BlockLines {
  readonly blocks: Line[][];
  readonly #code: PreparedCode;
  readonly #registers: Register[];

  constructor(code: PreparedCode) {
    this.#code = code;
    this.#registers = [...code.ir.registers];
    this.blocks = code.graph.blocks.map(({ start, end }) =>
      code.instructions.slice(start, end).map((instruction, i) => ({
        instruction,
        origin: code.origins[start + i]!,
        isCopy: code.edgeCopies.has(start + i),
      })),
    );
  }

  /** Adds a register of the class of another one. */
  registerLike(register: number): number {
    return this.#registers.push({ ...this.#registers[register]! }) - 1;
  }

  /** A move from one register to another, which reports place at an instruction. */
  move({ span, location }: Instruction, guard: Guard | null, from: number, to: number): Instruction {
    const { class: c } = this.#registers[from]!;
    const value: Expr = { kind: "reg", ty: c === "pred" ? "pred" : c === "b64" ? "i64" : "i32", reg: from };
    return { guard, op: { kind: "pure", values: [value] }, dst: [to], undefinedCases: [], span, location };
  }

  /** The code of the lines, and the analyses of its flow. */
  result(): PreparedCode {
    const starts: number[] = [];
    let at = 0;
    for (const block of this.blocks) {
      starts.push(at);
      at += block.length;
    }
    starts.push(at);
    const { ir, graph, flow } = this.#code;
    const moved = (target: number): number => starts[graph.blockAt(target)]!;
    const lines = this.blocks.flat();
    const instructions = lines.map(({ instruction }) => retargeted(instruction, moved));
    const registers = this.#registers;
    const writes = new Uint32Array(registers.length);
    const count = (r: number): number => writes[r]!++;
    for (const instruction of instructions) writesOf(instruction, count);
    for (const { storage } of ir.params) {
      if (storage.kind === "register") for (const r of storage.registers) writes[r]!++;
    }
    const newGraph = flowGraphOf(instructions, flow);
    return {
      ...this.#code,
      ir: { ...ir, registers },
      instructions,
      graph: newGraph,
      writes,
      origins: lines.map((l) => l.origin),
      edgeCopies: new Set(lines.flatMap((l, i) => (l.isCopy ? [i] : []))),
      liveness: livenessOf({ instructions, registers }, newGraph, resultsOf(ir)),
    };
  }
}
