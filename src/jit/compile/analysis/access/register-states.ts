import { isCall } from "../../../../ir/calls.ts";
import { registersRead, writersIn, writesOf } from "../../../../ir/flow/accesses.ts";
import type { FlowGraph } from "../../../../ir/flow/flow-graph.ts";
import type { Instruction, IrFunction } from "../../../../ir/index.ts";
import { type Held, lowBitsOf } from "../values/held-values.ts";
import { threadsIn } from "./reaching-threads.ts";
import {
  bitsAskedFor,
  conditionsOf,
  countersAmong,
  followedRegisters,
  isShared,
  lowBits,
  type RegisterFacts,
  withDecisions,
} from "./followed-registers.ts";
import { type State, StateValues } from "./state-values.ts";

/** Code that is executed while some registers hold known values. Of equal code and equal values there is one. */
export interface Stage {
  readonly start: number;
  readonly end: number;
  /** The stages that may follow, by their places in the list of all. */
  readonly successors: readonly number[];
  /** By instruction, where the access of each thread begins. Equal ones are the same list. */
  readonly starts: ReadonlyMap<number, readonly number[]>;
  /** By successor, the threads that may go there; absent: all that are here. */
  readonly leaving: ReadonlyMap<number, bigint>;
  /** By instruction, the threads that pass its guard, if that is known. */
  readonly passing: ReadonlyMap<number, bigint>;
}

/** By stage, the threads that may come to it: those that go there from stages to which they may come. */
export function threadsAt(stages: readonly Stage[], all: bigint): readonly bigint[] {
  const found = stages.map((_, index) => (index === 0 ? all : 0n));
  const todo = new Set(stages.length === 0 ? [] : [0]);
  for (const index of todo) {
    todo.delete(index);
    const { successors, leaving } = stages[index]!;
    for (const to of successors) {
      const threads = found[to]! | (found[index]! & (leaving.get(to) ?? all));
      if (threads === found[to]) continue;
      found[to] = threads;
      todo.add(to);
    }
  }
  return found;
}

/** Registers that take more values are not followed: of counters, only low bits are, if these take no more. */
const maxValues = 16;

/** Kernels with more stages are not followed; where decisions are, so many threads in all stages together. */
const maxStages = 128;
const maxDecided = 2 ** 15;

/** After so many trials, each of which follows a register less, nothing is known: without some, nothing is decided. */
const maxTrials = { usual: 12, deciding: 2 };

/**
 * What is told apart beside what addresses are computed from: conditions that several branches depend on, of which one
 * shows what the others do, or registers that decide together with the threads' numbers where these go, as the number
 * of a step does in `if (row > step)`.
 */
export type Besides = "nothing" | "conditions" | "decisions";

/**
 * The code of a kernel by what registers hold that take few values in all, one after the other: which of two buffers is
 * read and which is written, as in `buffer ^= 1`, or pointers that are exchanged. Null if nothing is gained.
 *
 * All lanes of a warp that go the same way hold the same values, give or take what follows from their own numbers. A
 * register that is written while lanes wait elsewhere for which it has another value is not followed; so lanes of which
 * some have gone another way are in the same stage again when they meet.
 *
 * `besides`: null if there are none of these.
 */
export function stagesOf(
  ir: IrFunction,
  graph: FlowGraph,
  facts: RegisterFacts,
  besides: Besides,
): readonly Stage[] | null {
  const { instructions } = ir;
  if (ir.file !== undefined || instructions.some(({ op, lanes }) => lanes !== undefined || isCall(op))) return null;
  const addressing = followedRegisters(ir, facts.values);
  const followed = besides === "decisions" ? withDecisions(ir, facts.values, addressing) : addressing;
  if (followed.size === 0 || (besides === "decisions" && followed.size === addressing.size)) return null;
  const conditions = besides === "conditions" ? conditionsOf(instructions, facts) : [];
  const remembered = new Set(conditions.filter((r) => !followed.has(r)));
  if (besides === "conditions" && remembered.size === 0) return null;
  for (const { index, start, end } of graph.blocks) {
    const elsewhere = facts.ages.liveElsewhere(index);
    if (elsewhere.length === 0) continue;
    for (let i = start; i < end; i++) {
      writesOf(instructions[i]!, (r) => {
        if (!elsewhere.some((live) => live.has(r))) return;
        followed.delete(r);
        remembered.delete(r);
      });
    }
  }
  const all: ReadonlySet<number> = new Set([...followed, ...remembered]);
  const values = new StateValues(
    facts.values,
    (r) => all.has(r),
    (r) => facts.ages.varies(r),
  );
  const needed = neededRegisters(instructions, graph, followed, remembered);
  const asked = bitsAskedFor(ir, followed);
  // Beside the number of a step, what is advanced with it takes few values, too.
  const counting = besides === "decisions" ? [] : countersAmong(followed, ir, facts.sums);
  const counters = new Map(counting.map((r) => [r, asked]));
  const decides = besides === "decisions";
  const most = decides ? maxDecided / facts.values.threads : maxStages;
  const trials = decides ? maxTrials.deciding : maxTrials.usual;
  for (let trial = 0; trial < trials && followed.size > 0; trial++) {
    const found = new Walk(ir, graph, values, { registers: followed, counters, remembered, needed }).run(most);
    if (typeof found !== "number") return found;
    const bits = counters.get(found);
    if (bits === lowBits.least) followed.delete(found);
    else counters.set(found, bits === undefined ? asked : lowBits.least);
  }
  return null;
}

