import type { SourceText, Span } from "../source/index.ts";
import type { Resolved } from "./binding.ts";
import type { BadNode, Expression, Name, NameExpr, Operand } from "./operand-tree.ts";

export * from "./operand-tree.ts";

/**
 * The syntax tree of one PTX file. Every node is a span (offsets into the module's source). Nodes are plain data; the two
 * fields that later passes fill (`symbol` on names, `resolved` on instructions) start as null.
 *
 * Comments are kept beside the tree, in order; the printer puts them back by their offsets.
 */
export interface Comment extends Span {
  /** "preprocessor": a line that begins with `#` (4.1), which the printer keeps like a comment. */
  readonly kind: "line" | "block" | "preprocessor";
}

export interface Module extends Span {
  readonly kind: "module";
  readonly source: SourceText;
  readonly items: readonly Item[];
  readonly comments: readonly Comment[];
  /** Text inside other nodes that no rule took, in order; each has a diagnostic. The printer keeps the statements around it verbatim. */
  readonly skipped: readonly BadNode[];
}

// ---- Statements ------------------------------------------------------------------------------------------------------

export interface GuardNode extends Span {
  readonly negated: boolean;
  readonly register: NameExpr;
}

export interface Instruction extends Span {
  readonly kind: "instruction";
  readonly guard: GuardNode | null;
  /** The whole dotted text, as in "ld.global.v4.f32". */
  readonly opcode: Name;
  readonly operands: readonly Operand[];
  /** Filled by the checker: the form that this is; null while unknown or wrong. */
  resolved: Resolved | null;
}

/** A label and nothing else; what follows is the next statement. */
export interface Label extends Span {
  readonly kind: "label";
  readonly name: Name;
}

export interface Block extends Span {
  readonly kind: "block";
  readonly statements: readonly Statement[];
}

/** `L: .branchtargets A, B<3>;` and `L: .calltargets f, g;` (11.3). The label is part of the directive. */
export interface TargetList extends Span {
  readonly kind: "branchtargets" | "calltargets";
  readonly label: Name | null;
  readonly targets: readonly TargetName[];
}

/** `N` or `N<5>`: N0 to N4. */
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

export interface PragmaDirective extends Span {
  readonly kind: "pragma";
  /** Without the quotes. */
  readonly strings: readonly Name[];
}

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

// ---- Declarations (sections 5 and 11) -----------------------------------------------------------------------------------

export type StateSpace = "reg" | "sreg" | "const" | "global" | "local" | "param" | "shared" | "tex";

export interface Attribute extends Span {
  /** "managed", "unified", ... */
  readonly name: Name;
  readonly args: readonly Expression[];
}

/** One declared name with its bounds and initial value. */
export interface Declarator extends Span {
  readonly name: Name;
  /** `r<8>`: r0 to r7. */
  readonly range: { readonly count: number; readonly span: Span } | null;
  /** Array bounds, outermost first; null for `[]`. */
  readonly dimensions: readonly (Expression | null)[];
  readonly initializer: Initializer | null;
}

export type Initializer = Expression | InitializerList | InitializerField;

/** `filter_mode = nearest` in the initializer of a `.texref`, `.samplerref` or `.surfref` (5.3). */
export interface InitializerField extends Span {
  readonly kind: "initializer-field";
  readonly name: Name;
  readonly value: Expression;
}

export interface InitializerList extends Span {
  readonly kind: "initializer-list";
  readonly elements: readonly Initializer[];
}

export type Linkage = "extern" | "visible" | "weak" | "common";

/** `.visible .global .align 8 .v2 .f32 a, b[4] = {...};` A declaration may name several variables. */
export interface VariableDeclaration extends Span {
  readonly kind: "variable";
  readonly linkage: { readonly value: Linkage; readonly span: Span } | null;
  readonly space: StateSpace;
  readonly spaceSpan: Span;
  /** Bank of `.const[n]` in old modules. */
  readonly bank: number | null;
  readonly attributes: readonly Attribute[];
  readonly align: { readonly value: number; readonly span: Span } | null;
  /** 1, 2, 4 (or 8). */
  readonly vector: number;
  /** Without the dot. */
  readonly type: Name;
  readonly declarators: readonly Declarator[];
}

/** A formal parameter. The name is `_` in prototypes. */
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
 * A directive between a function's parameters and its body (or its `;`): `.noreturn`, `.abi_preserve 8`, `.maxntid 32, 1,
 * 1`, `.reqnctapercluster`, ... Which are allowed where, the checker knows.
 */
export interface FunctionAttribute extends Span {
  /** With the dot, as in ".maxntid". */
  readonly name: Name;
  readonly args: readonly Expression[];
  /** Of `.pragma`, without the quotes. */
  readonly strings: readonly Name[];
}

export interface FunctionDeclaration extends Span {
  readonly kind: "function";
  readonly linkage: { readonly value: Linkage; readonly span: Span } | null;
  readonly entry: boolean;
  /** `.attribute(...)` before the name. */
  readonly attributes: readonly Attribute[];
  readonly returns: readonly Parameter[] | null;
  readonly name: Name;
  readonly params: readonly Parameter[] | null;
  readonly directives: readonly FunctionAttribute[];
  /** null: a prototype that ends with `;`. */
  readonly body: Block | null;
}

export interface VersionDirective extends Span {
  readonly kind: "version";
  readonly major: number;
  readonly minor: number;
}

export interface TargetDirective extends Span {
  readonly kind: "target";
  /** "sm_90", "texmode_independent", "debug", "map_f64_to_f32", ... */
  readonly names: readonly Name[];
}

export interface AddressSizeDirective extends Span {
  readonly kind: "address-size";
  readonly value: number;
}

/** `.alias a, f;` */
export interface AliasDirective extends Span {
  readonly kind: "alias";
  readonly alias: NameExpr;
  readonly aliasee: NameExpr;
}

/** `.file 1 "a.cu" {, timestamp, size}` */
export interface FileDirective extends Span {
  readonly kind: "file";
  readonly index: number;
  readonly name: Name;
  readonly timestamp: bigint | null;
  readonly size: bigint | null;
}

/** `.section .debug_info { ... }`: kept as lines of raw entries. */
export interface SectionDirective extends Span {
  readonly kind: "section";
  readonly name: Name;
  readonly entries: readonly SectionEntry[];
}

export interface SectionEntry extends Span {
  /** `label:` alone, or data `.b8 1, 2`, `.b64 label+4`. */
  readonly label: Name | null;
  readonly type: Name | null;
  readonly values: readonly Expression[];
}

/** `@@DWARF ...` of old modules, kept as text. */
export interface DwarfDirective extends Span {
  readonly kind: "dwarf";
}

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
