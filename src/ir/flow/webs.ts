import type { Instruction } from "../instruction.ts";
import { renaming } from "../rename-registers.ts";
import { readsOf, writesAlways, writesOf } from "./accesses.ts";
import type { FlowBlock, FlowGraph } from "./flow-graph.ts";
import type { FlowCode, Liveness } from "./liveness.ts";

/** The most values at beginnings of blocks that are examined: beyond that, it takes longer than it gains. */
const maxValues = 2 ** 16;
/** The most webs: code that has more comes from a compiler, and many registers make code slow to compile. */
const maxWebs = 256;

interface WebOptions {
  /** Registers that keep their meaning where the function begins and ends: its parameters and results. */
  readonly fixed: readonly number[];
  /** Those that are read at the end. */
  readonly returned: readonly number[];
  /** Code that has more webs stays as it is. */
  readonly most?: number;
}

/**
 * Gives each web a register of its own. A web is a set of writes to a register that may reach the same read; different
 * webs of a register have nothing in common but its name, and analyses see more if they are separate. The instructions
 * keep their indices.
 */
export function withWebs(
  code: FlowCode,
  graph: FlowGraph,
  liveness: Liveness,
  { fixed, returned, most = maxWebs }: WebOptions,
): FlowCode {
  const many = writtenOften(code, fixed, liveness);
  if (many.every((is) => is === 0)) return code;
  const webs = new Webs(code.registers.length);
  const values = new Values(code, graph, liveness, many, webs);
  if (!values.areFew) return code;
  // A function begins with parameters and zeros, and ends with results, in their original registers.
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
  if (webs.count > most) return code;
  const free = many.slice();
  for (const r of [...fixed, ...returned]) free[r] = 0;
  liveness.liveIn(0).forEach((r) => {
    free[r] = 0;
  });
  return renamed(code, graph, values, webs, free);
}

/** 1 for each register that is written in several places and whose lanes are not read by other lanes. */
function writtenOften({ instructions, registers }: FlowCode, fixed: readonly number[], liveness: Liveness): Uint8Array {
  const writes = new Uint32Array(registers.length);
  const count = (r: number): void => {
    writes[r]!++;
  };
  for (const instruction of instructions) writesOf(instruction, count);
  for (const r of fixed) writes[r]!++;
  // Registers are initially zero.
  liveness.liveIn(0).forEach(count);
  const many = Uint8Array.from(writes, (n) => Number(n > 1));
  registers.forEach(({ home }, r) => {
    if (home !== undefined || liveness.acrossLanes.has(r)) many[r] = 0;
  });
  return many;
}

/** Classes of values (union-find). The first values stand for the registers themselves, in order. */
class Webs {
  readonly #registers: number;
  readonly #parents: number[];

  constructor(registers: number) {
    this.#registers = registers;
    this.#parents = Array.from({ length: registers }, (_, r) => r);
  }

  /** The number of classes that need a register of their own. */
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

  /** Joins two classes; a value that stands for a register stays the root. */
  join(a: number, b: number): void {
    const [x, y] = [this.of(a), this.of(b)];
    this.#parents[Math.max(x, y)] = Math.min(x, y);
  }
}

/** Is shown each instruction of a block: before it writes its results, and after. */
interface Steps {
  readonly before?: (instruction: number) => void;
  readonly after?: (instruction: number) => void;
}

/** The values that registers have from place to place, numbered the same in every pass over a block. */
class Values {
  readonly #code: FlowCode;
  readonly #many: Uint8Array;
  readonly #webs: Webs;
  /** By block, the values at its beginning, by register. */
  readonly #starts: readonly ReadonlyMap<number, number>[];
  /** By instruction, the first of the values that it writes; 0 before they are numbered. */
  readonly #written: Int32Array;
  readonly #now: Int32Array;
  /** By register, the pass in which `now` was set. */
  readonly #known: Int32Array;
  #pass = 0;
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
      if (count < maxValues)
        liveness.liveIn(index).forEach((r) => {
          if (many[r] === 1) values.set(r, webs.add());
        });
      count += values.size;
      return values;
    });
    this.areFew = count < maxValues;
  }

  atStart(block: number, register: number): number {
    return this.#starts[block]!.get(register)!;
  }

  /** The value that a register has at the current place. */
  now(register: number): number {
    return this.#now[register]!;
  }

  /** Whether a register has a value at the current place that may be read. */
  isKnown(register: number): boolean {
    return this.#known[register] === this.#pass;
  }

  walk({ index, start, end }: FlowBlock, { before, after }: Steps): void {
    this.#pass++;
    for (const [r, value] of this.#starts[index]!) this.#set(r, value);
    for (let i = start; i < end; i++) {
      before?.(i);
      this.#write(i);
      after?.(i);
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
        // Lanes that do not execute the instruction keep their value.
        if (!writesAlways(instruction) && this.isKnown(r)) this.#webs.join(value, this.#now[r]!);
      }
      this.#set(r, next++);
    });
  }

  #set(register: number, value: number): void {
    this.#now[register] = value;
    this.#known[register] = this.#pass;
  }
}

/** `free`: 1 for each register that any of its webs may take. */
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
      // One web keeps the register.
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
      after: (i) => {
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
