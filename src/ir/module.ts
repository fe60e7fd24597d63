import type { DebugSections } from "../dwarf/index.ts";
import type { SourceText, Span } from "../source/index.ts";
import type { ByteFile } from "./byte-file.ts";
import type { Instruction } from "./instruction.ts";
import type { Lanes } from "./lanes.ts";
import type { ParamType } from "./signature.ts";

/**
 * The class of a virtual register, which holds one value per lane. 8- and 16-bit registers are `b32` with zero upper
 * bits.
 */
export type RegisterClass = "pred" | "b32" | "b64";

/** A virtual register of a function. */
export interface Register {
  /** The name in the source. */
  readonly name: string;
  readonly class: RegisterClass;
  /** The declared width: 1 for predicates, 8, 16, 32 or 64. */
  readonly bits: number;
  /** The declared type, as the instruction set writes it. */
  readonly type?: string;
  /** The part of the byte file that the register stands for, if it stands for one. */
  readonly home?: FileHome;
  /** The program does not name it: it has what steps of an instruction leave for those after them. */
  readonly temporary?: true;
}

/** The part of the byte file that a register stands for, and that it holds when a hardware thread begins. */
export interface FileHome {
  /** The byte at which the first lane's element begins. */
  readonly at: number;
  readonly bits: 8 | 16 | 32 | 64;
  /** The lanes that have an element each, adjacent in the file; null: all lanes share one element. */
  readonly lanes: Lanes | null;
}

/** A parameter or a result of a function. */
export interface Param {
  readonly name: string;
  readonly type: ParamType;
  /**
   * Registers (two for a 128-bit one), a variable of the frame, or for a kernel an offset into the launch's parameters.
   */
  readonly storage:
    | { readonly kind: "register"; readonly registers: readonly number[] }
    | { readonly kind: "frame"; readonly variable: number }
    | { readonly kind: "kernel"; readonly offset: number };
}

/** A `.local` or `.param` variable of an activation, with one copy per lane. The engine decides where it lies. */
export interface FrameVariable {
  readonly name: string;
  readonly space: "local" | "call-param";
  readonly size: number;
  readonly align: number;
  /** The formal `.param .b8 x[]`: it has the size of the argument, and lies after the frame. */
  readonly unsized: boolean;
  readonly span: Span;
}

/** The sizes that a kernel demands or allows: of blocks, in threads, and of clusters, in blocks. */
export interface LaunchBounds {
  readonly reqntid?: readonly [number, number, number];
  readonly maxntid?: readonly [number, number, number];
  readonly reqnctapercluster?: readonly [number, number, number];
  /** The most blocks of a cluster. */
  readonly maxclusterrank?: number;
  /** A launch must say how large clusters are, unless `reqnctapercluster` does. */
  readonly explicitcluster?: true;
  /** A launch counts its grid in clusters. */
  readonly blocksareclusters?: true;
}

/** A function or kernel in lane IR. */
export interface IrFunction {
  readonly name: string;
  readonly kind: "kernel" | "function";
  readonly params: readonly Param[];
  readonly returns: readonly Param[];
  readonly registers: readonly Register[];
  readonly frame: readonly FrameVariable[];
  /**
   * In layout order. A branch target is an index into this list; `instructions.length` is the end (an implicit `ret`).
   */
  readonly instructions: readonly Instruction[];
  /** The function promises not to return. */
  readonly noreturn: boolean;
  readonly bounds: LaunchBounds;
  readonly source: SourceText;
  readonly span: Span;
  /** The higher-level files that `.loc` names, by index. */
  readonly files: ReadonlyMap<number, string>;
  /** Absent if the module has no debug information. */
  readonly debug?: FunctionDebug;
  /** The function has no body: the runtime provides it (`vprintf`, `malloc`, ...). */
  readonly external: boolean;
  /** vISA: the bytes that an activation has besides its registers, shared by all lanes. */
  readonly file?: ByteFile;
  /** Made by the compiler: what the variables of the frame hold in all lanes, and nothing writes. */
  readonly frameImage?: FrameImage;
}

/** The contents of a frame. */
export interface FrameImage {
  /** By variable, its bytes. */
  readonly bytes: readonly Uint8Array[];
  /** Words of them that are parameters of the kernel, in this order. */
  readonly parameters: readonly FrameParameter[];
}

/** Bytes of a variable that are those of a parameter: `from` is an address in the kernel's parameters. */
export interface FrameParameter {
  readonly variable: number;
  readonly at: number;
  readonly bits: 32 | 64;
  readonly from: number;
}

/** Debug information, and what it calls the places in a function. */
export interface FunctionDebug {
  /** The sections of the module. */
  readonly sections: DebugSections;
  /** Labels of the function, and the index of the instruction that follows each. */
  readonly labels: ReadonlyMap<string, number>;
}

/** A place in a variable's initial bytes that gets the address of `symbol` plus `addend`, or some of its bytes. */
export interface Relocation {
  readonly at: number;
  /** How many bytes are written: 1 for `mask()`, 4 or 8 for whole addresses. */
  readonly size: number;
  /** Right shift of the address before its low `size` bytes are taken (`mask()`). */
  readonly shift: number;
  readonly symbol: string;
  readonly addend: number;
  /** `generic(x)`: the generic address, instead of the one within x's own space. */
  readonly generic: boolean;
}

/** Initial bytes at an offset within a variable. */
export interface InitialBytes {
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** The declaration of a variable: an array of elements, or a single one. */
export interface DeclaredShape {
  /** The type of an element as the instruction set writes it, without a dot. */
  readonly type: string;
  /** Array bounds, outermost first, then the size of a vector. Empty for a scalar. */
  readonly dimensions: readonly number[];
}

/** A variable of a module, or a static variable of a function. */
export interface Variable {
  /** Unique within the module; a static variable of a function has a name like `function.name`. */
  readonly name: string;
  readonly space: "global" | "const" | "shared";
  /** In bytes; 0 for `.extern .shared x[]`, whose size the launch gives. */
  readonly size: number;
  readonly align: number;
  /** The type of its elements and the bounds of its dimensions, as the source declares them; absent in vISA. */
  readonly declared?: DeclaredShape;
  /** The bytes that are not initially zero. */
  readonly init: readonly InitialBytes[];
  /** The fields of a `.samplerref` that the source initializes, by name: names and numbers (5.3.2). */
  readonly sampler?: ReadonlyMap<string, string>;
  readonly relocations: readonly Relocation[];
  /** `.extern .shared .b8 x[]`: begins after all other shared variables. */
  readonly dynamicShared: boolean;
  /** Shared memory that the system keeps for its own use: it is none of the program's, and not in its size. */
  readonly reserved?: boolean;
  /** `.attribute(.managed)`. */
  readonly managed: boolean;
  readonly span: Span;
}

/** A program in lane IR. */
export interface IrModule {
  readonly source: SourceText;
  /** Bits of an address. */
  readonly addressSize: 32 | 64;
  /** The target architecture, as in "sm_90". */
  readonly target: string;
  readonly functions: readonly IrFunction[];
  readonly variables: readonly Variable[];
  /** `.alias`: from other names of functions to their indices. */
  readonly aliases: ReadonlyMap<string, number>;
}

/** The registers that hold parameters, or results, of a function, in their order. */
export const registersIn = (list: readonly Param[]): readonly number[] =>
  list.flatMap(({ storage }) => (storage.kind === "register" ? storage.registers : []));
