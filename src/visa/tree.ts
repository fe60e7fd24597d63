import type { SourceText, Span } from "../source/index.ts";
import type { Row } from "./isa/row.ts";
import type { DataType, VariableKind } from "./types.ts";

/** A name as it was written, without quotes. */
export interface Name extends Span {
  readonly text: string;
}

export interface Comment extends Span {
  readonly kind: "line" | "block";
}

/**
 * A file of vISA: `.kernel` or `.global_function` begins a routine, and an `.isaasm` has several. The reader of CISA files
 * makes the same tree; its spans are offsets in the binary. Comments are kept beside the tree, in order.
 */
export interface VisaFile {
  readonly source: SourceText;
  readonly version: Version | null;
  readonly routines: readonly Routine[];
  readonly comments: readonly Comment[];
  /** Statements that no rule takes, in order; each has a diagnostic. Text only. */
  readonly skipped?: readonly Span[];
}

export interface Version extends Span {
  readonly major: number;
  readonly minor: number;
}

/** Whether a version lies between the oldest and the newest that the documents describe. */
export const isKnownVersion = ({ major, minor }: Version): boolean =>
  (major === 3 && minor <= 9) || (major === 4 && minor <= 2);

export interface Routine extends Span {
  readonly kind: "kernel" | "function";
  readonly name: Name;
  /** A `.version` of its own, where the file repeats it. */
  readonly version: Version | null;
  /** All that follows the directive, in order. */
  readonly statements: readonly Statement[];
}

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
  readonly variable: VariableKind;
  /** Of general variables. */
  readonly type: DataType | null;
  readonly elements: number;
  /** As written ("hword", "GRF", ...), or null. */
  readonly align: Name | null;
  readonly alias: { readonly of: Name; readonly offset: number } | null;
  readonly attributes: readonly DeclarationAttribute[];
  /** `v_name=` of samplers and surfaces: the name that a file keeps. */
  readonly shown: Name | null;
}

export interface DeclarationAttribute extends Span {
  readonly name: Name;
  readonly value: number | string | null;
}

/** `.input` and `.implicit_KIND`. Null where it is left out: offset 0, and the size of the variable. */
export interface Input extends Span {
  readonly kind: "input";
  /** "" for `.input`, else what follows `.implicit_`. */
  readonly implicit: string;
  readonly name: Name;
  /** Bytes from the start of the payload. */
  readonly offset: number | null;
  readonly size: number | null;
  readonly attributes: readonly DeclarationAttribute[];
}

/** `.parameter V size=N` (older text). */
export interface Parameter extends Span {
  readonly kind: "parameter";
  readonly name: Name;
  readonly size: number | null;
}

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

export interface FunctionDeclaration extends Span {
  readonly kind: "funcdecl";
  readonly name: Name;
}

/** `OPTIONS ...`: kept, without meaning here. */
export interface BuildOptions extends Span {
  readonly kind: "options";
  readonly text: string;
}

/** `{ ... }`: declarations inside are known inside only. */
export interface Scope extends Span {
  readonly kind: "scope";
  readonly statements: readonly Statement[];
}

export interface Label extends Span {
  readonly kind: "label";
  readonly name: Name;
}

/** `(M3, 8)`: channels 8 to 15; `(M1_NM, 1)`: channel 0, whatever the execution mask. */
export interface ExecSize extends Span {
  /** Channels: 1, 2, 4, 8, 16 or 32. */
  readonly size: number;
  /** The first channel: 0, 4, ..., 28. */
  readonly offset: number;
  readonly noMask: boolean;
}

/** `(!P1.any)` */
export interface Predicate extends Span {
  readonly name: Name;
  readonly inverted: boolean;
  readonly collapse: "any" | "all" | null;
}

export interface Instruction extends Span {
  readonly kind: "instruction";
  readonly row: Row;
  /** Of the mnemonic with its suffixes, for messages. */
  readonly mnemonic: Name;
  readonly predicate: Predicate | null;
  readonly saturate: boolean;
  readonly exec: ExecSize | null;
  /** By the names in the row's templates. What is optional and left out is missing. */
  readonly operands: Readonly<Record<string, Operand>>;
}

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

export type SourceModifier = "abs" | "neg" | "neg-abs" | "not";

/** `<v;w,h>` in elements. A destination has only `horizontal`, the `<w,h>` of an indirect source no `vertical`. */
export interface Region {
  readonly vertical: number | null;
  readonly width: number | null;
  readonly horizontal: number | null;
}

export type VectorOperand = GeneralOperand | AddressOperand | IndirectOperand | Immediate | AddressOf | StateOperand;

