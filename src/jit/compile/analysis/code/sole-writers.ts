import { writesAlways, writesOf } from "../../../../ir/flow/accesses.ts";
import type { FlowBlock, FlowGraph } from "../../../../ir/flow/flow-graph.ts";
import type { Instruction } from "../../../../ir/index.ts";

/** Nobody has been found yet who may have written it. */
const unknown = 0;
/** Several may have, or it may have what it begins with. */
const several = -1;

/** Tells which instruction alone can have written what some registers hold (reaching definitions). */
export class SoleWriters {
  readonly #instructions: readonly Instruction[];
  /** By register, its place in the lists. */
  readonly #places: ReadonlyMap<number, number>;
  /** By block, what holds at its end: for each register the number of its writer, from 1 on, or one of the above. */
  readonly #ends: readonly Int32Array[];

  constructor({ blocks }: FlowGraph, instructions: readonly Instruction[], registers: Iterable<number>) {
    this.#instructions = instructions;
    this.#places = new Map([...registers].map((r, i) => [r, i]));
    this.#ends = blocks.map(() => new Int32Array(this.#places.size));
    let isSettled = false;
    while (!isSettled) {
      isSettled = true;
      for (const block of blocks) if (this.#pass(block)) isSettled = false;
    }
  }

  /** The writer of a register at the end of a block; null unless there is one alone. */
  atEnd(block: number, register: number): number | null {
    const place = this.#places.get(register);
    return place === undefined ? null : this.#writer(this.#ends[block]!, place);
  }

  /** Goes through a block. `visit` is shown the writers of the registers before each instruction. */
  walk(block: FlowBlock, visit: (instruction: number, writerOf: (register: number) => number | null) => void): void {
    const now = this.#begin(block);
    const writerOf = (register: number): number | null => {
      const place = this.#places.get(register);
      return place === undefined ? null : this.#writer(now, place);
    };
    for (let i = block.start; i < block.end; i++) {
      visit(i, writerOf);
      this.#write(i, now);
    }
  }

  #writer(writers: Int32Array, place: number): number | null {
    const writer = writers[place]!;
    return writer > 0 ? writer - 1 : null;
  }

  /** Whether anything has changed at the end of a block. */
  #pass(block: FlowBlock): boolean {
    const now = this.#begin(block);
    for (let i = block.start; i < block.end; i++) this.#write(i, now);
    const end = this.#ends[block.index]!;
    if (now.every((writer, place) => writer === end[place])) return false;
    end.set(now);
    return true;
  }

  #begin({ index, predecessors }: FlowBlock): Int32Array {
    const now = new Int32Array(this.#places.size).fill(index === 0 ? several : unknown);
    for (let p = 0; p < predecessors.length; p++) {
      const end = this.#ends[predecessors[p]!]!;
      for (let i = 0; i < now.length; i++) {
        if (end[i] === unknown || end[i] === now[i]) continue;
        now[i] = now[i] === unknown ? end[i]! : several;
      }
    }
    return now;
  }

  #write(i: number, now: Int32Array): void {
    const instruction = this.#instructions[i]!;
    writesOf(instruction, (r) => {
      const place = this.#places.get(r);
      if (place !== undefined) now[place] = writesAlways(instruction) ? i + 1 : several;
    });
  }
}
