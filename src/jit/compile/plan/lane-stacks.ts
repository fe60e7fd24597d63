import { valuesOf } from "../../../ir/flow/accesses.ts";
import { variablesInMemory } from "../../../ir/flow/variables-in-memory.ts";
import type { CallGraph } from "./call-graph.ts";
import type { CompiledFunction } from "./compiled-functions.ts";
import { lastingFrames } from "./lasting-frames.ts";

/**
 * Stacks are an odd number of cache lines apart, so that those of neighbouring lanes do not compete for the same lines.
 */
const lineBytes = 64;
const oddLines = (bytes: number): number => (Math.ceil(bytes / lineBytes) | 1) * lineBytes;

/**
 * Bytes of a lane's stack where lanes suspend in functions, so that every thread needs its own, and nesting has no
 * known depth.
 */
const ownBytes = 16 * 1024;

/**
 * The lanes' stacks, one after the other: frames, as far as they lie in memory, and what `alloca` takes. A lane's stack
 * is as large as the deepest chain of calls needs or, where that is not known at compile time, as large as it may ever
 * become.
 */
export class LaneStacks {
  /** Bytes from one lane's stack to the next; 0 where nothing of any frame is in memory. */
  readonly stride: number;
  /** Offset in each stack at which values are staged that are passed in memory but have no variable. */
  readonly staging: number;
  /** Whether calls must be checked at run time: their depth, or what they take, is not known before. */
  readonly isChecked: boolean;
  /** Bytes that a lane may use. */
  readonly limit: number;
  /** Whether compiled code knows what to say of a lane that needs more; otherwise it gives up. */
  readonly isExplained: boolean;
  /** Whether a lane may need more than its stack has although the limit allows it. */
  readonly isScarce: boolean;
  readonly #graph: CallGraph;
  readonly #variables: ReadonlyMap<CompiledFunction, ReadonlySet<number>>;
  readonly #framed: ReadonlySet<CompiledFunction>;
  readonly #lasting: ReadonlyMap<CompiledFunction, number>;

  constructor(graph: CallGraph, limit: number) {
    this.#graph = graph;
    const { privateStack } = graph.functions[0]!;
    this.limit = privateStack?.limit ?? limit;
    this.isExplained = privateStack === null;
    this.#variables = new Map(graph.functions.map((f) => [f, variablesInMemory(f.ir)]));
    this.#lasting = lastingFrames(graph);
    this.#framed = graph.reaching((f) => this.variablesOf(f).size > 0 || f.allocates);
    this.isChecked =
      graph.order.recursive ||
      graph.functions.some((f) => f.allocates) ||
      this.#deepest((f) => this.costOf(f)) > this.limit;
    this.isScarce = this.isChecked && graph.suspendsInFunctions;
    // Frames begin at multiples of their alignment, which the limit does not count.
    const most = this.isScarce ? ownBytes : 2 * this.limit;
    const bytes = this.isChecked ? most : this.#deepest(({ code: { frame } }) => frame.size + frame.align);
    const staged = Math.max(0, ...graph.functions.map((f) => stagedBytes(f, graph)));
    this.staging = Math.ceil(bytes / 16) * 16;
    this.stride = this.#framed.size + staged === 0 ? 0 : oddLines(this.staging + staged);
  }

  get isUsed(): boolean {
    return this.stride > 0;
  }

  /** The bytes of a lane's stack that an activation takes. */
  costOf({ privateStack, code }: CompiledFunction): number {
    return privateStack?.bytes ?? code.stackCost;
  }

  variablesOf(f: CompiledFunction): ReadonlySet<number> {
    return this.#variables.get(f)!;
  }

  /** To which offset of a lane's stack the same variables exist whenever a function runs. */
  lastingIn(f: CompiledFunction): number {
    return this.#lasting.get(f)!;
  }

  /** Whether an activation must know where its frame begins: it, or what it calls, has variables in memory. */
  isFramed(f: CompiledFunction): boolean {
    return this.#framed.has(f);
  }

  /** Whether a call must leave an entry in the shadow stack. */
  isTracked(f: CompiledFunction): boolean {
    return this.isChecked || this.isFramed(f) || this.#graph.asksHost(f);
  }

  /** The largest sum over a chain of calls, unsized parameters included; 0 where calls are recursive. */
  #deepest(bytesOf: (f: CompiledFunction) => number): number {
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

/** The most bytes that a call in a function passes in memory out of registers. */
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

/** Bytes of the largest argument that a function may pass for an unsized parameter. */
const unsizedBytes = ({ ir: { instructions } }: CompiledFunction): number =>
  instructions.reduce((most, { op }) => {
    if (op.kind !== "call") return most;
    const last = op.args.at(-1);
    return last?.kind === "frame" ? Math.max(most, Math.ceil(last.size / 16) * 16) : most;
  }, 0);
