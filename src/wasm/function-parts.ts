import type { Wasm } from "./graph.ts";

/** A branch target, identified by the number of labels that are open around it. */
export interface Label {
  readonly depth: number;
}

/** A local and its new value. */
export interface Assignment {
  readonly local: number;
  readonly value: Wasm;
}

/** The likely outcome of a branch condition; null if unknown. */
export type Expectation = boolean | null;

/**
 * The spill area of a function: `bytes` bytes, at `offset` from the address in the local `base`. The function owns it
 * while it runs.
 */
export interface OwnMemory {
  readonly base: number;
  readonly offset: number;
  readonly bytes: number;
  /** The most locals that the function may declare before `lasting` values are spilled. */
  readonly mostLocals: number;
}

/** Code that has been cut out of a function, to be written at other places. */
export interface CutCode {
  readonly write: () => void;
  /** Lets others use the locals in which it computes: once it is not written any more. */
  readonly release: () => void;
}
