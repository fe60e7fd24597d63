import type { SourceText, Span } from "../source/index.ts";
import type { Resolved } from "./binding.ts";
import type { BadNode, Expression, Name, NameExpr, Operand } from "./operand-tree.ts";

export * from "./operand-tree.ts";

/**
 * The syntax tree of one PTX file. Every node is a span (UTF-16 offsets into the module's source). Nodes are plain
 * data; the two fields that the checker fills (`symbol` of names, `resolved` of instructions) start as null.
 */

/** A comment. Comments are kept beside the tree, in source order; the printer puts them back by their offsets. */
export interface Comment extends Span {
  /** "preprocessor": a line that begins with `#` (4.1), which is kept like a comment. */
  readonly kind: "line" | "block" | "preprocessor";
}

/** A whole PTX file, as `parsePtx` returns it. */
export interface Module extends Span {
  readonly kind: "module";
  readonly source: SourceText;
  /** The directives at module scope, in source order. */
  readonly items: readonly Item[];
  readonly comments: readonly Comment[];
  /**
   * Text inside other nodes that could not be parsed, in source order; each piece has a diagnostic. The printer prints
   * the statements that contain it verbatim.
   */
  readonly skipped: readonly BadNode[];
}

// ---- Statements ----------------------------------------------------------------------------------------------------

/** `@p` or `@!p` (9.3): the instruction executes in the lanes where the predicate is true, or false if `negated`. */
export interface GuardNode extends Span {
  readonly negated: boolean;
  readonly register: NameExpr;
}

/** An instruction with its guard and operands. */
export interface Instruction extends Span {
  readonly kind: "instruction";
  readonly guard: GuardNode | null;
  /** The whole dotted text, as in "ld.global.v4.f32". */
  readonly opcode: Name;
  readonly operands: readonly Operand[];
  /** The instruction's form in the table, set by `checkPtx`; null before, and if the instruction is wrong. */
  resolved: Resolved | null;
}

/** `L:` alone. The instruction after it is a statement of its own. */
export interface Label extends Span {
  readonly kind: "label";
  readonly name: Name;
}

/** `{ ... }`: a function body or a nested scope. */
export interface Block extends Span {
  readonly kind: "block";
  readonly statements: readonly Statement[];
}

/** `L: .branchtargets A, B<3>;` or `L: .calltargets f, g;` (11.3). The label is part of the directive. */
export interface TargetList extends Span {
  readonly kind: "branchtargets" | "calltargets";
  readonly label: Name | null;
  readonly targets: readonly TargetName[];
}

/** `N`, or `N<5>` for N0 to N4. */
export interface TargetName extends Span {
  readonly name: NameExpr;
  readonly range: { readonly count: number; readonly span: Span } | null;
}

