/*
 * The state of a launch: a grid, its blocks, their warps, and the groups of lanes and the activations of these. Each
 * refers to the one around it and to those within it, so they are interfaces in one file, which the others import.
 */

import type { Access, MatrixSums } from "../../ir/index.ts";
import type { LeafValue } from "../../semantics/index.ts";
import type { AddressSpace } from "../memory/address-space.ts";
import type { Restore } from "../memory/checkpoint.ts";
import type { LaneStack } from "../memory/lane-stack.ts";
import type { DeviceMemory } from "../memory/memory.ts";
import type { UnitStates } from "./unit-state.ts";
import type { Views } from "../memory/views.ts";
import type { Dim3, RelatedPlace, Report, StackEntry } from "../reports/report.ts";
import type { Bank } from "./bank.ts";
import type { Barrier, Reduction } from "./barrier.ts";
import type { ClusterBarrier } from "./cluster-barrier.ts";
import type { DeviceSide } from "./device-work.ts";
import type { GuardWord, LaneAddresses, ProgramFunction, Site } from "./code.ts";
import type { Extent } from "../memory/extent.ts";
import type { PassedParts, SmallViews } from "./register-views.ts";
import type { ThreadModel } from "./thread-model.ts";

/** An instruction that ends where it began: it neither moves its group nor makes it wait. */
export interface Step extends GuardWord {
  readonly site: Site;
  /** Executes it for the lanes of `mask`. */
  readonly run: (x: Activation, mask: number) => void;
  /** For an observer: the accesses to memory that the instruction makes. */
  readonly accesses: readonly StepAccess[];
  /** For an observer: cases that the manual leaves undefined, and the lanes in which they occur. */
  readonly undefinedCases: readonly UndefinedCheck[];
}

/** An access that an instruction makes, or a variety of one: in different lanes they may move different amounts. */
export interface StepAccess {
  /** Which of the instruction's accesses it is. */
  readonly ordinal: number;
  readonly effect: "load" | "store" | "atomic";
  readonly access: Access;
  /** Writes the addresses that lanes are about to access, and returns the lanes that do. */
  readonly addresses: (x: Activation, mask: number, into: LaneAddresses) => number;
}

/** A case that the manual leaves undefined, and the code of its report. */
export interface UndefinedCheck {
  readonly code: string;
  /** Returns the lanes of `mask` in which the case occurs. */
  readonly lanes: (x: Activation, mask: number) => number;
}

/** The instruction that ends a block: it moves, splits, retires or suspends its group. */
export interface Terminator {
  readonly guard: GuardWord;
  readonly site: Site;
  /** Executes it for the lanes of the group. */
  readonly run: (warp: Warp, group: Group) => void;
}

/** A basic block of a function, ready to run: steps, and the instruction that ends it. */
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
  /** Whether the block begins with an instruction that other warps and blocks see, or that sees what they do. */
  readonly visible: boolean;
}

/** A function as basic blocks that run. These are made when the function is first entered. */
export interface FunctionCode extends ProgramFunction {
  /** Bytes of the register file, and how many of them hold registers and must begin as zeros. */
  readonly fileBytes: number;
  readonly cleanBytes: number;
  /** Where vISA's byte file begins among them, or -1. */
  readonly byteFileAt: number;
  readonly entry: BasicBlock;
  /** Activations that have ended, to be used again. */
  readonly pool: Activation[];
  /** For an observer: what a lane's expressions read. Symbols are not bound, and clocks show 0. */
  leafValue(x: Activation, lane: number): LeafValue;
}

/** What a lane took from its stack with `alloca`, within one call. */
export interface StackPiece {
  readonly lane: number;
  /** Offsets in the window of local memory. */
  readonly start: number;
  readonly end: number;
  /** Where the bytes lie in the lane's memory: after the frame, in the order in which they were taken. */
  readonly at: number;
}

