import { addressOf } from "../base/addresses.ts";
import type { Graph } from "../work/graph.ts";
import type { Allocations } from "./allocations.ts";

/** A value that decides which bodies of a node of a graph run. It lies in device memory, where kernels set it. */
export class Condition {
  /** The address of the value. */
  readonly handle: bigint;
  /** The graph for a node of which it was made. */
  readonly graph: Graph;
  /** Whether there is that node. */
  isUsed = false;
  readonly #allocations: Allocations;
  readonly #offset: number;
  /** What it is when a launch begins; null if it stays as it was. */
  readonly #initial: number | null;

  constructor(allocations: Allocations, graph: Graph, value: number, isInitial: boolean) {
    this.graph = graph;
    this.#allocations = allocations;
    const about = { kind: "constant", device: -1, flags: 0 } as const;
    this.#offset = allocations.add(4, about, "the value of a conditional handle").offset;
    this.handle = addressOf(this.#offset);
    this.#initial = isInitial ? value : null;
    this.#set(value);
  }

  get value(): number {
    return this.#allocations.memory.views.i32[this.#offset >>> 2]! >>> 0;
  }

  #set(value: number): void {
    this.#allocations.memory.views.i32[this.#offset >>> 2] = value;
  }

  /** A launch of its graph begins. */
  reset(): void {
    if (this.#initial !== null) this.#set(this.#initial);
  }
}