/** By block, of the registers that are followed those on which a later access or branch depends. */
function neededRegisters(
  instructions: readonly Instruction[],
  { blocks }: FlowGraph,
  followed: ReadonlySet<number>,
  remembered: ReadonlySet<number>,
): readonly ReadonlySet<number>[] {
  const steps = instructions.map((instruction) => {
    const { op, guard } = instruction;
    const [writes, forgets]: [number[], number[]] = [[], []];
    writesOf(instruction, (r) => {
      if (followed.has(r)) writes.push(r);
      if (remembered.has(r)) forgets.push(r);
    });
    const isUse = op.kind === "branch" || isShared(instruction);
    const isRead = (r: number): boolean => followed.has(r) || remembered.has(r);
    const reads = isUse || writes.length > 0 ? registersRead(instruction).filter(isRead) : [];
    const isNothing = writes.length === 0 && forgets.length === 0 && reads.length === 0;
    return isNothing ? null : { writes, forgets, reads, isUse, isSure: guard === null };
  });
  const ins = blocks.map(() => new Set<number>());
  const todo = new Set([...blocks.keys()].reverse());
  for (const block of todo) {
    todo.delete(block);
    const { start, end, successors, predecessors } = blocks[block]!;
    const needed = new Set(successors.flatMap((to) => [...(ins[to] ?? [])]));
    for (let i = end - 1; i >= start; i--) {
      const step = steps[i]!;
      if (step === null) continue;
      for (const r of step.forgets) needed.delete(r);
      if (!step.isUse && !step.writes.some((r) => needed.has(r))) continue;
      if (step.isSure) for (const r of step.writes) needed.delete(r);
      for (const r of step.reads) needed.add(r);
    }
    if (needed.size === ins[block]!.size) continue;
    ins[block] = needed;
    for (const p of predecessors) todo.add(p);
  }
  return ins;
}

/** Which registers are told apart. */
interface Followed {
  readonly registers: ReadonlySet<number>;
  /** Of these, of which only low bits are, and how many. */
  readonly counters: ReadonlyMap<number, number>;
  /** Conditions that are known once a branch has depended on them. */
  readonly remembered: ReadonlySet<number>;
  /** By block, those on which a later access or branch depends. */
  readonly needed: readonly ReadonlySet<number>[];
}

/** Goes through the code of a kernel with what registers hold. */
class Walk {
  readonly #instructions: readonly Instruction[];
  readonly #graph: FlowGraph;
  readonly #values: StateValues;
  readonly #followed: Followed;
  /** By register that is written in several places, the values that it has had. */
  readonly #taken: ReadonlyMap<number, Set<number>>;
  readonly #begun: { readonly start: number; readonly state: State }[] = [];
  readonly #byText = new Map<string, number>();
  #tooMany: number | null = null;

  constructor({ instructions }: IrFunction, graph: FlowGraph, values: StateValues, followed: Followed) {
    this.#instructions = instructions;
    this.#graph = graph;
    this.#values = values;
    this.#followed = followed;
    const writers = writersIn(instructions);
    const turning = [...followed.registers].filter((r) => writers.get(r)!.length > 1);
    this.#taken = new Map(turning.map((r) => [r, new Set()]));
  }

