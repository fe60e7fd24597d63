import type { Instruction, IrFunction } from "../../ir/index.ts";
import type { Extent } from "../memory/extent.ts";

/** The places of a frame's variables, from its start; the unsized formal, if any, comes after all others. */
export interface FrameLayout {
  /** By variable of the function. */
  readonly offsets: readonly number[];
  /** By offset; without the unsized formal. */
  readonly extents: readonly Extent[];
  readonly size: number;
  /** Bytes: the start of a frame is a multiple of it. */
  readonly align: number;
  /** The variable that is an unsized formal, or -1. */
  readonly unsized: number;
}

/** A function of a loaded program, whichever engine runs it. */
export interface ProgramFunction {
  readonly ir: IrFunction;
  /** The address of the function. */
  readonly address: number;
  readonly frame: FrameLayout;
  /** Bytes of stack that an activation costs: its frame, and its registers as if they were saved. */
  readonly stackCost: number;
  /** A kernel's parameters, by address. */
  readonly paramExtents: readonly Extent[];
}

/** One instruction of one function. */
export interface Site {
  readonly code: ProgramFunction;
  readonly index: number;
  readonly instruction: Instruction;
}

/**
 * Predicated execution: the word of the register file with the predicate's lanes (-1: none), and the mask that flips
 * it.
 */
export interface GuardWord {
  readonly guard: number;
  readonly flip: 0 | -1;
  /** Set if an instruction is for certain lanes only (vISA). */
  readonly rule: ChannelRule | null;
}

/** A `LaneRule` of the IR and the `collapse` of its guard, as words. */
export interface ChannelRule {
  readonly channels: number;
  /** -1: the channels execute whether they are active or not. */
  readonly always: 0 | -1;
  /** The lane whose predicate decides for all of the group, or null. */
  readonly decider: number | null;
  readonly collapse: "any" | "all" | null;
}

/** An address for each lane, as numbers of 64 bits and as words, the lower one first. */
export interface LaneAddresses {
  readonly wide: BigInt64Array;
  readonly words: Int32Array;
}
