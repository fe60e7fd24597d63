import type { SourceText, Span } from "../source/index.ts";
import type { Row } from "./isa/row.ts";
import type { DataType, VariableKind } from "./types.ts";

/** A name as written, without quotes. */
export interface Name extends Span {
  readonly text: string;
}

/** A comment, to the end of its line (`//`) or delimited (block). Its text is that of its span, delimiters included. */
export interface Comment extends Span {
  readonly kind: "line" | "block";
}

/**
 * A file of vISA. `.kernel` or `.global_function` begins a routine; an `.isaasm` has several. The reader of CISA files
 * makes the same tree, with spans that are offsets in the binary. Comments are kept beside the tree, in order.
 */
export interface VisaFile {
  readonly source: SourceText;
  readonly version: Version | null;
  /** In the order of the text. */
  readonly routines: readonly Routine[];
  readonly comments: readonly Comment[];
  /** Statements that could not be parsed, in order; each has a diagnostic. Only text has them. */
  readonly skipped?: readonly Span[];
}

/** `.version 3.6`. In a CISA file, the version of its header. */
export interface Version extends Span {
  readonly major: number;
  readonly minor: number;
}

/** Whether a version is one that the documents describe: 3.0 to 3.9 and 4.0 to 4.2. */
export const isKnownVersion = ({ major, minor }: Version): boolean =>
  (major === 3 && minor <= 9) || (major === 4 && minor <= 2);

/** A kernel (`.kernel`) or a function (`.global_function`). */
export interface Routine extends Span {
  readonly kind: "kernel" | "function";
  readonly name: Name;
  /** The routine's own `.version`, where the file repeats it. */
  readonly version: Version | null;
  /** Everything after the directive that names the routine, in order. */
  readonly statements: readonly Statement[];
}

/** A line of a routine; `Scope` contains further lines. */
export type Statement =
  | Declaration
  | Input
  | Parameter
  | Attribute
  | FunctionDirective
  | FunctionDeclaration
  | BuildOptions
  | Scope
  | Label
  | Instruction;

/** `.decl V v_type=G type=f num_elts=16 align=GRF alias=<X, 0> attrs={...}` */
export interface Declaration extends Span {
  readonly kind: "decl";
  readonly name: Name;
  /** General, address, predicate, sampler or surface. */
  readonly variable: VariableKind;
  /** Type of the elements of a general variable; null for the other kinds. */
  readonly type: DataType | null;
  /** Number of elements. */
  readonly elements: number;
  /** The alignment as written ("hword", "GRF", ...); null if left out. */
  readonly align: Name | null;
  /** The variable whose storage it shares, and the offset in it, in bytes. */
  readonly alias: { readonly of: Name; readonly offset: number } | null;
  readonly attributes: readonly DeclarationAttribute[];
  /** `v_name=` of samplers and surfaces: the name that a CISA file keeps. */
  readonly shown: Name | null;
}

/** One of `attrs={NAME=VALUE, NAME}`; null for one without a value. */
export interface DeclarationAttribute extends Span {
  readonly name: Name;
  readonly value: number | string | null;
}

/** `.input V offset=64 size=64` and `.implicit_KIND V ...`. */
export interface Input extends Span {
  readonly kind: "input";
  /** "" for `.input`, otherwise the part after `.implicit_`. */
  readonly implicit: string;
  readonly name: Name;
  /** Bytes from the start of the payload; null if left out, which means 0. */
  readonly offset: number | null;
  /** Bytes; null if left out, which means the size of the variable. */
  readonly size: number | null;
  readonly attributes: readonly DeclarationAttribute[];
}

/** `.parameter V size=N`: an input in older text. */
export interface Parameter extends Span {
  readonly kind: "parameter";
  readonly name: Name;
  /** Bytes; null if left out, which means the size of the variable. */
  readonly size: number | null;
}

/** `.kernel_attr NAME=VALUE` or `.kernel_attr NAME`; null for one without a value. */
export interface Attribute extends Span {
  readonly kind: "attribute";
  readonly name: Name;
  readonly value: number | string | null;
}

/** `.function "x"`: the next label begins the routine's body or a subroutine. */
export interface FunctionDirective extends Span {
  readonly kind: "function-directive";
  readonly name: Name;
}

/** `.funcdecl "x"`: a function that the file refers to. It has no effect. */
export interface FunctionDeclaration extends Span {
  readonly kind: "funcdecl";
  readonly name: Name;
}

