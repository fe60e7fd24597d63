import type { Instruction } from "../instruction.ts";
import { renaming } from "../rename-registers.ts";
import { readsOf, writesAlways, writesOf } from "./accesses.ts";
import type { FlowBlock, FlowGraph } from "./flow-graph.ts";
import type { FlowCode, Liveness } from "./liveness.ts";

/** Values of registers where blocks begin that are looked at, at most: beyond, it would take longer than it gains. */
const mostValues = 2 ** 16;
/** Webs at most: what is so large has been written by a compiler, and many registers make code slow to compile. */
const mostWebs = 256;

/**
 * The code with a register for each web: what is written to a register in different places, and never comes to the same read, has
 * nothing in common but its name, and is better known apart. `fixed`: registers that must stay what they are where the function begins
 * and ends: its parameters and results, where `returned` are read. The instructions stay where they are.
 */
export function withWebs(
  code: FlowCode,
  graph: FlowGraph,
  liveness: Liveness,
  { fixed, returned }: { readonly fixed: readonly number[]; readonly returned: readonly number[] },
): FlowCode {
  const many = writtenOften(code, fixed, liveness);
  if (many.every((is) => is === 0)) return code;
  const webs = new Webs(code.registers.length);
  const values = new Values(code, graph, liveness, many, webs);
  if (!values.areFew) return code;
  // A function begins with parameters and zeros, and ends with results, in the registers that they are known by.
  liveness.liveIn(0).forEach((r) => {
    if (many[r] === 1) webs.join(r, values.atStart(0, r));
  });
  for (const block of graph.blocks) {
    values.walk(block, {});
    for (const to of block.successors) {
      if (to < graph.blocks.length) {
        liveness.liveIn(to).forEach((r) => {
          if (many[r] === 1) webs.join(values.now(r), values.atStart(to, r));
        });
      } else {
        for (const r of returned) if (many[r] === 1 && values.isKnown(r)) webs.join(r, values.now(r));
      }
    }
  }
  if (webs.count > mostWebs) return code;
  const free = many.slice();
  for (const r of [...fixed, ...returned]) free[r] = 0;
  liveness.liveIn(0).forEach((r) => {
    free[r] = 0;
  });
  return renamed(code, graph, values, webs, free);
}

/** 1 for each register that is written in several places, as far as its lanes are nobody else's business. */
function writtenOften({ instructions, registers }: FlowCode, fixed: readonly number[], liveness: Liveness): Uint8Array {
  const writes = new Uint32Array(registers.length);
  const count = (r: number): void => {
    writes[r]!++;
  };
  for (const instruction of instructions) writesOf(instruction, count);
  for (const r of fixed) writes[r]!++;
  // Registers begin as zeros.
  liveness.liveIn(0).forEach(count);
  const many = Uint8Array.from(writes, (n) => Number(n > 1));
  registers.forEach(({ home }, r) => {
    if (home !== undefined || liveness.acrossLanes.has(r)) many[r] = 0;
  });
  return many;
}

/** Values that are one, as sets that grow together (union-find). The first ones, by register, are those that it is known by. */
class Webs {
  readonly #registers: number;
  readonly #parents: number[];

  constructor(registers: number) {
    this.#registers = registers;
    this.#parents = Array.from({ length: registers }, (_, r) => r);
  }

