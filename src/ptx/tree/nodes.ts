import type { Span } from "../../source/index.ts";
import type { Resolved } from "../binding.ts";
import type { TypeInfo } from "../types.ts";
import type {
  BadNode,
  BinaryOperator,
  ConstantSymbol,
  DwarfDirective,
  FileDirective,
  FloatLiteral,
  IntegerLiteral,
  Label,
  LabelSymbol,
  Linkage,
  LocDirective,
  Name,
  PragmaDirective,
  SinkOperand,
  SpecialSymbol,
  StateSpace,
  SymbolBase,
} from "./leaves.ts";

/** A use of a name: register, variable, parameter, function, label or constant. */
export interface NameExpr extends Span {
  readonly kind: "name";
  readonly text: string;
  /** `x y z w r g b a` of a vector, `b0` to `b3`, `h0`, `h1` of a video operand; null if none is selected. */
  readonly component: string | null;
  /** The meaning of the name, set by `checkPtx`; null before, and if the name is unknown. */
  symbol: PtxSymbol | null;
}

/** A prefix operator or a cast in a constant expression (4.5.4). */
export interface UnaryExpr extends Span {
  readonly kind: "unary";
  readonly operator: "+" | "-" | "!" | "~" | "(.s64)" | "(.u64)";
  readonly operand: Expression;
}

/** A binary operator in a constant expression (4.5.4), or `name+offset` in an operand. */
export interface BinaryExpr extends Span {
  readonly kind: "binary";
  readonly operator: BinaryOperator;
  readonly left: Expression;
  readonly right: Expression;
}

/** `condition ? then : otherwise` (4.5.4) */
export interface ConditionalExpr extends Span {
  readonly kind: "conditional";
  readonly condition: Expression;
  readonly then: Expression;
  readonly otherwise: Expression;
}

/** `(inner)`: parentheses are kept so that printing reproduces them. */
export interface ParenthesizedExpr extends Span {
  readonly kind: "parenthesized";
  readonly inner: Expression;
}

/**
 * `generic(x)` and the mask `0xff00(x)` in initializers (5.4.4). A mask has the operator "mask" and two argument lists:
 * the mask, and the address that it picks bytes from.
 */
export interface OperatorCall extends Span {
  readonly kind: "operator-call";
  readonly operator: Name;
  readonly argumentLists: readonly (readonly Expression[])[];
}

/** A constant expression (4.5) or an operand written like one. `WARP_SZ` is a name. The parser bounds the nesting. */
export type Expression =
  | IntegerLiteral
  | FloatLiteral
  | NameExpr
  | UnaryExpr
  | BinaryExpr
  | ConditionalExpr
  | ParenthesizedExpr
  | OperatorCall;

// ---- Operands (section 6) ------------------------------------------------------------------------------------------

/** `!p`: a negated predicate. */
export interface NegatedOperand extends Span {
  readonly kind: "negated";
  readonly operand: Operand;
}

/** `{a, b, _, 4}` */
export interface VectorOperand extends Span {
  readonly kind: "vector";
  readonly elements: readonly Operand[];
}

/** `[a]`, `[a+4]`, `[a, b]`, `[tensor, {x, y}]`; `parts` are the pieces between commas. */
export interface AddressOperand extends Span {
  readonly kind: "address";
  readonly parts: readonly Operand[];
  /** "unified" of `[a].unified`, without the dot; null if there is none. */
  readonly qualifier: Name | null;
}

/** `a[4]`, `a[r+4]` (6.4.2): the address of an element. Also `[a][b]`, whose base is an address. */
export interface IndexedOperand extends Span {
  readonly kind: "indexed";
  readonly base: NameExpr | AddressOperand;
  readonly index: Operand;
}

/** `p|q`: two results, as of `setp`. */
export interface PairOperand extends Span {
  readonly kind: "pair";
  readonly first: Operand;
  readonly second: Operand;
}