/** `OPTIONS ...`: options for IGC. They are kept, and have no effect. */
export interface BuildOptions extends Span {
  readonly kind: "options";
  readonly text: string;
}

/** `{ ... }`: its declarations are known only inside it. */
export interface Scope extends Span {
  readonly kind: "scope";
  readonly statements: readonly Statement[];
}

/** `loop:` on a line of its own. */
export interface Label extends Span {
  readonly kind: "label";
  readonly name: Name;
}

/**
 * Execution size and mask (3_execution_model.md). `(M3, 8)`: channels 8 to 15; `(M1_NM, 1)`: channel 0, whatever the
 * execution mask.
 */
export interface ExecSize extends Span {
  /** Number of channels: 1, 2, 4, 8, 16 or 32. */
  readonly size: number;
  /** First channel: 0, 4, ..., 28. */
  readonly offset: number;
  /** Whether the channels run whatever the execution mask (`_NM`). */
  readonly noMask: boolean;
}

/**
 * `(!P1.any)`: a predicate before an instruction, its inversion, and whether its bits are collapsed to one: any or all
 * of them.
 */
export interface Predicate extends Span {
  readonly name: Name;
  readonly inverted: boolean;
  readonly collapse: "any" | "all" | null;
}

/** One instruction. */
export interface Instruction extends Span {
  readonly kind: "instruction";
  /** The row of the instruction table that it is an instance of. */
  readonly row: Row;
  /** The mnemonic with its suffixes, as written; its span is where messages point. */
  readonly mnemonic: Name;
  readonly predicate: Predicate | null;
  /** Whether it has `.sat`. */
  readonly saturate: boolean;
  /** Null if the instruction has none. */
  readonly exec: ExecSize | null;
  /** Operands, by their names in the row's templates. Optional ones that are left out are absent. */
  readonly operands: Readonly<Record<string, Operand>>;
}

/** An operand of an instruction. `Row.operands` says which kinds are allowed. */
export type Operand =
  | VectorOperand
  | RawOperand
  | NameOperand
  | NameListOperand
  | StringOperand
  | NumberOperand
  | OptionOperand
  | LscAddress
  | LscData
  | OperandList;

/** `(abs)`, `(-)`, `(-abs)` and `(~)` before a source operand. */
export type SourceModifier = "abs" | "neg" | "neg-abs" | "not";

/**
 * A region `<vertical;width,horizontal>` in elements (5_operands.md). A destination has only `horizontal`; the `<w,h>`
 * of an indirect source has no `vertical`.
 */
export interface Region {
  readonly vertical: number | null;
  readonly width: number | null;
  readonly horizontal: number | null;
}

/** An operand with one element per channel, or one element for all of them. */
export type VectorOperand = GeneralOperand | AddressOperand | IndirectOperand | Immediate | AddressOf | StateOperand;

/**
 * `(-)V(1,2)<8;8,1>`: elements of a general variable. The region begins `row` registers and `column` elements after the
 * variable's start.
 */
export interface GeneralOperand extends Span {
  readonly kind: "general";
  readonly variable: Name;
  readonly row: number;
  readonly column: number;
  readonly region: Region;
  readonly modifier: SourceModifier | null;
}

/** `A0(2)<1>`: `width` elements of an address variable from `element` on. */
export interface AddressOperand extends Span {
  readonly kind: "address";
  readonly variable: Name;
  readonly element: number;
  readonly width: number;
}

/** `r[A0(2),16]<8;8,1>:f`: elements at the address in `element` of an address variable, plus an offset. */
export interface IndirectOperand extends Span {
  readonly kind: "indirect";
  readonly variable: Name;
  readonly element: number;
  /** Bytes added to the address. */
  readonly offset: number;
  readonly region: Region;
  readonly type: DataType;
  readonly modifier: SourceModifier | null;
}

/** `0x1:ud`, `1.5:f` */
export interface Immediate extends Span {
  readonly kind: "immediate";
  readonly type: DataType;
  /**
   * The bit pattern as an unsigned number, as a CISA file stores it: 64 bits for `q`, `uq` and `df`, 32 bits for the
   * others. The low bits count for narrower types; those above may be zeros or copies of the sign.
   */
  readonly bits: bigint;
}