/** One call of a function by lanes of a warp: who called, and where its frame lies in the lanes' stacks. */
export interface CallFrame {
  readonly code: ProgramFunction;
  warp: Warp;
  /** Null for a kernel. */
  caller: CallFrame | null;
  /** The call in the caller's code. */
  callSite: Site | null;
  /** Calls around this one. */
  depth: number;
  /** Where the frame begins in the lanes' stack, and the bytes of the unsized formal. */
  base: number;
  unsizedBytes: number;
  /** Bytes of the lane's stack in use, this frame included; `alloca` adds to it. */
  top: number;
  /** The same with saved registers, which count against the limit but have no address. */
  cost: number;
  /** Lane by lane the stack pointer, an offset in the window of local memory; null before the first `alloca`. */
  pointers: Int32Array | null;
  pieces: StackPiece[] | null;
}

/**
 * A call that the interpreter executes. Each activation has registers of its own: one value per lane, `lane` elements
 * after the register's base, and one word per predicate, a bit per lane.
 */
export interface Activation extends CallFrame {
  readonly code: FunctionCode;
  readonly i32: Int32Array;
  readonly f32: Float32Array;
  readonly i64: BigInt64Array;
  readonly f64: Float64Array;
  /** The same bytes for code that has a byte file; else empty. */
  readonly small: SmallViews;
  /** The byte file. */
  readonly file: DataView;
  /** Parts of it; null before the first call. */
  passed: PassedParts | null;
  /** The registers that must begin as zeros. */
  readonly clean: Int32Array;
  /** The activation whose registers and byte file a subroutine shares. */
  readonly within: Activation | null;
  caller: Activation | null;
  /** Where the calling lanes go on; null for a kernel. */
  resume: BasicBlock | null;
  /** The lanes that go on there, where they are not those that have returned; else 0. */
  resumeMask: number;
  /** Copies the results to the caller, for the lanes that return. */
  onReturn: ((x: Activation, mask: number) => void) | null;
  /** The number of the call among those of the warp. */
  serial: number;
  /** Lanes that have neither returned nor exited. */
  live: number;
  /** Lanes that have returned and wait for the others. */
  returned: number;
  /** Keeps its state, and returns a function that restores it. */
  checkpoint(): Restore;
  /** No lane is left: the activation may be used again. */
  release(): void;
}

/** What a group brings to a barrier. */
export interface BarrierArrival {
  readonly site: Site;
  readonly mode: "sync" | "arrive" | "red" | "wait";
  readonly aligned: boolean;
  /** Threads; null for all of the block. */
  readonly count: number | null;
  /** Lanes whose predicate is true. */
  readonly votes: number;
  /** Writes the result, where there is one, and lets the group go on. */
  readonly release: (reduction: Reduction) => void;
}

/** What a group brings to a warp-wide operation. */
export interface WarpArrival {
  readonly site: Site;
  /** Operations with the same key can complete together (section 9.7.9.6: the same qualifiers and the same mask). */
  readonly key: string;
  /** The lanes of the member mask. */
  readonly named: number;
  /** Executes the operation for all groups that have come. */
  readonly act: (groups: readonly Group[]) => void;
}

/** Why a group does not run. */
export type Wait =
  /** For the other lanes of its warp, at a barrier. */
  | { readonly kind: "converge"; readonly barrier: number; readonly arrival: BarrierArrival }
  /** For other warps: the warp has arrived at the barrier. */
  | { readonly kind: "barrier"; readonly barrier: number; readonly arrival: BarrierArrival }
  /** For the lanes of a member mask, at a warp-wide operation. */
  | { readonly kind: "lanes"; readonly arrival: WarpArrival }
  /** For the other threads of the cluster. */
  | { readonly kind: "cluster"; readonly arrival: { readonly site: Site } };

/** Lanes of a warp that run together: the same activation, the same place. */
export interface Group {
  readonly activation: Activation;
  at: BasicBlock;
  mask: number;
  /** How often the group has given way: groups that have given way less often run first. */
  turn: number;
  wait: Wait | null;
  /** Keeps its state, and returns a function that restores it. */
  checkpoint(): Restore;
}

