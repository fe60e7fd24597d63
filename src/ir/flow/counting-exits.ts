import { everyLeaf, type Expr, registersOf } from "../../semantics/index.ts";
import { readsClock } from "../clock.ts";
import type { Guard, Instruction } from "../instruction.ts";
import { integerOf } from "../uniformity/linear-form.ts";
import { writersIn } from "./accesses.ts";
import type { FlowGraph } from "./flow-graph.ts";
import type { LoopRange } from "./loops.ts";

/** How often a value is looked up in the register that holds it, at most. */
const maxHops = 8;

/** A register plus a constant, and perhaps plus numbers that are the same in each round. */
interface Sum {
  readonly register: number;
  readonly constant: bigint;
  /** Whether there are such numbers, as the threads of a grid in a loop that strides over it. */
  readonly hasNumbers: boolean;
}

/**
 * Whether a loop ends whatever other threads do, though it loads how far it counts: lanes leave it by comparing a
 * counter, which each round advances by the same number, with another one, as in
 * `for (e = row[v]; e < row[v + 1]; e++)` and `for (i = thread; i < n; i += threads)`. Compilers load such a number
 * anew in each round where the loop stores or does atomic operations. What the rounds do otherwise may depend on
 * anything, unless a lane leaves the loop by it. `sees`: whether an instruction sees what others do; a number that
 * waits for others is none.
 */
export function endsByCounting(
  graph: FlowGraph,
  instructions: readonly Instruction[],
  range: LoopRange,
  sees: (instruction: Instruction) => boolean,
): boolean {
  return new CountedLoop(graph, instructions, range, sees).endsByItself();
}

class CountedLoop {
  readonly #graph: FlowGraph;
  readonly #instructions: readonly Instruction[];
  readonly #start: number;
  readonly #sees: (instruction: Instruction) => boolean;
  /** The blocks from which a way leads back to the beginning, and those among them from which it does at once. */
  readonly #members = new Set<number>();
  readonly #latches: readonly number[];
  readonly #writers: ReadonlyMap<number, readonly Instruction[]>;
  /** By instruction of the loop, its block. */
  readonly #blockOf = new Map<Instruction, number>();
  readonly #always = new Map<number, boolean>();

