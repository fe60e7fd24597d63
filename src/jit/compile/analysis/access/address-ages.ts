import { accessesOf } from "../../../../ir/op-traits.ts";
import { writersIn, writesOf } from "../../../../ir/flow/accesses.ts";
import type { BitSet } from "../../../../ir/flow/bit-set.ts";
import { departuresOf, divergenceOf } from "../../../../ir/flow/divergence.ts";
import { type FlowGraph, flowGraphOf } from "../../../../ir/flow/flow-graph.ts";
import { type Liveness, livenessOf } from "../../../../ir/flow/liveness.ts";
import type { Instruction, IrFunction } from "../../../../ir/index.ts";
import { everyLeaf, type Expr, registersOf } from "../../../../semantics/index.ts";
import { kind } from "../values/lane-kinds.ts";
import { type AddressSums, registersOfTerm } from "./address-sums.ts";

/**
 * When the terms of two addresses, which are written alike, stand for the same number: registers are written again in
 * each round of a loop, and what was computed from them before is of another age.
 */
export class AddressAges {
  readonly #ir: IrFunction;
  readonly #sums: AddressSums;
  readonly #graph: FlowGraph;
  /** Registers that may hold one value after the other. */
  #changing: ReadonlySet<number> | null = null;
  readonly #changingIn = new Map<string, readonly number[]>();
  readonly #mixesRows: boolean;
  #differences: Differences | null = null;
  #stale: Uint8Array | null = null;

  /** `mixesRows`: whether lanes of a group may have other numbers in y and z. */
  constructor(ir: IrFunction, sums: AddressSums, mixesRows: boolean) {
    this.#ir = ir;
    this.#sums = sums;
    this.#mixesRows = mixesRows;
    this.#graph = flowGraphOf(ir.instructions);
  }

  /** The registers of a term that may hold one value after the other. */
  changingIn(term: string): readonly number[] {
    let found = this.#changingIn.get(term);
    if (found === undefined) {
      found = registersOfTerm(term).filter((r) => this.#changes(r));
      this.#changingIn.set(term, found);
    }
    return found;
  }

  #changes(register: number): boolean {
    this.#changing ??= changingRegisters(this.#ir, this.#graph);
    return this.#changing.has(register);
  }

  /** Whether a register may hold other values in some lanes of a group than in others. */
  differs(register: number): boolean {
    return this.#found().differing.has(register);
  }

  /** Whether it may, or each instruction that writes it gives others other values. */
  varies(register: number): boolean {
    return this.#sums.kinds[register] !== kind.uniform || this.differs(register);
  }

  /** What is live where lanes of a group may wait while others execute a block. */
  liveElsewhere(block: number): readonly BitSet[] {
    return this.#found().liveElsewhere(block);
  }

  #found(): Differences {
    return (this.#differences ??= differencesIn(this.#ir, this.#graph, this.#sums, this.#mixesRows));
  }

  /** Whether terms of an instruction's address may be older than what their registers hold by then. */
  isStale(instruction: number): boolean {
    this.#stale ??= staleAddresses(this.#ir, this.#graph, this.#sums, (r) => this.#changes(r));
    return this.#stale[instruction] === 1;
  }
}

/** The registers that are written in several places, or in a loop. */
function changingRegisters({ instructions }: IrFunction, { blocks }: FlowGraph): ReadonlySet<number> {
  /** By block, how many loops begin there less those that have ended: each way back goes to an earlier place. */
  const loops = new Int32Array(blocks.length + 1);
  for (const { index, successors } of blocks) {
    for (const to of successors) {
      if (to > index) continue;
      loops[to]!++;
      loops[index + 1]!--;
    }
  }
  const [once, changing] = [new Set<number>(), new Set<number>()];
  let depth = 0;
  for (const { index, start, end } of blocks) {
    depth += loops[index]!;
    for (let i = start; i < end; i++) {
      writesOf(instructions[i]!, (r) => (depth > 0 || once.has(r) ? changing : once).add(r));
    }
  }
  return changing;
}

/** What lanes of a group that go other ways hold. */
interface Differences {
  /**
   * Of the registers that are the same in all lanes as far as each instruction shows it, those that are not, since
   * lanes that go another way do not write them, or write them more often.
   */
  readonly differing: ReadonlySet<number>;
  /** See `AddressAges.liveElsewhere`. */
  readonly liveElsewhere: (block: number) => readonly BitSet[];
}

