import { writesOf } from "../../../../ir/flow/accesses.ts";
import type { FlowGraph } from "../../../../ir/flow/flow-graph.ts";
import type { Instruction, IrFunction } from "../../../../ir/index.ts";
import type { Dim3 } from "../../../../machine/reports/report.ts";
import { bind, type Bindings, bitsOf } from "../../../../semantics/bind.ts";
import { type Expr, kit, registersOf } from "../../../../semantics/index.ts";
import { bindingsFor } from "../values/special-registers.ts";

/** Registers that hold the same constant in all threads that come to a place, in one of the rounds of a loop. */
export type Constants = ReadonlyMap<number, Expr>;

/** A round of a loop. */
export interface Round {
  /** What is known as it begins. */
  readonly before: Constants;
  /** The blocks to which ways lead. */
  readonly reached: ReadonlySet<number>;
  /** By block that ends with a condition which is known, whether that holds. */
  readonly decided: ReadonlyMap<number, boolean>;
}

interface Flow {
  /** By block to which ways lead, what is known as it begins. */
  readonly ins: ReadonlyMap<number, Constants>;
  readonly decided: Round["decided"];
}

/** A way to a block, and what is known on it. */
type Edge = (to: number, known: Constants) => void;

/** Constants as a kernel computes them, round by round, in blocks of one size. */
export class Rounds {
  readonly #ir: IrFunction;
  readonly #graph: FlowGraph;
  readonly #special: Pick<Bindings, "special">;
  #whole: Flow | null = null;

  constructor(ir: IrFunction, graph: FlowGraph, block: Dim3) {
    this.#ir = ir;
    this.#graph = graph;
    const { special } = bindingsFor({ block, indexed: false }, { symbol: () => 0n, window: 0n });
    this.#special = special === undefined ? {} : { special };
  }

  /**
   * The rounds of the loop of blocks `[first, end)`, which is entered at its first one; null if it is not known of each
   * whether it is the last one, or if there are more than some number.
   */
  of(first: number, end: number, most: number): readonly Round[] | null {
    const { ins: atStart } = (this.#whole ??= this.#flow(
      0,
      new Map(),
      () => true,
      () => {},
    ));
    const isInside = (block: number): boolean => block >= first && block < end;
    let before: Constants | null = null;
    for (const p of this.#graph.blocks[first]!.predecessors) {
      if (isInside(p)) continue;
      const known = atStart.get(p);
      if (known !== undefined)
        this.#leave(p, known, (to, out) => void (to === first && (before = joined(before, out))));
    }
    const rounds: Round[] = [];
    while (before !== null) {
      if (rounds.length === most) return null;
      let [back, leaves]: [Constants | null, boolean] = [null, false];
      const { ins, decided } = this.#flow(
        first,
        before,
        (to) => isInside(to) && to !== first,
        (to, known) => {
          if (to === first) back = joined(back, known);
          else leaves = true;
        },
      );
      if (back !== null && leaves) return null;
      rounds.push({ before, reached: new Set(ins.keys()), decided });
      before = back;
    }
    return rounds.length === 0 ? null : rounds;
  }

  /** The same of all code, which is one round. */
  inAll(): Round {
    const before = new Map();
    const { ins, decided } = (this.#whole ??= this.#flow(
      0,
      before,
      () => true,
      () => {},
    ));
    return { before, reached: new Set(ins.keys()), decided };
  }

  /** Follows ways from a block on. `isInside`: to which blocks; `elsewhere` is told of the others. */
  #flow(first: number, before: Constants, isInside: (block: number) => boolean, elsewhere: Edge): Flow {
    const ins = new Map<number, Constants>([[first, before]]);
    const decided = new Map<number, boolean>();
    const todo = new Set([first]);
    for (const block of todo) {
      todo.delete(block);
      this.#leave(block, ins.get(block)!, (to, known) => {
        if (!isInside(to)) return;
        const old = ins.get(to) ?? null;
        const both = joined(old, known);
        if (old !== null && both.size === old.size) return;
        ins.set(to, both);
        todo.add(to);
      });
    }
    for (const [block, known] of ins) {
      const passes = this.#leave(block, known, (to, out) => {
        if (!isInside(to)) elsewhere(to, out);
      });
      if (passes !== null) decided.set(block, passes);
    }
    return { ins, decided };
  }

  /** Executes a block. Returns whether the guard of its branch holds, if that is known; else null. */
  #leave(block: number, before: Constants, edge: Edge): boolean | null {
    const { start, end, successors } = this.#graph.blocks[block]!;
    const { instructions } = this.#ir;
    const known = new Map(before);
    for (let i = start; i < end; i++) this.#execute(instructions[i]!, known);
    const { op, guard } = instructions[end - 1]!;
    const condition = guard === null || guard.collapse !== undefined ? undefined : known.get(guard.register);
    const passes = condition?.kind === "const" ? (condition.value === true) !== guard!.negate : null;
    const isDecided = op.kind === "branch" && passes !== null;
    for (const to of successors) {
      // Threads that end here are in no further round.
      if (to >= this.#graph.blocks.length && op.kind !== "branch") continue;
      if (isDecided && (passes ? this.#graph.blockAt(op.target) : block + 1) !== to) continue;
      edge(to, known);
    }
    return isDecided ? passes : null;
  }

  #execute({ op, dst, guard }: Instruction, known: Map<number, Expr>): void {
    if (op.kind !== "pure") {
      writesOf({ op, dst } as Instruction, (r) => known.delete(r));
      return;
    }
    const found = op.values.map((value) => this.#constantOf(value, known));
    dst.forEach((to, i) => {
      if (typeof to !== "number") return;
      const { class: c, bits } = this.#ir.registers[to]!;
      const value = guard === null && (c === "pred" || bits >= 32) ? found[i]! : null;
      if (value === null) known.delete(to);
      else known.set(to, value);
    });
  }

  #constantOf(expr: Expr, known: Constants): Expr | null {
    if (!registersOf(expr).every((r) => known.has(r))) return null;
    const register = (leaf: Extract<Expr, { kind: "reg" }>): Expr => kit.bitcast(known.get(leaf.reg)!, leaf.ty);
    const value = bitsOf(bind(expr, { ...this.#special, register }));
    return value.kind === "const" ? value : null;
  }
}

/** What is known on both of two ways. */
function joined(a: Constants | null, b: Constants): Constants {
  if (a === null) return b;
  const both = new Map<number, Expr>();
  for (const [r, value] of a) {
    const other = b.get(r);
    if (value.kind === "const" && other?.kind === "const" && value.ty === other.ty && value.value === other.value) {
      both.set(r, value);
    }
  }
  return both;
}
