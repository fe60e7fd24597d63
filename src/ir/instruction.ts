import type { Expr, Region } from "../semantics/index.ts";
import type { Span } from "../source/index.ts";
import type { Access, Place } from "./access.ts";
import type { Arrangement } from "./arrangement.ts";
import type { LaneRule } from "./lanes.ts";
import type { MatrixProduct } from "./matrix-product.ts";
import type { Signature } from "./signature.ts";
import type { UnitOp } from "./unit.ts";

/**
 * Restricts an instruction to the lanes in which a predicate register is true (with `negate`: false). `collapse`: the
 * lanes of the instruction's rule decide together, by whether any or all of their bits are set (before `negate`).
 */
export interface Guard {
  readonly register: number;
  readonly negate: boolean;
  readonly collapse?: "any" | "all";
}

/** Where a result goes in the byte file; see `Region` in semantics/expr.ts. */
export type FileTarget =
  | { readonly kind: "region"; readonly bits: 8 | 16 | 32 | 64; readonly region: Region }
  /** At a computed byte (`i32`); nothing is written outside the file. */
  | { readonly kind: "indirect"; readonly bits: 8 | 16 | 32 | 64; readonly address: Expr };

/** A register or a place in the byte file; null drops the result. */
export type Destination = number | FileTarget | null;

/** The function that a call enters: named, or at an address that each lane computes. */
export type CallTarget =
  | { readonly kind: "direct"; readonly function: string }
  | {
      readonly kind: "indirect";
      /** A function address (`i64`, or `i32` where the program keeps it in 32 bits). */
      readonly address: Expr;
      /** From `.callprototype`, or the common signature of the targets. */
      readonly signature: Signature;
      /** From `.calltargets` or a call table: the only functions that may be called. */
      readonly targets: readonly string[] | null;
      /** The name of the list or prototype, for messages. */
      readonly via: string;
    };

/**
 * An argument of a call: a value of `bits` bits, or a variable of the caller's frame (an index into `frame`; `size` in
 * bytes).
 */
export type Argument =
  | { readonly kind: "value"; readonly value: Expr; readonly bits: number }
  | { readonly kind: "frame"; readonly variable: number; readonly size: number }
  /** A 128-bit register. */
  | { readonly kind: "pair"; readonly low: Expr; readonly high: Expr }
  /** A vector register, element by element. */
  | { readonly kind: "vector"; readonly elements: readonly Expr[] };

/** Where a call's result goes: registers, a frame variable (an index into `frame`; `size` in bytes), or nowhere. */
export type Result =
  | { readonly kind: "register"; readonly registers: readonly number[] }
  | { readonly kind: "frame"; readonly variable: number; readonly size: number }
  | { readonly kind: "discard" };

/**
 * An operation that the lanes of a warp perform together, on a list of operands that each lane brings. Its results go
 * to the instruction's `dst` in the stated order; both lists have any length. Traits: `warpTraits` in op-traits.ts.
 */
export type WarpOp =
  /** Results: `value` of the lane that mode, `lane` and `bounds` choose; whether that lane was in range. */
  | {
      readonly op: "shfl";
      readonly mode: "up" | "down" | "bfly" | "idx";
      readonly operands: readonly [value: Expr, lane: Expr, bounds: Expr];
    }
  | {
      readonly op: "vote";
      readonly mode: "all" | "any" | "uni" | "ballot";
      readonly operands: readonly [predicate: Expr];
    }
  /** Results: the mask of the lanes with the same value (`any`); the mask and whether all agree (`all`). */
  | { readonly op: "match"; readonly mode: "any" | "all"; readonly operands: readonly [value: Expr] }
  /** Folds `combine` (over two `old` leaves, index 0 and 1) over the lanes' values, lowest lane first. */
  | { readonly op: "redux"; readonly operands: readonly [value: Expr]; readonly combine: Expr }
  /** Results: the lowest lane; whether this lane is it. */
  | { readonly op: "elect"; readonly operands: readonly [] }
  /** No result: the lanes wait for each other. */
  | { readonly op: "sync"; readonly operands: readonly [] }
  /**
   * No result: the lanes come together for what all 32 lanes of a warp must execute (`.aligned`). If some have exited,
   * or never come, `aligned-divergence`.
   */
  | { readonly op: "align"; readonly operands: readonly [] }
  /** Results: registers of which each part comes from a lane and operand that the arrangement names. After `align`. */
  | { readonly op: "arrange"; readonly operands: readonly Expr[]; readonly arrangement: Arrangement }
  /** Results: the registers of D; operands: those of A, B and C. After `align`. */
  | { readonly op: "multiply"; readonly operands: readonly Expr[]; readonly product: MatrixProduct };

/**
 * What lanes of compiled code ask the launcher about their cluster: whether all of its blocks have begun, and whether
 * the phase of its barrier is complete at which they have arrived; or what they tell it: that they arrive, and that
 * they are about to exit.
 */
export const clusterQuestions = ["begun", "arrives", "passed", "exits"] as const;
/** What compiled code asks its launcher about the cluster of some lanes. */
export type ClusterQuestion = (typeof clusterQuestions)[number];