  /** Those of which none is what a register is known by. */
  get count(): number {
    let count = 0;
    for (let v = this.#registers; v < this.#parents.length; v++) if (this.#parents[v] === v) count++;
    return count;
  }

  add(): number {
    return this.#parents.push(this.#parents.length) - 1;
  }

  of(value: number): number {
    let root = value;
    while (this.#parents[root] !== root) root = this.#parents[root]!;
    for (let v = value; v !== root; ) {
      const above = this.#parents[v]!;
      this.#parents[v] = root;
      v = above;
    }
    return root;
  }

  /** What registers are known by stays at the root. */
  join(a: number, b: number): void {
    const [x, y] = [this.of(a), this.of(b)];
    this.#parents[Math.max(x, y)] = Math.min(x, y);
  }
}

/** What is shown of a walk through a block: before an instruction writes, and when it has. */
interface Steps {
  readonly before?: (instruction: number) => void;
  readonly behind?: (instruction: number) => void;
}

/** The values that registers have from place to place: they have the same numbers however often one looks. */
class Values {
  readonly #code: FlowCode;
  readonly #many: Uint8Array;
  readonly #webs: Webs;
  /** By block, the values with which it begins, by register. */
  readonly #starts: readonly ReadonlyMap<number, number>[];
  /** By instruction, the first of the values that it writes; 0 where none have been given. */
  readonly #written: Int32Array;
  readonly #now: Int32Array;
  /** By register, the walk in which `now` was set. */
  readonly #known: Int32Array;
  #walk = 0;
  readonly areFew: boolean;

  constructor(code: FlowCode, { blocks }: FlowGraph, liveness: Liveness, many: Uint8Array, webs: Webs) {
    this.#code = code;
    this.#many = many;
    this.#webs = webs;
    this.#written = new Int32Array(code.instructions.length);
    this.#now = new Int32Array(code.registers.length);
    this.#known = new Int32Array(code.registers.length);
    let count = 0;
    this.#starts = blocks.map(({ index }) => {
      const values = new Map<number, number>();
      if (count < mostValues)
        liveness.liveIn(index).forEach((r) => {
          if (many[r] === 1) values.set(r, webs.add());
        });
      count += values.size;
      return values;
    });
    this.areFew = count < mostValues;
  }

  atStart(block: number, register: number): number {
    return this.#starts[block]!.get(register)!;
  }

  /** The value that a register has at the place of the walk. */
  now(register: number): number {
    return this.#now[register]!;
  }

  /** Whether it has one that somebody may read. */
  isKnown(register: number): boolean {
    return this.#known[register] === this.#walk;
  }

  walk({ index, start, end }: FlowBlock, { before, behind }: Steps): void {
    this.#walk++;
    for (const [r, value] of this.#starts[index]!) this.#set(r, value);
    for (let i = start; i < end; i++) {
      before?.(i);
      this.#write(i);
      behind?.(i);
    }
  }

  #write(i: number): void {
    const instruction = this.#code.instructions[i]!;
    const isFirst = this.#written[i] === 0;
    let next = this.#written[i]!;
    writesOf(instruction, (r) => {
      if (this.#many[r] !== 1) return;
      if (isFirst) {
        const value = this.#webs.add();
        if (next === 0) this.#written[i] = next = value;
        // Lanes in which it does not execute keep what they have.
        if (!writesAlways(instruction) && this.isKnown(r)) this.#webs.join(value, this.#now[r]!);
      }
      this.#set(r, next++);
    });
  }

  #set(register: number, value: number): void {
    this.#now[register] = value;
    this.#known[register] = this.#walk;
  }
}

/** `free`: 1 for each register that is nothing but what is written to it. */
function renamed(code: FlowCode, { blocks }: FlowGraph, values: Values, webs: Webs, free: Uint8Array): FlowCode {
  const registers = [...code.registers];
  const instructions: Instruction[] = [...code.instructions];
  const byWeb = new Map<number, number>();
  const registerOf = (r: number): number => {
    if (!values.isKnown(r)) return r;
    const web = webs.of(values.now(r));
    if (web < code.registers.length) return web;
    let register = byWeb.get(web);
    if (register === undefined) {
      // One of them keeps the register.
      register = free[r] === 1 ? r : registers.push(code.registers[r]!) - 1;
      free[r] = 0;
      byWeb.set(web, register);
    }
    return register;
  };
  const reads = new Map<number, number>();
  for (const block of blocks) {
    values.walk(block, {
      before: (i) => {
        reads.clear();
        readsOf(code.instructions[i]!, {
          register: (r) => {
            const own = registerOf(r);
            if (own !== r) reads.set(r, own);
          },
        });
      },
      behind: (i) => {
        const instruction = code.instructions[i]!;
        let isOther = reads.size > 0;
        writesOf(instruction, (r) => {
          isOther ||= registerOf(r) !== r;
        });
        if (isOther) instructions[i] = renaming((r) => reads.get(r) ?? r, registerOf)(instruction);
      },
    });
  }
  return { registers, instructions };
}
