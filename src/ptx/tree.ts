import type { SourceText, Span } from "../source/index.ts";
import type { Resolved } from "./binding.ts";
import type { PtxSymbol } from "./symbols.ts";

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

// ---- Names, literals, constant expressions (section 4) --------------------------------------------------------------

export interface Name extends Span {
  readonly text: string;
}

/** `value` is the 64-bit pattern (0 to 2^64-1); `unsigned`: has the suffix `U`, or does not fit `.s64`. */
export interface IntegerLiteral extends Span {
  readonly kind: "integer";
  readonly value: bigint;
  readonly unsigned: boolean;
}

/** `bits` is the exact pattern: of binary64 for decimal and `0d` literals, of binary32 for `0f`. */
export interface FloatLiteral extends Span {
  readonly kind: "float";
  readonly width: 32 | 64;
  readonly bits: bigint;
}

export interface NameExpr extends Span {
  readonly kind: "name";
  readonly text: string;
  /** `.x .y .z .w .r .g .b .a` of a vector, `.b0`-`.b3 .h0 .h1` of a video operand; without the dot. */
  readonly component: string | null;
  /** Filled by the binder. */
  symbol: PtxSymbol | null;
}

export interface UnaryExpr extends Span {
  readonly kind: "unary";
  readonly operator: "+" | "-" | "!" | "~" | "(.s64)" | "(.u64)";
  readonly operand: Expression;
}

export interface BinaryExpr extends Span {
  readonly kind: "binary";
  readonly operator:
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
  readonly left: Expression;
  readonly right: Expression;
}

export interface ConditionalExpr extends Span {
  readonly kind: "conditional";
  readonly condition: Expression;
  readonly then: Expression;
  readonly otherwise: Expression;
}

/** Parentheses are kept, so that printing is faithful. */
export interface ParenthesizedExpr extends Span {
  readonly kind: "parenthesized";
  readonly inner: Expression;
}

/**
 * `generic(x)` and the mask `0xff00(x)`, as initializers use them (5.4.4). A mask has the operator "mask" and two argument
 * lists, the mask and what it picks from.
 */
export interface OperatorCall extends Span {
  readonly kind: "operator-call";
  readonly operator: Name;
  readonly argumentLists: readonly (readonly Expression[])[];
}

/** `WARP_SZ` is a name. Nesting is bounded by the parser. */
export type Expression =
  | IntegerLiteral
  | FloatLiteral
  | NameExpr
  | UnaryExpr
  | BinaryExpr
  | ConditionalExpr
  | ParenthesizedExpr
  | OperatorCall;

// ---- Operands (section 6) ---------------------------------------------------------------------------------------------

/** `!p` */
export interface NegatedOperand extends Span {
  readonly kind: "negated";
  readonly operand: Operand;
}

/** `{a, b, _, 4}` */
export interface VectorOperand extends Span {
  readonly kind: "vector";
  readonly elements: readonly Operand[];
}

/** `[a]`, `[a+4]`, `[a, b]`, `[tensor, {x, y}]`; `parts` are what commas separate. */
export interface AddressOperand extends Span {
  readonly kind: "address";
  readonly parts: readonly Operand[];
  /** "unified" of `[a].unified`, without the dot. */
  readonly qualifier: Name | null;
}

/** `a[4]`, `a[r+4]` (6.4.2): the address of an element. Also `[a][b]`, whose base is an address. */
export interface IndexedOperand extends Span {
  readonly kind: "indexed";
  readonly base: NameExpr | AddressOperand;
  readonly index: Operand;
}

/** `p|q` */
export interface PairOperand extends Span {
  readonly kind: "pair";
  readonly first: Operand;
  readonly second: Operand;
}

/** `(a, b)`: argument and result lists of a call. */
export interface ListOperand extends Span {
  readonly kind: "list";
  readonly elements: readonly Operand[];
}

/** `_`: the result is not wanted. */
export interface SinkOperand extends Span {
  readonly kind: "sink";
}

/** A piece of text that no rule takes; a diagnostic says why. */
export interface BadNode extends Span {
  readonly kind: "bad";
}

/** Registers, variables, labels and functions are `NameExpr`; `x+4` is a `BinaryExpr`. */
export type Operand =
  | Expression
  | NegatedOperand
  | VectorOperand
  | AddressOperand
  | IndexedOperand
  | PairOperand
  | ListOperand
  | SinkOperand
  | BadNode;

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
