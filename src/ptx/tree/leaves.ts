import type { Span } from "../../source/index.ts";
import type { TypeInfo } from "../types.ts";

// ---- Names, literals, constant expressions (section 4) --------------------------------------------------------------

/** A word as it stands in the source. */
export interface Name extends Span {
  readonly text: string;
}

/**
 * An integer literal (4.5.1). `value` is the 64-bit pattern, 0 to 2^64-1; `unsigned`: has the suffix `U` or does not
 * fit in `.s64`.
 */
export interface IntegerLiteral extends Span {
  readonly kind: "integer";
  readonly value: bigint;
  readonly unsigned: boolean;
}

/**
 * A floating-point literal (4.5.2). `bits` is the exact pattern: binary64 for decimal and `0d` literals, binary32 for
 * `0f`.
 */
export interface FloatLiteral extends Span {
  readonly kind: "float";
  readonly width: 32 | 64;
  readonly bits: bigint;
}

/** `_`: a result that is discarded. */
export interface SinkOperand extends Span {
  readonly kind: "sink";
}

/** A piece of text that could not be parsed; a diagnostic says why. */
export interface BadNode extends Span {
  readonly kind: "bad";
}

/** What every symbol has: its name, and where it is declared. */
export interface SymbolBase {
  readonly name: string;
  /** The declaring name in the module's source; empty at 0 for predefined names. */
  readonly span: Span;
}

/** A label of code, a target of branches. */
export interface LabelSymbol extends SymbolBase {
  readonly kind: "label";
  readonly label: Label;
}

/** A special register (chapter 10), such as `%tid`; the name's `component` selects `.x`, `.y`, `.z` or `.w`. */
export interface SpecialSymbol extends SymbolBase {
  readonly kind: "special";
  readonly type: TypeInfo;
  /** Elements: 4 for `%tid` and its like, else 1. */
  readonly vector: number;
}

/** The predefined constant `WARP_SZ` (4.5.1). */
export interface ConstantSymbol extends SymbolBase {
  readonly kind: "constant";
  readonly value: bigint;
}

/**
 * The syntax tree of one PTX file. Every node is a span (UTF-16 offsets into the module's source). Nodes are plain
 * data; the two fields that the checker fills (`symbol` of names, `resolved` of instructions) start as null.
 */

/** A comment. Comments are kept beside the tree, in source order; the printer puts them back by their offsets. */
export interface Comment extends Span {
  /** "preprocessor": a line that begins with `#` (4.1), which is kept like a comment. */
  readonly kind: "line" | "block" | "preprocessor";
}

/** `L:` alone. The instruction after it is a statement of its own. */
export interface Label extends Span {
  readonly kind: "label";
  readonly name: Name;
}

/** `.loc file line column {, function_name label {+ n}, inlined_at file line column}` (11.5.4) */
export interface LocDirective extends Span {
  readonly kind: "loc";
  readonly file: number;
  readonly line: number;
  readonly column: number;
  readonly functionName: { readonly label: Name; readonly offset: number } | null;
  readonly inlinedAt: { readonly file: number; readonly line: number; readonly column: number } | null;
}

/** `.pragma "nounroll";` (11.4.7) */
export interface PragmaDirective extends Span {
  readonly kind: "pragma";
  /** Without the quotes. */
  readonly strings: readonly Name[];
}

// ---- Declarations (sections 5 and 11) ------------------------------------------------------------------------------

/** The state space of a declaration (5.1). */
export type StateSpace = "reg" | "sreg" | "const" | "global" | "local" | "param" | "shared" | "tex";

/** A linking directive, without the dot (11.6). */
export type Linkage = "extern" | "visible" | "weak" | "common";

/** `.file 1 "a.cu" {, timestamp, size}` (11.5.3). `size` is in bytes. */
export interface FileDirective extends Span {
  readonly kind: "file";
  readonly index: number;
  readonly name: Name;
  readonly timestamp: bigint | null;
  readonly size: bigint | null;
}

/** A line `@@DWARF ...` of old modules (11.5.1), kept as text. */
export interface DwarfDirective extends Span {
  readonly kind: "dwarf";
}

/** The binary operators of constant expressions (4.5.4); `+` also joins a name and an offset. */
export type BinaryOperator =
  | "*"
  | "/"
  | "%"
  | "+"
  | "-"
  | "<<"
  | ">>"
  | "<"
  | ">"
  | "<="
  | ">="
  | "=="
  | "!="
  | "&"
  | "^"
  | "|"
  | "&&"
  | "||";
