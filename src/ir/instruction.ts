import type { Expr, Region } from "../semantics/index.ts";
import type { Span } from "../source/index.ts";
import type { Signature } from "./module.ts";

export type Space = "generic" | "global" | "shared" | "local" | "const" | "kernel-param" | "call-param";

/**
 * Execute only in lanes where the predicate register is true (or false, with `negate`). `collapse`: first all channels of
 * the instruction get one value, whether any or all of their bits are set (before `negate`).
 */
export interface Guard {
  readonly register: number;
  readonly negate: boolean;
  readonly collapse?: "any" | "all";
}

/**
 * Which lanes an instruction is for, where not all (vISA): `count` lanes from `first` on. With `noMask` it executes in them
 * whether they are active or not. `uniform`: control moves all lanes of the group or none, as bit `first` of the guard says.
 */
export interface LaneRule {
  readonly first: number;
  readonly count: number;
  readonly noMask: boolean;
  readonly uniform: boolean;
}

/** Where a result goes in the byte file; see `Region` in semantics/expr.ts. */
export type FileTarget =
  | { readonly kind: "region"; readonly bits: 8 | 16 | 32 | 64; readonly region: Region }
  /** At a computed byte (`i32`); nothing is written outside of the file. */
  | { readonly kind: "indirect"; readonly bits: 8 | 16 | 32 | 64; readonly address: Expr };

/** A register, a place in the byte file; null drops the result. */
export type Destination = number | FileTarget | null;

/** One element in memory. Loads extend it to the destination's width, stores take the low bits. */
export interface Access {
  readonly space: Space;
  /** Bits of one element: 8, 16, 32 or 64. 128-bit elements are two of 64. */
  readonly bits: 8 | 16 | 32 | 64;
  readonly signed: boolean;
  /** Elements (vector length); they lie one behind the other. */
  readonly count: number;
  /** Bytes: the whole access must be aligned to this. */
  readonly align: number;
  readonly volatile: boolean;
  readonly order: "weak" | "relaxed" | "acquire" | "release" | "acq_rel";
  readonly scope: "cta" | "cluster" | "gpu" | "sys" | null;
}

/** Where a call goes. */
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

export type Argument =
  | { readonly kind: "value"; readonly value: Expr; readonly bits: number }
  | { readonly kind: "frame"; readonly variable: number; readonly size: number }
  /** A 128-bit register. */
  | { readonly kind: "pair"; readonly low: Expr; readonly high: Expr }
  /** A vector register, element by element. */
  | { readonly kind: "vector"; readonly elements: readonly Expr[] };

export type Result =
  | { readonly kind: "register"; readonly registers: readonly number[] }
  | { readonly kind: "frame"; readonly variable: number; readonly size: number }
  | { readonly kind: "discard" };

export type WarpOp =
  /** `a` from the lane that mode, `b` and `c` choose; results: the value, and whether the source was in range. */
  | {
      readonly op: "shfl";
      readonly mode: "up" | "down" | "bfly" | "idx";
      readonly a: Expr;
      readonly b: Expr;
      readonly c: Expr;
    }
  | { readonly op: "vote"; readonly mode: "all" | "any" | "uni" | "ballot"; readonly a: Expr }
  /** Results: mask of the lanes with the same value (`any`), or the mask and whether all agree (`all`). */
  | { readonly op: "match"; readonly mode: "any" | "all"; readonly a: Expr }
  /** Folds `combine` (over two `old` leaves, index 0 and 1) over the lanes, lowest first. */
  | { readonly op: "redux"; readonly a: Expr; readonly combine: Expr }
  | { readonly op: "elect" }
  | { readonly op: "sync" };

/**
 * What an instruction does. `pure` writes `values[i]` to `dst[i]`; all values are computed from the registers as they
 * were before. The other kinds have at most one effect each, and write their results to `dst` in the stated order.
 */
