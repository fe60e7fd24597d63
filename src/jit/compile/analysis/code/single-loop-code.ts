import { registersWritten } from "../../../../ir/flow/accesses.ts";
import type { FlowGraph } from "../../../../ir/flow/flow-graph.ts";
import type { Liveness } from "../../../../ir/flow/liveness.ts";
import type { Instruction, IrFunction, Register } from "../../../../ir/index.ts";
import { renaming } from "../../../../ir/rename-registers.ts";
import { type Expr, kit } from "../../../../semantics/index.ts";
import type { UnrolledLoop } from "./unrolled-loops.ts";
import type { SingleLoop } from "./unrolled-rounds.ts";

/** Writes the single loop. */
export class SingleLoopCode {
  readonly #instructions: readonly Instruction[];
  readonly #graph: FlowGraph;
  readonly #liveness: Liveness;
  readonly #loop: UnrolledLoop;
  readonly #registers: Register[];

  constructor(ir: IrFunction, graph: FlowGraph, liveness: Liveness, loop: UnrolledLoop, registers: Register[]) {
    this.#instructions = ir.instructions;
    this.#graph = graph;
    this.#liveness = liveness;
    this.#loop = loop;
    this.#registers = registers;
  }

  write(found: SingleLoop, changes: Map<number, readonly Instruction[]>, copied: Map<Instruction, number>): void {
    const { before, single, between, beforeUnrolled, unrolled } = this.#loop;
    const branch = this.#instructions[single.end - 1]!;
    for (const block of [between, beforeUnrolled, unrolled]) {
      for (let i = block?.start ?? 0; i < (block?.end ?? 0); i++) changes.set(i, []);
    }
    for (const i of found.dropped) changes.set(i, []);
    const again = this.#condition();
    const test = this.#computed(again, found.again);
    const repeat: Instruction = { ...branch, guard: { register: again, negate: false } };
    changes.set(before.end - 1, []);
    changes.set(single.end - 1, [test, repeat]);
    if (found.step > 1) this.#apart(found, [test, repeat], changes, copied);
  }

  /** The loop of single rounds as it was, for threads with a few rounds whose last addition may overflow. */
  #apart(
    { bound, step }: SingleLoop,
    repeat: readonly Instruction[],
    changes: Map<number, readonly Instruction[]>,
    copied: Map<Instruction, number>,
  ): void {
    const { before, beforeSingle, single, between, unrolled, after } = this.#loop;
    const branch = this.#instructions[single.end - 1]!;
    // Computed before single rounds, in registers of its own.
    const ahead = new Map<number, number>();
    const few = this.#instructions.slice(between.start, between.end - 1).map((instruction, n) => {
      const known = new Map(ahead);
      for (const r of registersWritten(instruction)) ahead.set(r, this.#freshLike(r));
      const copy = renaming(
        (r) => known.get(r) ?? r,
        (r) => ahead.get(r)!,
      )(instruction);
      copied.set(copy, between.start + n);
      return copy;
    });
    const decided = this.#instructions[between.end - 1]!.guard!.register;
    const register = ahead.get(decided) ?? decided;
    const overflows = this.#condition();
    const greatest = kit.op("i32.lt_s", kit.i32(2 ** 31 - 1 - step), bound);
    const both = kit.op("pred.and", { kind: "reg", ty: "pred", reg: register }, greatest);
    const apart: Instruction = {
      ...branch,
      op: { kind: "branch", target: between.start, uniform: false },
      guard: { register: overflows, negate: false },
    };
    const entry = [this.#computed(overflows, both), apart];
    const last = (beforeSingle ?? before).end - 1;
    const atLast = beforeSingle === null ? [] : [this.#instructions[last]!];
    changes.set(before.end - 1, beforeSingle === null ? [...few, ...entry] : few);
    if (beforeSingle !== null) changes.set(last, [...atLast, ...entry]);
    const renamed = new Map<number, number>();
    for (let i = single.start; i < single.end; i++) {
      for (const r of registersWritten(this.#instructions[i]!)) {
        if (!renamed.has(r)) renamed.set(r, this.#freshLike(r));
      }
    }
    const rename = renaming((r) => renamed.get(r) ?? r);
    const carried = [...renamed].filter(([r]) => this.#liveness.liveIn(single.index).has(r));
    const needed = [...renamed].filter(([r]) => this.#liveness.liveIn(after).has(r));
    const rounds = this.#instructions.slice(single.start, single.end).map((instruction, n) => {
      const copy = rename(instruction);
      copied.set(copy, single.start + n);
      return n === single.end - single.start - 1 ? { ...copy, op: { ...branch.op, target: unrolled.start } } : copy;
    }) as Instruction[];
    const out: Instruction = {
      ...branch,
      op: { kind: "branch", target: this.#graph.blocks[after]!.start, uniform: true },
      guard: null,
    };
    changes.set(single.end - 1, [...repeat, out]);
    changes.set(
      between.start,
      carried.map(([from, to]) => this.#copy(from, to)),
    );
    changes.set(unrolled.start, [...rounds, ...needed.map(([to, from]) => this.#copy(from, to))]);
  }

  #computed(register: number, value: Expr): Instruction {
    const at = this.#instructions[this.#loop.single.end - 1]!;
    return { ...at, op: { kind: "pure", values: [value] }, dst: [register], guard: null };
  }

  #copy(from: number, to: number): Instruction {
    const { class: c, bits } = this.#registers[from]!;
    const ty = c === "pred" ? "pred" : bits === 64 ? "i64" : "i32";
    return this.#computed(to, { kind: "reg", ty, reg: from });
  }

  #condition(): number {
    return this.#registers.push({ name: `again${this.#registers.length}`, class: "pred", bits: 1 }) - 1;
  }

  #freshLike(register: number): number {
    return this.#registers.push({ ...this.#registers[register]!, name: `rounds${this.#registers.length}` }) - 1;
  }
}
