import type { SourceText, Span } from "../source/index.ts";
import type { ByteFile } from "./byte-file.ts";
import type { Instruction } from "./instruction.ts";
import type { Lanes } from "./region.ts";

/** Virtual registers hold one value per lane. 8- and 16-bit registers are `b32` with zero upper bits. */
export type RegisterClass = "pred" | "b32" | "b64";

export interface Register {
  /** The name in the source, as a debugger shows it. */
  readonly name: string;
  readonly class: RegisterClass;
  /** The declared width: 1 for predicates, 8, 16, 32 or 64. */
  readonly bits: number;
  /** The declared type in the words of the instruction set, for people. */
  readonly type?: string;
  /** Of a register that stands for a part of the byte file. */
  readonly home?: FileHome;
}

/** The part of the byte file for which a register stands: what it holds when a hardware thread begins. */
export interface FileHome {
  /** The byte at which the first lane's element begins. */
  readonly at: number;
  readonly bits: 8 | 16 | 32 | 64;
  /** The lanes that have an element, one behind the other; null: one element for all lanes. */
  readonly lanes: Lanes | null;
}

/** How a parameter looks to a caller: the unit in which signatures are compared. */
export interface ParamType {
  /** `f` and `b` do not differ for a call, but messages name them. `array` is a byte blob. */
  readonly kind: "u" | "s" | "f" | "b" | "pred" | "array";
  /** Bytes; for an unsized array the least size, 0. */
  readonly size: number;
  readonly align: number;
  /** `.param .b8 x[]`: any number of bytes, chosen by the call. */
  readonly unsized: boolean;
}

export interface Param {
  readonly name: string;
  readonly type: ParamType;
  /** Registers (two for a 128-bit one) or a variable of the frame; a kernel's parameters lie in the launch's block at `offset`. */
  readonly storage:
    | { readonly kind: "register"; readonly registers: readonly number[] }
    | { readonly kind: "frame"; readonly variable: number }
    | { readonly kind: "kernel"; readonly offset: number };
}

export interface Signature {
  readonly returns: readonly ParamType[];
  readonly params: readonly ParamType[];
}

/** A `.local` or `.param` variable of an activation; one copy per lane. Where it lies is the engine's business. */
export interface FrameVariable {
  readonly name: string;
  readonly space: "local" | "call-param";
  readonly size: number;
  readonly align: number;
  /** The formal `.param .b8 x[]`: its size is the argument's, and it lies behind the frame. */
  readonly unsized: boolean;
  readonly span: Span;
}

export interface LaunchBounds {
  readonly reqntid?: readonly [number, number, number];
  readonly maxntid?: readonly [number, number, number];
}

export interface IrFunction {
  readonly name: string;
  readonly kind: "kernel" | "function";
  readonly params: readonly Param[];
  readonly returns: readonly Param[];
  readonly registers: readonly Register[];
  readonly frame: readonly FrameVariable[];
  /** In layout order; a branch target is an index into this list, `instructions.length` is the end (an implicit `ret`). */
  readonly instructions: readonly Instruction[];
  readonly noreturn: boolean;
  readonly bounds: LaunchBounds;
  readonly source: SourceText;
  readonly span: Span;
  /** The higher-level files that `.loc` names, by index. */
  readonly files: ReadonlyMap<number, string>;
  /** A function without a body, which the runtime provides (`vprintf`, `malloc`, ...). */
  readonly external: boolean;
  /** Of vISA: the bytes that its activations have beside their registers, one copy for all lanes. */
  readonly file?: ByteFile;
}

/** Within a variable's initial bytes: at `at`, put the address of `symbol` plus `addend`, or some of its bytes. */
export interface Relocation {
  readonly at: number;
  /** Bytes that are written: 1 for `mask()`, 4 or 8 for whole addresses. */
  readonly size: number;
  /** Right shift before the low `size` bytes are taken (`mask()`). */
  readonly shift: number;
  readonly symbol: string;
  readonly addend: number;
  /** `generic(x)`: the generic address instead of the one within x's own space. */
  readonly generic: boolean;
}

/** Bytes at an offset within a variable. */
export interface InitialBytes {
  readonly at: number;
  readonly bytes: Uint8Array;
}

export interface Variable {
  /** Unique within the module; for a static variable of a function, `function.name`-like. */
  readonly name: string;
  readonly space: "global" | "const" | "shared";
  /** Bytes; 0 for `.extern .shared x[]`, whose size a launch gives. */
  readonly size: number;
  readonly align: number;
  /** What is not zero at first. */
  readonly init: readonly InitialBytes[];
  readonly relocations: readonly Relocation[];
  /** `.extern .shared .b8 x[]`: begins after all other shared variables. */
  readonly dynamicShared: boolean;
  readonly managed: boolean;
  readonly span: Span;
}

export interface IrModule {
  readonly source: SourceText;
  /** 32 or 64. */
  readonly addressSize: 32 | 64;
  /** As in "sm_90". */
  readonly target: string;
  readonly functions: readonly IrFunction[];
  readonly variables: readonly Variable[];
  /** Other names of functions (`.alias`): alias to the index of the function. */
  readonly aliases: ReadonlyMap<string, number>;
}
