import type { Instruction } from "../instruction.ts";
import { renaming } from "../rename-registers.ts";
import { readsOf, writesOf } from "./accesses.ts";
import type { FlowBlock, FlowGraph } from "./flow-graph.ts";
import type { FlowCode } from "./liveness.ts";

/**
 * Gives a value a second register, with which the rest of its block reads it, and the blocks to which no other way
 * leads, if its own one is written in other places, too. Analyses that ask for the only writer of a register then know
 * what was computed from it there. The registers that the value is computed from have one writer each: others may be
 * written again before it is read. The instructions keep their indices; the code itself is returned if there is no such
 * value.
 */
export function withBlockValues<C extends FlowCode>(code: C, { blocks }: Pick<FlowGraph, "blocks">): C {
  const writes = new Uint32Array(code.registers.length);
  for (const instruction of code.instructions) {
    writesOf(instruction, (r) => {
      writes[r]!++;
    });
  }
  if (writes.every((n) => n <= 1)) return code;
  const values = new BlockValues(code, writes);
  for (const block of blocks) values.walk(block, blocks);
  const { registers, instructions } = values;
  return registers.length === code.registers.length ? code : { ...code, registers, instructions };
}

class BlockValues {
  readonly registers: FlowCode["registers"][number][];
  readonly instructions: Instruction[];
  readonly #writes: Uint32Array;
  /** By register, where the value that it now has was written, in this block or before it. */
  #written = new Map<number, number>();
  /** By register, the second one that holds the value which it now has. */
  #second = new Map<number, number>();
  /** By block, the same at its end. */
  readonly #ends = new Map<number, readonly [Map<number, number>, Map<number, number>]>();

  constructor({ registers, instructions }: FlowCode, writes: Uint32Array) {
    this.registers = [...registers];
    this.instructions = [...instructions];
    this.#writes = writes;
  }

  walk({ index, start, end, predecessors, successors }: FlowBlock, blocks: readonly FlowBlock[]): void {
    const before = index > 0 && predecessors.length === 1 ? this.#ends.get(predecessors[0]!) : undefined;
    this.#written = new Map(before?.[0]);
    this.#second = new Map(before?.[1]);
    for (let i = start; i < end; i++) {
      this.#read(i);
      writesOf(this.instructions[i]!, (r) => {
        this.#written.delete(r);
        this.#second.delete(r);
        if (this.#isKept(this.instructions[i]!, r)) this.#written.set(r, i);
      });
    }
    const isRead = successors.some((s) => s > index && blocks[s]?.predecessors.length === 1);
    if (isRead && this.#written.size > 0) this.#ends.set(index, [this.#written, this.#second]);
  }

  #read(i: number): void {
    let isOther = false;
    readsOf(this.instructions[i]!, {
      register: (r) => {
        const at = this.#written.get(r);
        if (at !== undefined && !this.#second.has(r)) this.#second.set(r, this.#copy(at, r));
        isOther ||= at !== undefined;
      },
    });
    if (!isOther) return;
    const rename = renaming(
      (r) => this.#second.get(r) ?? r,
      (r) => r,
    );
    this.instructions[i] = rename(this.instructions[i]!);
  }

  /** Whether an instruction gives a register with several writers a value that can have a second one. */
  #isKept(instruction: Instruction, register: number): boolean {
    const { op, guard, lanes } = instruction;
    if (op.kind !== "pure" || guard !== null || lanes !== undefined || this.#writes[register]! < 2) return false;
    if (this.registers[register]!.home !== undefined) return false;
    let isLasting = true;
    readsOf(instruction, {
      register: (r) => {
        isLasting &&= (this.#writes[r] ?? 1) <= 1;
      },
    });
    return isLasting;
  }

  /** Has an instruction write the value of a register to a second one. */
  #copy(at: number, register: number): number {
    const instruction = this.instructions[at]!;
    const { op, dst } = instruction;
    if (op.kind !== "pure") throw new Error("only values that are computed have second registers");
    const second = this.registers.push(this.registers[register]!) - 1;
    const values = [...op.values, op.values[dst.indexOf(register)]!];
    this.instructions[at] = { ...instruction, op: { ...op, values }, dst: [...dst, second] };
    return second;
  }
}
