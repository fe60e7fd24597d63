import { isCall } from "../../../../ir/calls.ts";
import { accessesOf } from "../../../../ir/op-traits.ts";
import { registersRead, writersIn, writesOf } from "../../../../ir/flow/accesses.ts";
import type { FlowGraph } from "../../../../ir/flow/flow-graph.ts";
import type { Instruction, IrFunction } from "../../../../ir/index.ts";
import { type Expr, registersOf } from "../../../../semantics/index.ts";
import { type Held, lowBitsOf } from "../values/held-values.ts";
import type { ThreadValues } from "../values/thread-values.ts";
import type { AddressAges } from "./address-ages.ts";
import { added, type AddressSums } from "./address-sums.ts";
import { type State, StateValues } from "./state-values.ts";

/** Code that is executed while some registers hold known values. Of equal code and equal values there is one. */
export interface Stage {
  readonly start: number;
  readonly end: number;
  /** The stages that may follow, by their places in the list of all. */
  readonly successors: readonly number[];
  /** By instruction, where the access of each thread begins. Equal ones are the same list. */
  readonly starts: ReadonlyMap<number, readonly number[]>;
}

/** Registers that take more values are not followed: of counters, only low bits are, if these take no more. */
const maxValues = 16;

/** Kernels with more stages are not followed. */
const maxStages = 128;

/** After so many trials, each of which follows a register less, nothing is known. */
const maxTrials = 12;

/** Of counters, the low bits that are followed: as many as masks ask for, or the least. */
const lowBits = { least: 2, most: 10 };

/** What is known of a kernel's registers. */
interface RegisterFacts {
  /** What follows from the numbers of a block's threads. */
  readonly values: ThreadValues;
  readonly sums: AddressSums;
  readonly ages: AddressAges;
}

/**
 * The code of a kernel by what registers hold that take few values in all, one after the other: which of two buffers is
 * read and which is written, as in `buffer ^= 1`, or pointers that are exchanged. Null if nothing is gained.
 *
 * All lanes of a warp that go the same way hold the same values, give or take what follows from their own numbers. A
 * register that is written while lanes wait elsewhere for which it has another value is not followed; so lanes of which
 * some have gone another way are in the same stage again when they meet.
 *
 * `remembersBranches`: whether a condition that several branches depend on is told apart, too: what one of them has
 * shown, the others do. Null if there are none.
 */
export function stagesOf(
  ir: IrFunction,
  graph: FlowGraph,
  facts: RegisterFacts,
  remembersBranches: boolean,
): readonly Stage[] | null {
  const { instructions } = ir;
  if (ir.file !== undefined || instructions.some(({ op, lanes }) => lanes !== undefined || isCall(op))) return null;
  const followed = followedRegisters(ir, facts.values);
  if (followed.size === 0) return null;
  const conditions = remembersBranches ? conditionsOf(instructions, facts) : [];
  const remembered = new Set(conditions.filter((r) => !followed.has(r)));
  if (remembersBranches && remembered.size === 0) return null;
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
  const counters = new Map(countersAmong(followed, ir, facts.sums).map((r) => [r, asked]));
  for (let trial = 0; trial < maxTrials && followed.size > 0; trial++) {
    const found = new Walk(ir, graph, values, { registers: followed, counters, remembered, needed }).run();
    if (typeof found !== "number") return found;
    const bits = counters.get(found);
    if (bits === lowBits.least) followed.delete(found);
    else counters.set(found, bits === undefined ? asked : lowBits.least);
  }
  return null;
}

const isShared = (instruction: Instruction): boolean =>
  accessesOf(instruction.op).some(({ access: { space } }) => space === "shared");

/**
 * The registers that addresses in shared memory are computed from, as far as they do not follow from the threads'
 * numbers, and conditions that follow from these. None if all of them are written once.
 */
function followedRegisters(ir: IrFunction, values: ThreadValues): Set<number> {
  const { instructions, registers } = ir;
  const writers = writersIn(instructions);
  const isFollowed = (r: number): boolean => {
    const { class: c, bits } = registers[r]!;
    if ((c !== "pred" && bits < 32) || values.knows(r)) return false;
    return writers.get(r)?.every(({ op }) => op.kind === "pure") === true;
  };
  const found = new Set<number>();
  const add = (r: number): void => {
    if (isFollowed(r)) found.add(r);
  };
  for (const { op } of instructions) {
    for (const { access, place } of accessesOf(op)) {
      if (access.space === "shared" && place.kind === "address") registersOf(place.address).forEach(add);
    }
  }
  for (const r of found) for (const writer of writers.get(r)!) registersRead(writer).forEach(add);
  if (![...found].some((r) => writers.get(r)!.length > 1)) return new Set();
  for (const { op, guard } of instructions) {
    if (op.kind !== "branch" || guard === null || found.has(guard.register) || !isFollowed(guard.register)) continue;
    const read = writers.get(guard.register)!.flatMap(registersRead);
    if (read.some((r) => found.has(r)) && read.every((r) => found.has(r) || values.knows(r))) found.add(guard.register);
  }
  return found;
}