/** `(a, b)`: the argument or result list of a call. */
export interface ListOperand extends Span {
  readonly kind: "list";
  readonly elements: readonly Operand[];
}

/** An operand of an instruction. Registers, variables, labels and functions are `NameExpr`; `x+4` is a `BinaryExpr`. */
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

// ---- Symbols: what names stand for ----------------------------------------------------------------------------------

/** The meaning of a name. Each declared thing has one symbol, which all its names share: compare by identity. */
export type PtxSymbol =
  | RegisterSymbol
  | VariableSymbol
  | ParameterSymbol
  | FunctionSymbol
  | LabelSymbol
  | TargetListSymbol
  | PrototypeSymbol
  | SpecialSymbol
  | ConstantSymbol;

/** A `.reg` variable (5.1.1), or one of a parameterized set (`r3` of `r<8>`; its span is that of the set). */
export interface RegisterSymbol extends SymbolBase {
  readonly kind: "register";
  readonly type: TypeInfo;
  /** Number of elements: 1 for a scalar, 2 or 4 for `.v2` and `.v4` registers. */
  readonly vector: number;
  /** The `.reg` formal parameter that this register is, or null. */
  readonly parameter: Parameter | null;
  /** The register's number within its function, from 0 in order of first use; -1 while it is unused. */
  readonly index: number;
}

/** A variable in memory (5.1). A `.param` variable is an argument or result of a call, not a formal parameter. */
export interface VariableSymbol extends SymbolBase {
  readonly kind: "variable";
  readonly space: "global" | "const" | "shared" | "local" | "param" | "tex" | "sreg";
  readonly type: TypeInfo;
  /** Elements of a vector; 1 for a scalar. */
  readonly vector: number;
  /** Array bounds, outermost first; null for a bound left open. Empty if it is not an array. */
  readonly dimensions: readonly (number | null)[];
  /** Total size in bytes; 0 if the outermost bound is open. */
  readonly size: number;
  /** In bytes. */
  readonly align: number;
  readonly linkage: Linkage | null;
  /** The function whose body declares the variable, or null at module scope. */
  readonly owner: FunctionDeclaration | null;
  readonly declaration: VariableDeclaration;
  readonly declarator: Declarator;
}

/** A `.param` formal parameter or return parameter of a function or kernel (5.1.6). */
export interface ParameterSymbol extends SymbolBase {
  readonly kind: "parameter";
  readonly type: TypeInfo;
  /** Elements of a vector; 1 for a scalar. */
  readonly vector: number;
  /** Array bounds, outermost first; null for a bound left open. Empty if it is not an array. */
  readonly dimensions: readonly (number | null)[];
  /** Total size in bytes; 0 if the outermost bound is open. */
  readonly size: number;
  /** In bytes. */
  readonly align: number;
  /** A kernel's parameter, or the input or return parameter of a function. */
  readonly role: "kernel" | "input" | "return";
  /** `.param .b8 x[]`: takes an array of any size. */
  readonly unsized: boolean;
  readonly parameter: Parameter;
}

/** A `.func` or `.entry` (11.2). */
export interface FunctionSymbol extends SymbolBase {
  readonly kind: "function";
  /** Whether it is a kernel. */
  readonly entry: boolean;
  /** The definition if there is one, else the first declaration. */
  declaration: FunctionDeclaration;
  /** All declarations and the definition, in source order. */
  readonly declarations: FunctionDeclaration[];
  /** The function that `.alias` makes this name stand for (11.2.3), or null. */
  aliasOf: FunctionSymbol | null;
}

/** The label of a `.branchtargets` or `.calltargets` (11.3). */
export interface TargetListSymbol extends SymbolBase {
  readonly kind: "target-list";
  readonly list: TargetList;
}

/** The label of a `.callprototype` (11.3.3). */
export interface PrototypeSymbol extends SymbolBase {
  readonly kind: "prototype";
  readonly prototype: CallPrototype;
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