export type Op =
  | { readonly kind: "pure"; readonly values: readonly Expr[] }
  /**
   * Results: the elements, in order. `null` in `dst` drops one (`_`). With a `surface` (`i32`, the same in all lanes: an index
   * into the launch's surfaces) the address is an offset (`i32`) into it; beyond its end loads give 0 and stores nothing.
   */
  | { readonly kind: "load"; readonly access: Access; readonly address: Expr; readonly surface?: Expr }
  | {
      readonly kind: "store";
      readonly access: Access;
      readonly address: Expr;
      readonly surface?: Expr;
      readonly values: readonly (Expr | null)[];
    }
  /**
   * Read-modify-write, lane by lane: element i becomes `combine[i]`, an expression over `old` leaves (the elements as
   * they were) and registers. Results: the old elements.
   */
  | {
      readonly kind: "atomic";
      readonly access: Access;
      readonly address: Expr;
      readonly surface?: Expr;
      readonly combine: readonly Expr[];
    }
  /** Warp-wide. `mask`: the lanes that must come together (`.sync`); null for the old forms, which take the group as it is. */
  | { readonly kind: "warp"; readonly mask: Expr | null; readonly warp: WarpOp; readonly aligned: boolean }
  /** Result: the mask of the lanes that execute it, which the guard does not keep from it. */
  | { readonly kind: "activemask" }
  /** `count` null: all threads of the block. Result of `red`: popc (i32) or and/or (pred). */
  | {
      readonly kind: "barrier";
      /** `wait`: for the round to which the warp has arrived before (vISA's split and named barriers). */
      readonly mode: "sync" | "arrive" | "red" | "wait";
      readonly id: Expr;
      readonly count: Expr | null;
      readonly aligned: boolean;
      readonly reduce: { readonly op: "popc" | "and" | "or"; readonly a: Expr } | null;
    }
  | {
      readonly kind: "fence";
      readonly scope: "cta" | "cluster" | "gpu" | "sys";
      readonly order: "acquire" | "release" | "acq_rel" | "sc";
    }
  | { readonly kind: "branch"; readonly target: number; readonly uniform: boolean }
  /** Beyond the list the branch is undefined: `brx-index-out-of-range`. */
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
   * vISA's fcall and ifcall. The lanes begin in the callee with its own byte file: the thread's part, the first `argBytes` of
   * %arg and all of %retval are the caller's; when the last lane has returned, the thread's part and the first `retvalBytes`
   * of %retval come back. An `address` is the same in all lanes (else `divergent-call-address`).
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
      /** The call says that no callee returns. */
      readonly noreturn?: boolean;
    }
  /**
   * A subroutine of the same function, which shares its registers and file; `return` ends it. `registers`: where it has become
   * code of its own, of which `target` then is the number, the registers that it may read and write.
   */
  | {
      readonly kind: "subroutine-call";
      readonly target: number;
      readonly allLanes: boolean;
      readonly registers?: readonly number[];
    }
  | { readonly kind: "return"; readonly uniform: boolean }
  | { readonly kind: "exit" }
  /** Ends the launch. `fault`: what is said of it where it stands for something that the text has not. */
  | { readonly kind: "trap"; readonly fault?: { readonly code: string; readonly message: string } }
  | { readonly kind: "breakpoint" }
  /** Result: the address of fresh bytes in the lane's stack, in the local space. */
  | { readonly kind: "alloca"; readonly size: Expr; readonly align: number }
  | { readonly kind: "stack-save" }
  | { readonly kind: "stack-restore"; readonly value: Expr }
  /** Suspends the group for a while; only the schedule sees it. */
  | { readonly kind: "sleep"; readonly nanoseconds: Expr }
  /** Changes nothing that a program can see (prefetch, pmevent, ...). */
  | { readonly kind: "nothing" }
  /** Not modelled: a launch of a kernel that can reach it is refused before it starts. */
  | { readonly kind: "unsupported"; readonly what: string; readonly reason: string };

/** A case that the manual leaves undefined: reported by sanitizers in lanes where `when` holds. */
export interface UndefinedCase {
  readonly code: string;
  readonly when: Expr;
}

/** The position in the higher-level source, from `.loc`. */
export interface SourceLocation {
  readonly file: number;
  readonly line: number;
  readonly column: number;
}

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