/** `&V[8]`: the address of a byte of a variable, or of a surface's or sampler's state. */
export interface AddressOf extends Span {
  readonly kind: "address-of";
  readonly variable: Name;
  /** Bytes from the variable's start. */
  readonly offset: number;
}

/** `T6(0)`, `S0(0)`: the state of a surface or sampler, in `movs`. */
export interface StateOperand extends Span {
  readonly kind: "state";
  readonly variable: Name;
  readonly element: number;
}

/** `V.32`: a variable's registers from a byte on. How many bytes are used depends on the instruction. */
export interface RawOperand extends Span {
  readonly kind: "raw";
  readonly variable: Name;
  /** Bytes from the variable's start. */
  readonly offset: number;
}

/** A predicate, surface or sampler variable, a label, or a routine, by its name. */
export interface NameOperand extends Span {
  readonly kind: "name";
  readonly name: Name;
}

/** Several labels, as in `switchjmp`. */
export interface NameListOperand extends Span {
  readonly kind: "names";
  readonly names: readonly Name[];
}

/** A quoted string: the path of `.file`, the mode of a render-target write. */
export interface StringOperand extends Span {
  readonly kind: "string";
  readonly text: string;
}

/** A number that belongs to the instruction: a size, a count, an index. */
export interface NumberOperand extends Span {
  readonly kind: "number";
  readonly value: number;
}

/** One of a row's choices: a comparison, a channel mask, an atomic operation. */
export interface OptionOperand extends Span {
  readonly kind: "option";
  /** The choice's name in the row, a key of the operand's `choices`. */
  readonly choice: string;
}

/** The parameters of a sampler message or render-target write. */
export interface OperandList extends Span {
  readonly kind: "list";
  readonly items: readonly (RawOperand | VectorOperand)[];
}

/**
 * The address models of LSC accesses: what an address is relative to. `flat` is memory by 64-bit addresses, the rest
 * name surfaces.
 */
export const lscModels = ["flat", "bss", "ss", "bti", "arg", "surf"] as const;

/** `bti(3)[4*V1+16]:a32`: an address of an LSC access (LSC_UNTYPED.md). */
export interface LscAddress extends Span {
  readonly kind: "lsc-address";
  readonly model: (typeof lscModels)[number];
  /** The surface in the model's parentheses: an immediate or a scalar; null where there are none. */
  readonly surface: VectorOperand | null;
  /** The second number in the model's parentheses, in bytes. */
  readonly surfaceOffset: number | null;
  /** Factor of the addresses: 4 in the example. */
  readonly scale: number;
  /** The addresses; typed and block accesses have several. */
  readonly base: readonly LscAddressPart[];
  /** Bits of an address: 16, 32 or 64; null where the text does not say (block2d). */
  readonly size: 16 | 32 | 64 | null;
  /** How 32-bit addresses are extended, where the text says so: `:a32s` by sign, `:a32u` by zeros. */
  readonly extension?: "s" | "u";
  /** `flat[V+(x,y)]`: where the block begins in the matrix, if a register describes the rest. */
  readonly blockOffsets?: readonly [number, number];
}

/** One address of an LSC access, with a constant added. */
export interface LscAddressPart {
  readonly operand: RawOperand | VectorOperand;
  /** Bytes; texels in typed and block accesses. */
  readonly offset: number;
}

/** `V:d32x2t`, `V:d32.xy`, `V:d8.16x8nt`: the register operand of an LSC access and the shape of its data. */
export interface LscData extends Span {
  readonly kind: "lsc-data";
  readonly register: RawOperand;
  /** Size of an element: "d8", "d16", "d32", "d64", "d8c32", "d16c32", "d16c32h", "d8u32", "d16u32" or "d16u32h". */
  readonly size: string;
  /** Elements per lane: 1 to 64. */
  readonly vector: number;
  /** `t`: one lane accesses consecutive elements, which lie in registers as they do in memory. */
  readonly transposed: boolean;
  /** Channels of `quad` and typed accesses: bit 0 is x, 1 y, 2 z, 3 w; null if none are written. */
  readonly channels: number | null;
  /** The shape of a block access; null for the others. */
  readonly block: LscBlock | null;
}

/**
 * `16x8nt`: blocks, each `width` by `height` elements, and whether they are transposed and packed (VNNI) on the way.
 */
export interface LscBlock {
  readonly blocks: number;
  readonly width: number;
  readonly height: number;
  readonly transposed: boolean;
  readonly vnni: boolean;
}