/** `(-)V(1,2)<8;8,1>`: row in registers (GRF), column in elements. */
export interface GeneralOperand extends Span {
  readonly kind: "general";
  readonly variable: Name;
  readonly row: number;
  readonly column: number;
  readonly region: Region;
  readonly modifier: SourceModifier | null;
}

/** `A0(2)<1>` */
export interface AddressOperand extends Span {
  readonly kind: "address";
  readonly variable: Name;
  readonly element: number;
  readonly width: number;
}

/** `r[A0(2),16]<8;8,1>:f` */
export interface IndirectOperand extends Span {
  readonly kind: "indirect";
  readonly variable: Name;
  readonly element: number;
  /** Bytes. */
  readonly offset: number;
  readonly region: Region;
  readonly type: DataType;
  readonly modifier: SourceModifier | null;
}

export interface Immediate extends Span {
  readonly kind: "immediate";
  readonly type: DataType;
  /** The bit pattern: unsigned, of the type's size (at least 32 bits wide as files store it, zero- or sign-extended). */
  readonly bits: bigint;
}

/** `&V[8]`: the address of a byte of a variable, or of a surface's state. */
export interface AddressOf extends Span {
  readonly kind: "address-of";
  readonly variable: Name;
  /** Bytes. */
  readonly offset: number;
}

/** `T6(0)`, `S0(0)` in `movs`. */
export interface StateOperand extends Span {
  readonly kind: "state";
  readonly variable: Name;
  readonly element: number;
}

/** `V.32`: the whole variable from a byte on. */
export interface RawOperand extends Span {
  readonly kind: "raw";
  readonly variable: Name;
  /** Bytes. */
  readonly offset: number;
}

/** A predicate, surface or sampler variable, a label, or a routine by its name. */
export interface NameOperand extends Span {
  readonly kind: "name";
  readonly name: Name;
}

export interface NameListOperand extends Span {
  readonly kind: "names";
  readonly names: readonly Name[];
}

export interface StringOperand extends Span {
  readonly kind: "string";
  readonly text: string;
}

export interface NumberOperand extends Span {
  readonly kind: "number";
  readonly value: number;
}

/** One of a row's choices: a comparison, a channel mask, an atomic operation. */
export interface OptionOperand extends Span {
  readonly kind: "option";
  /** The choice's name in the row. */
  readonly choice: string;
}

/** The parameters of a sampler message or render target write. */
export interface OperandList extends Span {
  readonly kind: "list";
  readonly items: readonly (RawOperand | VectorOperand)[];
}

export const lscModels = ["flat", "bss", "ss", "bti", "arg", "surf"] as const;

/** `bti(3)[4*V1+16]:a32` */
export interface LscAddress extends Span {
  readonly kind: "lsc-address";
  readonly model: (typeof lscModels)[number];
  /** What stands in the model's parentheses: an immediate or a scalar; null for `flat` without it. */
  readonly surface: VectorOperand | null;
  /** The second number in the model's parentheses, in bytes. */
  readonly surfaceOffset: number | null;
  readonly scale: number;
  /** The addresses; several for typed and block accesses. */
  readonly base: readonly LscAddressPart[];
  /** Bits of an address: 16, 32 or 64; null where the text has none (block2d). */
  readonly size: 16 | 32 | 64 | null;
  /** How 32 bits are extended where the text says so: `:a32s`, `:a32u`. */
  readonly extension?: "s" | "u";
  /** `flat[V+(x,y)]`: where in the matrix the block begins, if a register describes the rest. */
  readonly blockOffsets?: readonly [number, number];
}

export interface LscAddressPart {
  readonly operand: RawOperand | VectorOperand;
  /** Bytes (texels for typed and block accesses). */
  readonly offset: number;
}

/** `V:d32x2t`, `V:d32.xy`, `V:d8.16x8nt` */
export interface LscData extends Span {
  readonly kind: "lsc-data";
  readonly register: RawOperand;
  /** "d8" "d16" "d32" "d64" "d8c32" "d16c32" "d16c32h" "d8u32" "d16u32" "d16u32h" */
  readonly size: string;
  /** Elements of a vector: 1 to 64. */
  readonly vector: number;
  readonly transposed: boolean;
  /** Channels of `quad` and typed accesses: bit 0 x, 1 y, 2 z, 3 w; null: none written. */
  readonly channels: number | null;
  /** The shape of a block access. */
  readonly block: LscBlock | null;
}

export interface LscBlock {
  readonly blocks: number;
  readonly width: number;
  readonly height: number;
  readonly transposed: boolean;
  readonly vnni: boolean;
}