function differencesIn(ir: IrFunction, graph: FlowGraph, { kinds }: AddressSums, mixesRows: boolean): Differences {
  const { instructions } = ir;
  const differing = new Set<number>();
  const varies = (r: number): boolean => kinds[r] !== kind.uniform || differing.has(r);
  const variesIn = (expr: Expr): boolean => registersOf(expr).some(varies) || (mixesRows && !everyLeaf(expr, isOfRow));
  const divergent = (block: number): boolean => {
    const { guard } = instructions[graph.blocks[block]!.end - 1]!;
    return guard !== null && varies(guard.register);
  };
  if (!mixesRows && !graph.blocks.some(({ index }) => divergent(index))) return { differing, liveElsewhere: () => [] };
  let liveness: Liveness | null = null;
  const departures = departuresOf(graph, instructions);
  for (;;) {
    const { size } = differing;
    const divergence = divergenceOf(graph, { divergent }, departures);
    const liveElsewhere = (block: number): readonly BitSet[] =>
      [...divergence.waiting(block)].map((other) => (liveness ??= livenessOf(ir, graph, [])).liveIn(other));
    for (const { index, start, end } of graph.blocks) {
      const elsewhere = liveElsewhere(index);
      for (let i = start; i < end; i++) {
        const instruction = instructions[i]!;
        const { op, guard } = instruction;
        writesOf(instruction, (r) => {
          if (varies(r)) return;
          const value = op.kind === "pure" ? op.values[instruction.dst.indexOf(r)] : undefined;
          const read = op.kind === "load" && op.place.kind === "address" ? op.place.address : value;
          const isGiven = (guard !== null && varies(guard.register)) || (read !== undefined && variesIn(read));
          if (isGiven || elsewhere.some((live) => live.has(r))) differing.add(r);
        });
      }
    }
    if (differing.size === size) return { differing, liveElsewhere };
  }
}

/** Whether all lanes of a row have the same value of a leaf, if they have the same registers. */
const isOfRow = (leaf: Exclude<Expr, { kind: "prim" }>): boolean =>
  leaf.kind !== "special" || (leaf.name !== "tid.y" && leaf.name !== "tid.z");

/**
 * By instruction, 1 where an address is computed from a register that was computed from a changing one which has been
 * written since: its sum names what that held before.
 */
function staleAddresses(
  ir: IrFunction,
  { blocks }: FlowGraph,
  sums: AddressSums,
  changes: (register: number) => boolean,
): Uint8Array {
  const { instructions } = ir;
  const found = new Uint8Array(instructions.length);
  const read = instructions.map(({ op }) =>
    accessesOf(op).flatMap(({ place }) => (place.kind === "address" ? registersOf(place.address) : [])),
  );
  const derived = derivedRegisters(ir, read.flat(), sums, changes);
  if (derived.size === 0) return found;
  const ins = blocks.map(() => new Set<number>());
  const todo = new Set(blocks.map(({ index }) => index));
  for (const block of todo) {
    todo.delete(block);
    const { start, end, successors } = blocks[block]!;
    const stale = new Set(ins[block]!);
    for (let i = start; i < end; i++) {
      if (read[i]!.some((r) => stale.has(r))) found[i] = 1;
      age(stale, instructions[i]!, derived);
    }
    for (const to of successors) {
      if (to >= blocks.length) continue;
      const { size } = ins[to]!;
      for (const r of stale) ins[to]!.add(r);
      if (ins[to]!.size > size) todo.add(to);
    }
  }
  return found;
}

/** By changing register, those whose sums name it, among the given ones and what these are computed from. */
function derivedRegisters(
  { instructions }: IrFunction,
  given: readonly number[],
  sums: AddressSums,
  changes: (register: number) => boolean,
): ReadonlyMap<number, ReadonlySet<number>> {
  const writers = writersIn(instructions);
  const derived = new Map<number, Set<number>>();
  const used = new Set(given);
  for (const r of used) {
    for (const term of sums.of({ kind: "reg", ty: "i64", reg: r }).keys()) {
      for (const root of registersOfTerm(term)) {
        if (root === r || !changes(root)) continue;
        const known = derived.get(root) ?? new Set();
        derived.set(root, known.add(r));
      }
    }
    for (const { op, dst } of writers.get(r) ?? []) {
      if (op.kind === "pure") for (const from of registersOf(op.values[dst.indexOf(r)]!)) used.add(from);
    }
  }
  return derived;
}

/** Changes the stale registers before an instruction to those after it. */
function age(stale: Set<number>, instruction: Instruction, derived: ReadonlyMap<number, ReadonlySet<number>>): void {
  const { op, dst, guard } = instruction;
  const fresh: number[] = [];
  writesOf(instruction, (r) => {
    const value = op.kind === "pure" ? op.values[dst.indexOf(r)] : undefined;
    if (value !== undefined && registersOf(value).some((from) => stale.has(from))) stale.add(r);
    else if (guard === null) fresh.push(r);
  });
  for (const r of fresh) stale.delete(r);
  writesOf(instruction, (r) => {
    for (const other of derived.get(r) ?? []) stale.add(other);
  });
}