/** `P: .callprototype (ret) _ (params) .noreturn ...;` (11.3.3) */
export interface CallPrototype extends Span {
  readonly kind: "callprototype";
  readonly label: Name | null;
  readonly returns: readonly Parameter[] | null;
  readonly name: Name;
  readonly params: readonly Parameter[] | null;
  readonly attributes: readonly FunctionAttribute[];
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

/** A statement of a function body. */
export type Statement =
  | Instruction
  | Label
  | Block
  | VariableDeclaration
  | TargetList
  | CallPrototype
  | LocDirective
  | PragmaDirective
  | FileDirective
  | SectionDirective
  | DwarfDirective
  | BadNode;

// ---- Declarations (sections 5 and 11) ------------------------------------------------------------------------------

/** The state space of a declaration (5.1). */
export type StateSpace = "reg" | "sreg" | "const" | "global" | "local" | "param" | "shared" | "tex";

/** One entry of `.attribute(...)` (5.4.8). */
export interface Attribute extends Span {
  /** "managed" or "unified", without the dot. */
  readonly name: Name;
  readonly args: readonly Expression[];
}

/** One declared name, with its array bounds and initial value. */
export interface Declarator extends Span {
  readonly name: Name;
  /** `r<8>` declares r0 to r7 (5.4.6). */
  readonly range: { readonly count: number; readonly span: Span } | null;
  /** Array bounds, outermost first; null for `[]`. Empty if it is not an array. */
  readonly dimensions: readonly (Expression | null)[];
  readonly initializer: Initializer | null;
}

/** The initial value of a variable, or of an element of it (5.4.4). */
export type Initializer = Expression | InitializerList | InitializerField;

/** `filter_mode = nearest` in the initializer of a `.texref`, `.samplerref` or `.surfref` (5.3). */
export interface InitializerField extends Span {
  readonly kind: "initializer-field";
  readonly name: Name;
  readonly value: Expression;
}

/** `{1, 2, {3}}`: initial values of an array or vector (5.4.4). */
export interface InitializerList extends Span {
  readonly kind: "initializer-list";
  readonly elements: readonly Initializer[];
}

/** A linking directive, without the dot (11.6). */
export type Linkage = "extern" | "visible" | "weak" | "common";

/** `.visible .global .align 8 .v2 .f32 a, b[4] = {...};` (5.4). One declaration may name several variables. */
export interface VariableDeclaration extends Span {
  readonly kind: "variable";
  readonly linkage: { readonly value: Linkage; readonly span: Span } | null;
  readonly space: StateSpace;
  readonly spaceSpan: Span;
  /** The bank n of `.const[n]` in PTX 1.x and 2.x (5.1.3.1), else null. */
  readonly bank: number | null;
  readonly attributes: readonly Attribute[];
  /** `.align n`, in bytes. */
  readonly align: { readonly value: number; readonly span: Span } | null;
  /** The elements of `.v2`, `.v4` or `.v8`; 1 for a scalar. */
  readonly vector: number;
  /** Without the dot. */
  readonly type: Name;
  readonly declarators: readonly Declarator[];
}

/** A formal parameter of a function, kernel or prototype (5.1.6). In prototypes its name is `_`. */
export interface Parameter extends Span {
  readonly kind: "parameter";
  readonly space: "reg" | "param";
  readonly align: { readonly value: number; readonly span: Span } | null;
  readonly vector: number;
  readonly type: Name;
  /** `.ptr {.space} {.align n}` of a kernel parameter. */
  readonly pointer: { readonly space: string | null; readonly align: number | null; readonly span: Span } | null;
  readonly attributes: readonly Attribute[];
  readonly name: Name;
  readonly dimensions: readonly (Expression | null)[];
}

/**
 * A directive between a function's parameters and its body (or its `;`): `.noreturn`, `.abi_preserve 8`,
 * `.maxntid 32, 1, 1`, `.reqnctapercluster` and so on (11.4, 11.7, 11.8). The parser accepts any directive; the checker
 * knows which are allowed.
 */
export interface FunctionAttribute extends Span {
  /** With the dot, as in ".maxntid". */
  readonly name: Name;
  readonly args: readonly Expression[];
  /** The strings of `.pragma`, without the quotes. */
  readonly strings: readonly Name[];
}

/** A `.func` or `.entry`, declared or defined (11.2). */
export interface FunctionDeclaration extends Span {
  readonly kind: "function";
  readonly linkage: { readonly value: Linkage; readonly span: Span } | null;
  /** Whether it is a kernel. */
  readonly entry: boolean;
  /** `.attribute(...)` before the name. */
  readonly attributes: readonly Attribute[];
  /** The return parameters; null without a list. */
  readonly returns: readonly Parameter[] | null;
  readonly name: Name;
  /** The parameters; null without a list. */
  readonly params: readonly Parameter[] | null;
  readonly directives: readonly FunctionAttribute[];
  /** Null for a declaration without a body. */
  readonly body: Block | null;
}

/** `.version 9.0` (11.1.1) */
export interface VersionDirective extends Span {
  readonly kind: "version";
  readonly major: number;
  readonly minor: number;
}

/** `.target sm_90, debug` (11.1.2) */
export interface TargetDirective extends Span {
  readonly kind: "target";
  /** An architecture such as "sm_90", and options: "texmode_independent", "debug", "map_f64_to_f32". */
  readonly names: readonly Name[];
}

/** `.address_size 64` (11.1.3) */
export interface AddressSizeDirective extends Span {
  readonly kind: "address-size";
  readonly value: number;
}

/** `.alias a, f;` makes `a` another name for the function `f` (11.2.3). */
export interface AliasDirective extends Span {
  readonly kind: "alias";
  readonly alias: NameExpr;
  readonly aliasee: NameExpr;
}

/** `.file 1 "a.cu" {, timestamp, size}` (11.5.3). `size` is in bytes. */
export interface FileDirective extends Span {
  readonly kind: "file";
  readonly index: number;
  readonly name: Name;
  readonly timestamp: bigint | null;
  readonly size: bigint | null;
}

/** `.section .debug_info { ... }` (11.5.2): DWARF data, kept as raw entries. */
export interface SectionDirective extends Span {
  readonly kind: "section";
  readonly name: Name;
  readonly entries: readonly SectionEntry[];
}

/** A line of a section: either `label:`, or data such as `.b8 1, 2` or `.b64 label+4`. */
export interface SectionEntry extends Span {
  readonly label: Name | null;
  readonly type: Name | null;
  readonly values: readonly Expression[];
}

/** A line `@@DWARF ...` of old modules (11.5.1), kept as text. */
export interface DwarfDirective extends Span {
  readonly kind: "dwarf";
}

/** A directive at module scope. */
export type Item =
  | VersionDirective
  | TargetDirective
  | AddressSizeDirective
  | VariableDeclaration
  | FunctionDeclaration
  | AliasDirective
  | FileDirective
  | SectionDirective
  | PragmaDirective
  | LocDirective
  | DwarfDirective
  | BadNode;