/** The registers that several branches depend on and all lanes of a warp share. */
function conditionsOf(instructions: readonly Instruction[], { values, ages }: RegisterFacts): readonly number[] {
  const seen = new Set<number>();
  const several = new Set<number>();
  for (const { op, guard } of instructions) {
    if (op.kind !== "branch" || guard === null || guard.collapse !== undefined || values.knows(guard.register))
      continue;
    (seen.has(guard.register) ? several : seen).add(guard.register);
  }
  return [...several].filter((r) => !ages.varies(r));
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

/** How many low bits of registers masks keep, as far as they are constants. */
function bitsAskedFor({ instructions }: IrFunction, followed: ReadonlySet<number>): number {
  let most = lowBits.least;
  const visit = (expr: Expr): void => {
    if (expr.kind !== "prim") return;
    expr.args.forEach(visit);
    if (expr.prim !== "i32.and") return;
    for (const arg of expr.args) {
      const bits = arg.kind === "const" && (arg.value as number) > 0 ? 32 - Math.clz32(arg.value as number) : 0;
      if (bits <= lowBits.most) most = Math.max(most, bits);
    }
  };
  for (const { op, dst } of instructions) {
    if (op.kind === "pure" && dst.some((r) => typeof r === "number" && followed.has(r))) op.values.forEach(visit);
  }
  return most;
}

/** The registers to which constants are added as often as conditions allow that do not follow from them. */
function countersAmong(followed: ReadonlySet<number>, { instructions }: IrFunction, sums: AddressSums): number[] {
  const writers = writersIn(instructions);
  const deciding = new Set<number>();
  for (const { guard } of instructions)
    if (guard !== null && followed.has(guard.register)) deciding.add(guard.register);
  for (const r of deciding) {
    for (const writer of writers.get(r)!)
      for (const from of registersRead(writer)) if (followed.has(from)) deciding.add(from);
  }
  const isAdvanced = (r: number): boolean => {
    const own = sums.of({ kind: "reg", ty: "i32", reg: r });
    return writers.get(r)!.some(({ op, dst }) => {
      const value = op.kind === "pure" ? op.values[dst.indexOf(r)] : undefined;
      if (value === undefined) return false;
      const by = added(sums.of(value), own, -1n);
      return by.size === 1 && by.has("");
    });
  };
  return [...followed].filter((r) => !deciding.has(r) && writers.get(r)!.length > 1 && isAdvanced(r));
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
  run(): readonly Stage[] | number | null {
    const found: Stage[] = [];
    this.#enter(0, new Map());
    for (let i = 0; i < this.#begun.length; i++) {
      if (i === maxStages) return null;
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
    let states: readonly Map<number, Held>[] = [new Map(before)];
    let at = start;
    for (; at < end && states.length === 1; at++) {
      const instruction = this.#instructions[at]!;
      const found = isShared(instruction) ? this.#values.startsOf(instruction, states[0]!) : null;
      if (found !== null) starts.set(at, found);
      states = this.#execute(instruction, states[0]!);
    }
    const next = states.flatMap((state) =>
      at < end ? [this.#enter(at, state)] : this.#placesAfter(index, state).map((to) => this.#enter(...to)),
    );
    return { start, end: at, successors: [...new Set(next.filter((to) => to !== null))], starts };
  }

  /** Where lanes may go on after a block, and in which states. */
  #placesAfter(block: number, state: State): readonly (readonly [number, State])[] {
    const { blocks } = this.#graph;
    const { end, successors } = blocks[block]!;
    const { op, guard } = this.#instructions[end - 1]!;
    if (op.kind === "branch" && guard !== null) {
      const passes = this.#values.passes(guard, state);
      if (passes !== null) return [[passes ? op.target : end, state]];
      if (this.#followed.remembered.has(guard.register)) {
        const after = (value: boolean): State =>
          new Map([...state, [guard.register, this.#values.held({ ty: "pred", column: [value], low: null })!]]);
        return [
          [op.target, after(!guard.negate)],
          [end, after(guard.negate)],
        ];
      }
    }
    return successors.flatMap((to) => (blocks[to] === undefined ? [] : [[blocks[to].start, state] as const]));
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