/** Up to 32 lanes, in groups that run together: a warp of PTX, a hardware thread of vISA. */
export interface Warp {
  readonly cta: Cta;
  readonly index: number;
  /** Lanes that exist (the last warp of a block may be partial), and those that have not exited. */
  readonly lanes: number;
  live: number;
  /** `tid.x` of the lanes, then `tid.y`, then `tid.z`. */
  readonly tid: Int32Array;
  /** A hardware thread of vISA: its groups share one instruction pointer, and none overtakes another that waits. */
  readonly lockstep: boolean;
  readonly stack: LaneStack;
  readonly groups: Group[];
  /** Set by accesses that can see what other threads do: atomics, volatile and strong loads. */
  watched: boolean;
  /** Whether the running group has given way, or found a phase of an mbarrier complete; others have their turn then. */
  yielded: boolean;
  passesTurn: boolean;
  /** The lanes that have found the phase of an mbarrier incomplete in the warp's last turn, and where. */
  polled: number;
  pollSite: Site | null;
  /** The mbarrier as the last of them found it, and where. */
  pollWord: bigint;
  pollPlace: { readonly views: Views; readonly at: number } | null;
  /** The last backward jump: where a launch that does not end is. */
  lastJump: Site | null;
  /** Begins a kernel with all lanes. */
  start(kernel: FunctionCode): void;
  /**
   * The group to run: among those that gave way least, the one in the deepest frame, of several such frames in the one
   * that was entered first, and there the lowest place. Groups at the same place are merged into it. Null when all wait
   * or none is left.
   */
  pick(): Group | null;
  /** Splits lanes off a group; they go on at another block. */
  fork(group: Group, mask: number, at: BasicBlock): Group;
  /** Merges all other lanes of the group's activation into the group, wherever they are. */
  gather(group: Group): void;
  /** Lanes of a group begin to execute a function at `entry`; `resume` is where they go on afterwards. */
  call(group: Group, callee: Activation, entry: BasicBlock, mask: number, site: Site, resume: BasicBlock): void;
  /** All lanes of the thread begin to execute a function; then the group goes on as it was, at `resume`. */
  callAll(group: Group, callee: Activation, entry: BasicBlock, site: Site, resume: BasicBlock): void;
  /** Lanes of a group leave its function. The caller goes on when no lane is left in it. */
  return(group: Group, mask: number): void;
  /** Lanes of a group end. */
  exit(group: Group, mask: number): void;
  /** A group jumps to an earlier block. One that keeps doing so gives way to others, soon where it `mayAwait` them. */
  jumpBack(group: Group, site: Site, mayAwait: boolean): void;
  /** Lets groups run first that have given way less often. */
  giveWay(group: Group): void;
  /**
   * Lets lanes that have returned, and wait for others of their activation, go on without them; else a lane that spins
   * in a callee for one that has returned from it would spin for ever. True when there were any.
   */
  flushReturned(group: Group): boolean;
  /** Removes a group from the warp. */
  remove(group: Group): void;
  /** All activations that its groups execute and will return to, callers after their callees. */
  readonly activations: ReadonlySet<Activation>;
  /** Bytes that a checkpoint of the warp keeps, about. */
  readonly stateBytes: number;
  /** Keeps its state, and returns a function that restores it. */
  checkpoint(): Restore;
}

/** A block of the grid while it runs. The object is used again for later blocks. */
export interface Cta {
  readonly grid: Grid;
  /** The special values that are the same in every lane of the block, by `scalarIndex`. */
  readonly scalars: Int32Array;
  readonly shared: Views;
  readonly barriers: readonly Barrier<Warp>[];
  readonly warps: readonly Warp[];
  readonly units: UnitStates;
  /** Blocks that run at the same time have different ones. */
  readonly slot: number;
  id: Dim3;
  /** The cluster that it belongs to, and its rank there: 0 in a launch without clusters. */
  readonly cluster: Cluster;
  readonly rank: number;
  /** Whether an mbarrier has changed in the block's last turn. */
  signalled: boolean;
  /** Whether a barrier for all threads of the block has let them go on in the turn of the warp that runs. */
  released: boolean;
  /** The linear index of the block in its grid: blocks begin in this order. */
  ticket: number;
  /** Begins the block with this linear index: all of its warps begin the kernel. */
  start(ticket: number, kernel: FunctionCode, cluster?: Cluster): void;
  readonly liveWarps: number;
  /** The warps that a barrier without a count waits for: in PTX those that have not exited, in vISA all. */
  readonly expectedWarps: number;
  /** Bytes that a checkpoint of the block keeps, about. */
  readonly stateBytes: number;
  /** Keeps its state, and returns a function that restores it. */
  checkpoint(): Restore;
}

