import type { Instruction, IrFunction } from "../../ir/index.ts";
import type { LeafValue } from "../../semantics/index.ts";
import type { Extent } from "../memory/extent.ts";
import type { Activation } from "./activation.ts";
import type { Group } from "./group.ts";
import type { Warp } from "./warp.ts";

/** One instruction of one function. */
export interface Site {
  readonly code: FunctionCode;
  readonly index: number;
  readonly instruction: Instruction;
}

/** Predicated execution: the word of the register file that holds the predicate's lanes (-1: none), and what flips it. */
export interface GuardWord {
  readonly guard: number;
  readonly flip: 0 | -1;
  /** Where an instruction is for certain lanes only (vISA). */
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

/** An instruction that ends where it began: it neither moves its group nor makes it wait. */
export interface Step extends GuardWord {
  readonly site: Site;
  readonly run: (x: Activation, mask: number) => void;
  /** For an observer: writes the addresses that the instruction is about to access, and returns the lanes that do. */
  readonly addresses: ((x: Activation, mask: number, into: LaneAddresses) => number) | null;
  /** For an observer: cases that the manual leaves undefined, and in which lanes they have come. */
  readonly undefinedCases: readonly UndefinedCheck[];
}

export interface UndefinedCheck {
  readonly code: string;
  readonly lanes: (x: Activation, mask: number) => number;
}

/** An address for each lane, as numbers of 64 bits and as words, the lower one first. */
export interface LaneAddresses {
  readonly wide: BigInt64Array;
  readonly words: Int32Array;
}

/** The instruction that ends a block: it moves, splits, retires or suspends its group. */
export interface Terminator {
  readonly guard: GuardWord;
  readonly site: Site;
  readonly run: (warp: Warp, group: Group) => void;
}

export interface BasicBlock {
  /** Blocks count in layout order. */
  readonly index: number;
  readonly steps: readonly Step[];
  /** Null: control falls into the next block. */
  readonly terminator: Terminator | null;
  readonly next: BasicBlock | null;
  /** Instructions, the terminator included. */
  readonly size: number;
  /** The last of them, for positions in reports. */
  readonly last: Site | null;
  /** It begins with something that other warps and blocks see, or that sees what they do. */
  readonly visible: boolean;
}

/** Where the variables of a frame lie, from the start of the lane's frame; the unsized formal, if any, lies behind all. */
export interface FrameLayout {
  readonly offsets: readonly number[];
  /** By offset; without the unsized formal. */
  readonly extents: readonly Extent[];
  readonly size: number;
  /** Bytes: what a frame's start is a multiple of. */
  readonly align: number;
  /** The variable that is an unsized formal, or -1. */
  readonly unsized: number;
}

/** A function as the machine sees it. Blocks are made when the function is first entered. */
export interface FunctionCode {
  readonly ir: IrFunction;
  /** The address of the function. */
  readonly address: number;
  readonly frame: FrameLayout;
  /** Bytes of the register file, and how many of them hold registers and must begin as zeros. */
  readonly fileBytes: number;
  readonly cleanBytes: number;
  /** Where vISA's byte file begins among them, or -1. */
  readonly byteFileAt: number;
  /** Bytes of stack that an activation costs: its frame, and its registers as if they were saved. */
  readonly stackCost: number;
  readonly entry: BasicBlock;
  /** Activations to be used again. */
  readonly pool: Activation[];
  /** For an observer: what a lane's expressions read. Symbols are not bound, and clocks show 0. */
  leafValue(x: Activation, lane: number): LeafValue;
}