  constructor(
    graph: FlowGraph,
    instructions: readonly Instruction[],
    { start, end }: LoopRange,
    sees: (instruction: Instruction) => boolean,
  ) {
    this.#graph = graph;
    this.#instructions = instructions;
    this.#start = start;
    this.#sees = sees;
    this.#latches = graph.blocks[start]!.predecessors.filter((from) => from >= start && from <= end);
    const todo = new Set([start, ...this.#latches]);
    for (const block of todo) {
      this.#members.add(block);
      if (block === start) continue;
      for (const from of graph.blocks[block]!.predecessors) if (from >= start && from <= end) todo.add(from);
    }
    const body: Instruction[] = [];
    for (const block of this.#members) {
      for (let i = graph.blocks[block]!.start; i < graph.blocks[block]!.end; i++) {
        body.push(instructions[i]!);
        this.#blockOf.set(instructions[i]!, block);
      }
    }
    this.#writers = writersIn(body);
  }

  endsByItself(): boolean {
    let counts = false;
    for (const block of this.#members) {
      const { start, end, successors } = this.#graph.blocks[block]!;
      for (let i = start; i < end; i++) {
        const { op, guard, lanes } = this.#instructions[i]!;
        if (lanes !== undefined || op.kind === "call" || op.kind === "branch-indexed") return false;
        const leaves =
          op.kind === "return" ||
          op.kind === "exit" ||
          (i === end - 1 && successors.some((to) => !this.#members.has(to)));
        if (!leaves) continue;
        if (guard === null || guard.collapse !== undefined || !this.#isCounted(guard)) return false;
        counts ||= this.#isInEachRound(block);
      }
    }
    return counts;
  }

  /** Whether a guard compares a counter with a number that does not wait for others. */
  #isCounted({ register }: Guard): boolean {
    const test = this.#comparisonIn({ kind: "reg", ty: "pred", reg: register });
    if (test === null) return false;
    return test.args.some((arg, i) => this.#isCounter(arg) && !this.#waits(test.args[1 - i]!));
  }

  /** The comparison of which a predicate is the result, or its negation; null if it is none. */
  #comparisonIn(expr: Expr, hops = 0): Extract<Expr, { kind: "prim" }> | null {
    if (hops > maxHops) return null;
    if (expr.kind === "prim") {
      if (expr.prim === "pred.not") return this.#comparisonIn(expr.args[0]!, hops + 1);
      return /^i(32|64)\.l[et]_[su]$/.test(expr.prim) ? expr : null;
    }
    const value = expr.kind === "reg" ? this.#valueOf(expr.reg) : null;
    return value === null ? null : this.#comparisonIn(value, hops + 1);
  }

  /**
   * Whether a value is a register which each round advances by the same number, give or take another one. A step of 0
   * would make the loop endless, whatever others do.
   */
  #isCounter(expr: Expr): boolean {
    const sum = this.#sumOf(expr, null);
    if (sum === null) return false;
    const value = this.#valueOf(sum.register);
    const next = value === null ? null : this.#sumOf(value, sum.register);
    return next !== null && next.register === sum.register && (next.hasNumbers || next.constant !== 0n);
  }

  /**
   * A value as a register and what is added to it: `end`, or the first register that is computed from itself, which is
   * found when it comes again. A counter stays one if it is brought to another width, as where it is an index, too.
   */
  #sumOf(expr: Expr, end: number | null): Sum | null {
    let constant = 0n;
    let hasNumbers = false;
    let rest = expr;
    const seen = new Set<number>();
    for (let hops = 0; hops < 2 * maxHops; hops++) {
      if (rest.kind === "prim") {
        const [a, b] = rest.args as readonly [Expr, Expr];
        if (isConversion(rest.prim)) rest = a;
        else if (/^i(32|64)\.(add|sub)$/.test(rest.prim)) {
          const number = integerOf(b);
          const isAdded = rest.prim.endsWith("add");
          if (number !== null) constant += isAdded ? number : -number;
          else hasNumbers = true;
          if (number !== null || this.#isSame(b)) rest = a;
          else if (isAdded && this.#isSame(a)) rest = b;
          else return null;
        } else return null;
      } else if (rest.kind === "reg") {
        const { reg } = rest;
        if (reg === end || seen.has(reg)) {
          return end === null
            ? { register: reg, constant: 0n, hasNumbers: false }
            : { register: reg, constant, hasNumbers };
        }
        seen.add(reg);
        const value = this.#valueOf(reg);
        if (value === null) return null;
        rest = value;
      } else return null;
    }
    return null;
  }

  /** Whether a value is the same in each round. */
  #isSame(expr: Expr): boolean {
    const isNumber = everyLeaf(expr, ({ kind }) => kind === "reg" || kind === "const" || kind === "special");
    return isNumber && !readsClock(expr) && registersOf(expr).every((register) => !this.#writers.has(register));
  }

  /** What the loop writes to a register once in each round; null if it does not, or writes it elsewhere, too. */
  #valueOf(register: number): Expr | null {
    const [writer, ...others] = this.#writers.get(register) ?? [];
    if (writer === undefined || others.length > 0 || writer.guard !== null || writer.op.kind !== "pure") return null;
    const value = writer.op.values[writer.dst.indexOf(register)];
    return value !== undefined && this.#isInEachRound(this.#blockOf.get(writer)!) ? value : null;
  }

  /** Whether a value depends on what an instruction of the loop has seen of others. */
  #waits(expr: Expr): boolean {
    const used = new Set(registersOf(expr));
    for (const register of used) {
      for (const writer of this.#writers.get(register) ?? []) {
        if (this.#sees(writer)) return true;
        const { op } = writer;
        if (op.kind === "pure")
          for (const from of registersOf(op.values[writer.dst.indexOf(register)]!)) used.add(from);
      }
    }
    return false;
  }

  /** Whether no way through the loop leaves a block out. */
  #isInEachRound(block: number): boolean {
    let known = this.#always.get(block);
    if (known !== undefined) return known;
    const reached = new Set(block === this.#start ? [] : [this.#start]);
    for (const from of reached) {
      for (const to of this.#graph.blocks[from]!.successors) {
        if (to !== block && to !== this.#start && this.#members.has(to)) reached.add(to);
      }
    }
    known = this.#latches.every((latch) => !reached.has(latch));
    this.#always.set(block, known);
    return known;
  }
}

/** Whether an operation brings an integer to another width. */
const isConversion = (prim: string): boolean => /^i(32\.wrap_i64|64\.extend_i32_[su])$/.test(prim);
