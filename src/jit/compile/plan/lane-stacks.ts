import { readsOf, valuesOf } from "../../../ir/flow/accesses.ts";
import type { IrFunction } from "../../../ir/index.ts";
import type { CallGraph } from "./call-graph.ts";
import type { CompiledFunction } from "./callables.ts";

/** Neighbouring lanes' stacks must not compete for the same lines of a cache: an odd number of lines apart they do not. */
const lineBytes = 64;

const oddLines = (bytes: number): number => (Math.ceil(bytes / lineBytes) | 1) * lineBytes;

/** Where lanes wait in functions, each of a block has a stack of its own; if nobody knows how deep calls nest, of so many bytes. */
const ownBytes = 16 * 1024;

/** The variables of its frame that a function finds in memory. */
function variablesInMemory({ params, returns, instructions }: IrFunction): ReadonlySet<number> {
  const found = new Set<number>();
  const add = (variable: number) => found.add(variable);
  for (const { storage } of [...params, ...returns]) if (storage.kind === "frame") add(storage.variable);
  for (const instruction of instructions) {
    readsOf(instruction, { frame: (leaf) => add(leaf.variable), variable: add });
    if (instruction.op.kind !== "call") continue;
    for (const result of instruction.op.results) if (result.kind === "frame") add(result.variable);
  }
  return found;
}

/**
 * The stacks of the lanes, one behind the other: frames, as far as they are in memory, and what `alloca` gives. A lane's stack is
 * as large as the deepest chain of calls needs, or, where that is not known beforehand, as large as it may ever become.
 */
export class LaneStacks {
  /** Bytes from one lane's stack to the next; 0 where nothing of any frame is in memory. */
  readonly stride: number;
  /** Within each, where values are put that go from registers to a variable, or the other way. */
  readonly staging: number;
  /** Whether how deep calls nest, or how much they take, is known only when they are made. */
  readonly isChecked: boolean;
  /** Bytes that a lane may use. */
  readonly limit: number;
  /** Whether a lane may need more than its stack has, although it may use as much. */
  readonly isScarce: boolean;
  readonly #graph: CallGraph;
  readonly #variables: ReadonlyMap<CompiledFunction, ReadonlySet<number>>;
  readonly #framed: ReadonlySet<CompiledFunction>;

  constructor(graph: CallGraph, limit: number) {
    this.#graph = graph;
    this.limit = limit;
    this.#variables = new Map(graph.functions.map((f) => [f, variablesInMemory(f.ir)]));
    this.#framed = graph.reaching((f) => this.variablesOf(f).size > 0 || f.allocates);
    this.isChecked =
      graph.order.recursive || graph.functions.some((f) => f.allocates) || this.#most((f) => f.code.stackCost) > limit;
    this.isScarce = this.isChecked && graph.pausesInFunctions;
    // Frames begin at multiples of their alignment, which the limit does not count.
    const most = this.isScarce ? ownBytes : 2 * limit;
    const bytes = this.isChecked ? most : this.#most(({ code: { frame } }) => frame.size + frame.align);
    const staged = Math.max(0, ...graph.functions.map((f) => stagedBytes(f, graph)));
    this.staging = Math.ceil(bytes / 16) * 16;
    this.stride = this.#framed.size + staged === 0 ? 0 : oddLines(this.staging + staged);
  }

  get isUsed(): boolean {
    return this.stride > 0;
  }

  variablesOf(f: CompiledFunction): ReadonlySet<number> {
    return this.#variables.get(f)!;
  }

  /** Whether an activation must know where its frame begins: something of its own or of what it calls is in memory. */
  isFramed(f: CompiledFunction): boolean {
    return this.#framed.has(f);
  }

  /** Whether a call must say where it came from, and what is left. */
  isTracked(f: CompiledFunction): boolean {
    return this.isChecked || this.isFramed(f) || this.#graph.asksHost(f);
  }

  /** The sum over the functions of the longest chain of calls, which does not go in circles; unsized parameters included. */
  #most(bytesOf: (f: CompiledFunction) => number): number {
    const { recursive, functions } = this.#graph.order;
    if (recursive) return 0;
    const most = new Map<CompiledFunction, number>();
    for (const f of functions) {
      const callees = this.#graph.calleesOf(f);
      let deepest = 0;
      for (const callee of callees) deepest = Math.max(deepest, most.get(callee)!);
      most.set(f, bytesOf(f) + deepest + (callees.size === 0 ? 0 : unsizedBytes(f)));
    }
    return most.get(functions.at(-1)!)!;
  }
}

/** The most bytes that a call in a function passes in memory without having them there. */
function stagedBytes({ ir: { instructions } }: CompiledFunction, graph: CallGraph): number {
  return instructions.reduce((most, { op }) => {
    if (op.kind !== "call" || !graph.targetsOf(op).some((f) => takesMemory(f, graph))) return most;
    const args = op.args.flatMap((arg) => (arg.kind === "frame" || arg.kind === "value" ? [] : valuesOf(arg)));
    const results = op.results.flatMap((r) => (r.kind === "register" && r.registers.length > 1 ? r.registers : []));
    return Math.max(most, 8 * (args.length + results.length));
  }, 0);
}

const takesMemory = (f: CompiledFunction, graph: CallGraph): boolean =>
  !f.ir.external &&
  (graph.isCalledByAddress(f) || [...f.ir.params, ...f.ir.returns].some((p) => p.storage.kind === "frame"));

/** The largest argument that a function passes as it is. */
const unsizedBytes = ({ ir: { instructions } }: CompiledFunction): number =>
  instructions.reduce((most, { op }) => {
    if (op.kind !== "call") return most;
    const last = op.args.at(-1);
    return last?.kind === "frame" ? Math.max(most, Math.ceil(last.size / 16) * 16) : most;
  }, 0);