/** Blocks that run together, and may access each other's shared memory. Without clusters each block is one. */
export interface Cluster {
  readonly size: number;
  readonly barrier: ClusterBarrier;
  /** The block of a rank: it has exited, or not begun; null: there is no such rank. */
  block(rank: number): Cta | "exited" | "absent" | null;
  /** A block has begun. */
  enter(cta: Cta): void;
  /** A block has ended. */
  leave(cta: Cta): void;
  /** Keeps its state, and returns a function that restores it. */
  checkpoint(): Restore;
}

/** How the blocks of a grid form clusters. */
export interface ClusterShape {
  /** Blocks of a cluster in each dimension, which divide those of the grid. */
  readonly dimensions: Dim3;
  /** Whether the launch or the kernel says so (`%is_explicit_cluster`). */
  readonly isExplicit: boolean;
}

/** One launch of a kernel: what all of its blocks share. */
export interface Grid {
  readonly id: number;
  readonly kernel: string;
  readonly dimensions: Dim3;
  readonly block: Dim3;
  readonly cluster: ClusterShape;
  readonly addresses: AddressSpace;
  readonly memory: DeviceMemory;
  readonly constants: Bank;
  readonly params: Bank;
  /** The shared variables of a block, the dynamic ones included; each block has its own copy of the bytes. */
  readonly sharedExtents: readonly Extent[];
  readonly staticSharedBytes: number;
  readonly dynamicSharedBytes: number;
  /** Bytes of stack that a lane may use. */
  readonly stackLimit: number;
  readonly processors: number;
  /** The values of %envreg1 and %envreg2: the address of what the blocks of a cooperative launch share, or 0. */
  readonly environment: readonly [high: number, low: number];
  /** How products of matrices are summed. */
  readonly matrix: MatrixSums;
  /** Of a vISA kernel: its hardware threads, which are the warps. */
  readonly threads: ThreadModel | null;
  /** The observers; null while a debugger goes through time again that they have seen, and where there are none. */
  observers: EventSink | null;
  readonly reports: FindingSink;
  /** Called with what kernels print. */
  readonly print: (text: string) => void;
  /** What kernels may ask of the device, and hand to it. @internal */
  readonly device: DeviceSide;
  /** Executed thread-instructions. */
  steps: number;
  /** Bytes of the activations that calls of vISA's functions have made so far. */
  activationBytes: number;
  /** How often the clock has been read. */
  clockReads: number;
  /** A clock that counts issued warp-instructions, and never shows the same time twice. */
  clock(): bigint;
}

/**
 * The observers of a launch as state holds them. Events are made of this state: `emit` of events.ts knows their types.
 */
export interface EventSink {
  /** Whether an observer handles events of this kind. */
  watch(name: string): boolean;
  /** Passes an event to the observers that handle its kind. */
  emit(name: string, event: object): void;
}

/** What a sanitizer or a fault has to say about lanes at an instruction. */
export interface Finding {
  readonly code: string;
  readonly severity: "error" | "warning";
  readonly message: string;
  readonly help?: string | undefined;
  readonly notes?: readonly string[] | undefined;
  readonly related?: readonly RelatedPlace[] | undefined;
  readonly site: Site;
  readonly activation: CallFrame;
  readonly lanes: number;
  /** Where the activation is no longer in the function of the site. */
  readonly stack?: readonly StackEntry[] | undefined;
}

/** The findings of a launch, and the reports that they have become. */
export interface FindingSink {
  readonly reports: readonly Report[];
  /** Whether there is an error among them. */
  readonly failed: boolean;
  /** Adds a finding. Those with the same code at the same instruction become one report. */
  add(finding: Finding): void;
}