  /** Returns all stages; null if there are too many; a register that takes too many values. */
  run(most: number): readonly Stage[] | number | null {
    const found: Stage[] = [];
    this.#enter(0, new Map());
    for (let i = 0; i < this.#begun.length; i++) {
      if (i >= most) return null;
      const { start, state } = this.#begun[i]!;
      found.push(this.#follow(start, state));
      if (this.#tooMany !== null) return this.#tooMany;
    }
    return found;
  }

  /** The stage that begins at an instruction; null at the end of the kernel. */
  #enter(at: number, state: State): number | null {
    const block = this.#graph.blocks[this.#graph.blockAt(at)];
    if (block === undefined) return null;
    const needed = block.start === at ? this.#followed.needed[block.index]! : null;
    const kept = [...state].filter(([r]) => needed?.has(r) !== false).sort(([a], [b]) => a - b);
    const text = `${at} ${kept.map(([r, { id }]) => `${r}:${id}`).join()}`;
    let stage = this.#byText.get(text);
    if (stage === undefined) {
      this.#byText.set(text, (stage = this.#begun.length));
      this.#begun.push({ start: at, state: new Map(kept) });
    }
    return stage;
  }

  /** Executes code up to the end of its block, or to where a register may take one of several values. */
  #follow(start: number, before: State): Stage {
    const { index, end } = this.#graph.blocks[this.#graph.blockAt(start)]!;
    const starts = new Map<number, readonly number[]>();
    const passing = new Map<number, bigint>();
    let states: readonly Map<number, Held>[] = [new Map(before)];
    let at = start;
    for (; at < end && states.length === 1; at++) {
      const instruction = this.#instructions[at]!;
      const found = isShared(instruction) ? this.#values.startsOf(instruction, states[0]!) : null;
      if (found !== null) starts.set(at, found);
      const passes = instruction.guard === null ? null : this.#values.passing(instruction.guard, states[0]!);
      if (passes !== null) passing.set(at, threadsIn(passes));
      states = this.#execute(instruction, states[0]!);
    }
    const next = new Set<number>();
    const leaving = new Map<number, bigint>();
    for (const state of states) {
      for (const [to, after, threads] of at < end ? [[at, state, null] as const] : this.#placesAfter(index, state)) {
        const stage = this.#enter(to, after);
        if (stage === null) continue;
        const others = next.has(stage) ? (leaving.get(stage) ?? null) : 0n;
        next.add(stage);
        if (threads === null || others === null) leaving.delete(stage);
        else leaving.set(stage, threads | others);
      }
    }
    return { start, end: at, successors: [...next], starts, leaving, passing };
  }

  /** Where lanes may go on after a block, in which states, and which threads; null: all. */
  #placesAfter(block: number, state: State): readonly (readonly [number, State, bigint | null])[] {
    const { blocks } = this.#graph;
    const { end, successors } = blocks[block]!;
    const { op, guard } = this.#instructions[end - 1]!;
    if (op.kind === "branch" && guard !== null) {
      const passes = this.#values.passes(guard, state);
      if (passes !== null) return [[passes ? op.target : end, state, null]];
      const taken = this.#values.passing(guard, state);
      if (taken !== null) {
        return [
          [op.target, state, threadsIn(taken)],
          [end, state, threadsIn(taken.map((takes) => !takes))],
        ];
      }
      if (this.#followed.remembered.has(guard.register)) {
        const after = (value: boolean): State =>
          new Map([...state, [guard.register, this.#values.held({ ty: "pred", column: [value], low: null })!]]);
        return [
          [op.target, after(!guard.negate), null],
          [end, after(guard.negate), null],
        ];
      }
    }
    return successors.flatMap((to) => (blocks[to] === undefined ? [] : [[blocks[to].start, state, null] as const]));
  }

  /** The states that an instruction may lead to: several where it is not known which of some values is chosen. */
  #execute(instruction: Instruction, state: Map<number, Held>): readonly Map<number, Held>[] {
    const results: (readonly [number, readonly (Held | null)[]])[] = [];
    writesOf(instruction, (r) => {
      if (this.#followed.registers.has(r)) results.push([r, this.#values.choicesAfter(instruction, r, state)]);
      else state.delete(r);
    });
    let states = [state];
    for (const [r, choices] of results) {
      const taken = [...new Set(choices.map((held) => this.#taking(instruction, r, held)))];
      if (taken.length === 1) for (const before of states) set(before, r, taken[0]!);
      else states = states.flatMap((before) => taken.map((held) => set(new Map(before), r, held)));
    }
    return states;
  }

  /** What is followed of a value that a register takes: of those of counters, but for the first, low bits. */
  #taking(instruction: Instruction, register: number, held: Held | null): Held | null {
    const bits = this.#followed.counters.get(register);
    const begins = (): boolean => registersRead(instruction).every((r) => !this.#followed.registers.has(r));
    const taken = held === null || bits === undefined || begins() ? held : this.#values.held(lowBitsOf(held, bits));
    const values = this.#taken.get(register);
    if (taken === null || values === undefined) return taken;
    values.add(taken.id);
    if (values.size > maxValues) this.#tooMany ??= register;
    return taken;
  }
}

function set(state: Map<number, Held>, register: number, held: Held | null): Map<number, Held> {
  if (held === null) state.delete(register);
  else state.set(register, held);
  return state;
}
