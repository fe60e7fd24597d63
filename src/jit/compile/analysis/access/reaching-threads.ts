import { flowGraphOf } from "../../../../ir/flow/flow-graph.ts";
import { livenessOf } from "../../../../ir/flow/liveness.ts";
import type { Guard, IrFunction } from "../../../../ir/index.ts";
import { type Dim3, isSameDim3 } from "../../../../machine/reports/report.ts";
import type { Bindings } from "../../../../semantics/bind.ts";
import { ThreadValues } from "../values/thread-values.ts";
import { foundOnce } from "./noted.ts";

/** Kernels with more instructions are not examined: all threads may be anywhere. */
const maxInstructions = 2000;

/** Some threads of a block. Equal sets have the same name. */
export interface ThreadSet {
  readonly name: string;
  /** A bit for each thread. */
  readonly bits: bigint;
  readonly isWhole: boolean;
  has(thread: number): boolean;
}

/** What follows from the numbers of a block's threads alone. */
export interface ThreadFacts {
  /** The threads that may execute an instruction. */
  readonly at: (instruction: number) => ThreadSet;
  /** The threads that may come to an instruction: its guard may be false in some of them. */
  readonly comingTo: (instruction: number) => ThreadSet;
  /** Whether threads pass a guard or not as their numbers say. */
  readonly decides: (guard: Guard) => boolean;
  /** The values of expressions; null for kernels that are not examined. */
  readonly values: ThreadValues | null;
  readonly all: ThreadSet;
  /** The set of threads that has a bit for each of them; sets are made once. */
  readonly setOf: (bits: bigint) => ThreadSet;
}

/** A bit for each thread in which a predicate is true. */
export const threadsIn = (column: readonly (boolean | number)[]): bigint =>
  BigInt(
    `0b${Array.from(column, (value) => (value ? "1" : "0"))
      .reverse()
      .join("")}`,
  );

/**
 * Finds which threads of a block may execute an instruction, as far as conditions decide it that follow from thread
 * numbers alone, such as `tid.x < 8`.
 */
export function threadFactsOf(ir: IrFunction, block: Dim3, bindings: Bindings): ThreadFacts {
  const known = last.get(ir);
  if (known?.bindings === bindings && isSameDim3(known.block, block)) return known.facts;
  const facts = findFacts(ir, block, bindings);
  last = new WeakMap([[ir, { block, bindings, facts }]]);
  return facts;
}

/** What was found last: several analyses ask for the same facts, one after the other. */
let last = new WeakMap<
  IrFunction,
  { readonly block: Dim3; readonly bindings: Bindings; readonly facts: ThreadFacts }
>();

function findFacts(ir: IrFunction, block: Dim3, bindings: Bindings): ThreadFacts {
  const { instructions } = ir;
  const count = block[0] * block[1] * block[2];
  const all = (1n << BigInt(count)) - 1n;
  const setOf = memoized((bits: bigint): ThreadSet => {
    const digits = bits.toString(2);
    const members = Uint8Array.from({ length: count }, (_, t) => Number(digits[digits.length - 1 - t] === "1"));
    return { name: bits.toString(36), bits, isWhole: bits === all, has: (t) => members[t] === 1 };
  });
  if (instructions.length > maxInstructions) {
    const everyone = (): ThreadSet => setOf(all);
    return { at: everyone, comingTo: everyone, decides: () => false, values: null, all: setOf(all), setOf };
  }
  const graph = flowGraphOf(instructions);
  const liveness = livenessOf(ir, graph, []);
  const values = new ThreadValues(ir, block, bindings, (r) => !liveness.liveIn(0).has(r));
  /** The threads that pass a guard; null where not only their numbers decide it. */
  const passing = memoized((register: number): bigint | null => {
    const found = values.of({ kind: "reg", reg: register, ty: "pred" });
    return found === null ? null : threadsIn(found);
  });
  const passedBy = ({ register, collapse }: Guard): bigint | null =>
    collapse === undefined ? passing(register) : null;
  const among = (threads: bigint, guard: Guard | null, passes: boolean): bigint => {
    if (guard === null) return passes ? threads : 0n;
    const bits = passedBy(guard);
    if (bits === null) return threads;
    return threads & (guard.negate === passes ? all & ~bits : bits);
  };
  const ins: bigint[] = graph.blocks.map(({ index }) => (index === 0 ? all : 0n));
  const todo = new Set(graph.blocks.length === 0 ? [] : [0]);
  for (const index of todo) {
    todo.delete(index);
    const { end, successors } = graph.blocks[index]!;
    const { op, guard } = instructions[end - 1]!;
    for (const to of successors) {
      if (to >= graph.blocks.length) continue;
      const isTarget = op.kind === "branch" && graph.blockAt(op.target) === to;
      const isNext = to === index + 1;
      const moves = ["branch", "return", "exit"].includes(op.kind) && isTarget !== isNext;
      const threads = ins[to]! | (moves ? among(ins[index]!, guard, isTarget) : ins[index]!);
      if (threads === ins[to]) continue;
      ins[to] = threads;
      todo.add(to);
    }
  }
  return {
    at: (i) => setOf(among(ins[graph.blockAt(i)]!, instructions[i]!.guard, true)),
    comingTo: (i) => setOf(ins[graph.blockAt(i)]!),
    decides: (guard) => passedBy(guard) !== null,
    values,
    all: setOf(all),
    setOf,
  };
}

function memoized<K, V>(find: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>();
  return (key) => foundOnce(known, key, () => find(key));
}