/**
 * What lanes load and registers still hold: they, or others, have stored it from these or loaded it into them.
 */
export interface ForwardedWords {
  readonly sources: readonly Expr[];
  /** By lane, the register (an index into `sources`) and the lane that has its word; null: it is in memory alone. */
  readonly lanes: readonly ({ readonly source: number; readonly lane: number } | null)[];
  /** No word was stored shortly before, so that the processor need not wait where a vector contains several. */
  readonly isSettled: boolean;
}

/** Something that must not be found in memory by an atomic operation. */
export interface AtomicReport {
  readonly code: string;
  readonly message: string;
}

/**
 * What an instruction does. `pure` writes `values[i]` to `dst[i]`; all values are computed from the registers as they
 * were before. The other kinds write their results to `dst` in the stated order.
 *
 * Every kind is described in two exhaustive records: `opTraits` (op-traits.ts) says how it behaves, `operandFields`
 * (operands.ts) which expressions it reads.
 */
export type Op =
  | { readonly kind: "pure"; readonly values: readonly Expr[] }
  /** Results: the elements, in order. `null` in `dst` drops one (`_`). */
  | {
      readonly kind: "load";
      readonly access: Access;
      readonly place: Place;
      /** Made by the compiler: what registers hold of what is loaded. */
      readonly forwarded?: ForwardedWords;
    }
  /** `null` leaves an element as it is. */
  | {
      readonly kind: "store";
      readonly access: Access;
      readonly place: Place;
      readonly values: readonly (Expr | null)[];
    }
  /**
   * Read-modify-write, lane by lane: element i becomes `combine[i]`, an expression over `old` leaves (the elements as
   * they were) and registers. Results: the old elements.
   */
  | {
      readonly kind: "atomic";
      readonly access: Access;
      readonly place: Place;
      readonly combine: readonly Expr[];
      /** The results, over `old` leaves too, if they are not the old elements. */
      readonly results?: readonly Expr[];
      /** The report with which an operation ends the launch, counting from 1; 0 (`i32`, over `old` leaves): none. */
      readonly problem?: { readonly number: Expr; readonly reports: readonly AtomicReport[] };
      /**
       * It is the arrival at an mbarrier for what the lane has begun so far: copies (`cp.async.mbarrier.arrive`), or
       * operations on tensor memory (`tcgen05.commit`). `raises`: it is pending from now on, beyond those that the
       * phase expects.
       */
      readonly tracks?: { readonly what: "copies" | "tensor"; readonly raises: boolean };
      /**
       * It does no more than arrive at an mbarrier, for so many arrivals: where it does not end the phase, it only
       * takes them from those that are pending.
       */
      readonly arrivals?: number;
    }
  /**
   * An asynchronous copy (`cp.async`), which belongs to the lane's next group of copies. `size`: how many bytes are
   * read (`i32`; more than there are count as all); the rest becomes 0. With `whole` they are all or none.
   */
  | {
      readonly kind: "copy";
      readonly from: { readonly access: Access; readonly place: Place };
      readonly to: { readonly access: Access; readonly place: Place };
      readonly size: Expr | null;
      readonly whole: boolean;
    }
  /** The lane's copies that are in no group yet become one; `bulk`: those that units perform, which have own groups. */
  | { readonly kind: "commit-copies"; readonly bulk: boolean }
  /**
   * Waits until at most `pending` groups of the lane's copies (`bulk`, as above) are not complete. `all`: the copies
   * that are in no group yet become one before. `read`: until they have read what they copy.
   */
  | {
      readonly kind: "await-copies";
      readonly pending: number;
      readonly all: boolean;
      readonly bulk: boolean;
      readonly read: boolean;
    }
  /**
   * Orders the asynchronous products of the warp (`wgmma`), which in the machine are complete where they are issued.
   * `fence`: accesses to registers so far come before those of the next products. `commit`: the products that are in no
   * group yet become one. `wait`: until at most `pending` groups are not complete.
   */
  | { readonly kind: "order-products"; readonly step: "fence" | "commit" }
  | { readonly kind: "order-products"; readonly step: "wait"; readonly pending: number }
  /**
   * A unit of the machine acts for the lanes, now: see `UnitOp`. Which memory it accesses is known only then. Results
   * are registers of 32 or 64 bits, or predicates.
   */
  | { readonly kind: "unit"; readonly unit: UnitOp; readonly operands: readonly Expr[] }
  /** `mask`: the lanes that must come together (`.sync`); null for the old forms, which take the group as it is. */
  | { readonly kind: "warp"; readonly mask: Expr | null; readonly warp: WarpOp; readonly aligned: boolean }
  /** Result: the mask of the lanes that execute it, which the guard does not keep from it. */
  | { readonly kind: "activemask" }
  /** `count` null: all threads of the block. Result of `red`: popc (i32) or and/or (pred). */
  | {
      readonly kind: "barrier";
      /** `wait`: for the round at which the warp has arrived before (vISA's split and named barriers). */
      readonly mode: "sync" | "arrive" | "red" | "wait";
      readonly id: Expr;
      readonly count: Expr | null;
      readonly aligned: boolean;
      readonly reduce: { readonly op: "popc" | "and" | "or"; readonly a: Expr } | null;
    }
  /**
   * Threads arrive at the barrier of their cluster, or wait until all of the cluster have: each for itself, though the
   * lanes of an `aligned` one come together.
   */
  | {
      readonly kind: "cluster-barrier";
      readonly mode: "arrive" | "wait";
      readonly aligned: boolean;
      readonly order: "acquire" | "release" | "relaxed";
    }
  /**
   * Made by the compiler, for what depends on the cluster: see `ClusterQuestion`. Result, if any (pred): whether the
   * answer is yes.
   */
  | { readonly kind: "cluster-poll"; readonly asks: ClusterQuestion }
  | {
      readonly kind: "fence";
      readonly scope: "cta" | "cluster" | "gpu" | "sys";
      readonly order: "acquire" | "release" | "acq_rel" | "sc";
    }
  | { readonly kind: "branch"; readonly target: number; readonly uniform: boolean }
  /** An index beyond the list is undefined: `brx-index-out-of-range`. */
  | {
      readonly kind: "branch-indexed";
      readonly index: Expr;
      readonly targets: readonly number[];
      readonly uniform: boolean;
    }
  | {
      readonly kind: "call";
      readonly target: CallTarget;
      readonly args: readonly Argument[];
      readonly results: readonly Result[];
      readonly uniform: boolean;
    }
  /**
   * vISA's fcall and ifcall. The lanes begin in the callee with a byte file of its own, into which the thread's part,
   * the first `argSize` registers of %arg and all of %retval are copied; when the last lane has returned, the thread's
   * part and the first `retvalSize` registers of %retval are copied back. An `address` is the same in all lanes (else
   * `divergent-call-address`).
   */
  | {
      readonly kind: "file-call";
      readonly target:
        | { readonly kind: "direct"; readonly function: string }
        | { readonly kind: "indirect"; readonly address: Expr };
      /** In registers of the platform. */
      readonly argSize: number;
      readonly retvalSize: number;
      /** The callee begins with all lanes of the warp, whatever the group (a scalar call). */
      readonly allLanes: boolean;
      /** The call promises that no callee returns. */
      readonly noreturn?: boolean;
    }
  /**
   * Calls a subroutine of the same function, which shares its registers and file; `return` ends it. With `registers`
   * the subroutine has become code of its own: `target` is its number, `registers` what it may read and write.
   */
  | {
      readonly kind: "subroutine-call";
      readonly target: number;
      readonly allLanes: boolean;
      readonly registers?: readonly number[];
    }
  | { readonly kind: "return"; readonly uniform: boolean }
  | { readonly kind: "exit" }
  /** Ends the launch. `fault`: the report, where the text has no `trap` but something that amounts to one. */
  | { readonly kind: "trap"; readonly fault?: { readonly code: string; readonly message: string } }
  | { readonly kind: "breakpoint" }
  /** Result: the address of fresh bytes in the lane's stack, in the local space. */
  | { readonly kind: "alloca"; readonly size: Expr; readonly align: number }
  | { readonly kind: "stack-save" }
  | { readonly kind: "stack-restore"; readonly value: Expr }
  /** Suspends the group for a while; only the schedule sees it. */
  | { readonly kind: "sleep"; readonly nanoseconds: Expr }
  /**
   * Changes nothing that a program can see (prefetch, pmevent, ...). `proxy`: it is a fence between ordinary and
   * asynchronous accesses (`fence.proxy.async`), which only sanitizers know.
   */
  | { readonly kind: "nothing"; readonly proxy?: "async" }
  /** Not modelled: a launch of a kernel that can reach it is refused before it starts. */
  | { readonly kind: "unsupported"; readonly what: string; readonly reason: string };

/** The operation of one kind. */
export type OpOf<K extends Op["kind"]> = Extract<Op, { kind: K }>;

/** A case that the manual leaves undefined: reported by sanitizers in lanes where `when` holds. */
export interface UndefinedCase {
  readonly code: string;
  readonly when: Expr;
}

/** A position in the higher-level source, from `.loc`. Instructions with the same position share the object. */
export interface SourceLocation {
  readonly file: number;
  readonly line: number;
  readonly column: number;
  /** Set if the position is in a function that was inlined. */
  readonly inlined?: InlinedCall;
}

/** A function that was inlined. */
export interface InlinedCall {
  /** Its name as the linker knows it, or null if the program does not say. */
  readonly function: string | null;
  /** Where it was inlined. */
  readonly at: SourceLocation;
}

/** An instruction of a function: an operation, the lanes that execute it, and where its results go. */
export interface Instruction {
  readonly guard: Guard | null;
  /** Absent: all lanes of the group. */
  readonly lanes?: LaneRule;
  readonly op: Op;
  /** In the order of the results. */
  readonly dst: readonly Destination[];
  readonly undefinedCases: readonly UndefinedCase[];
  readonly span: Span;
  readonly location: SourceLocation | null;
}
