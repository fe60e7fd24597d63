/**
 * A part of a demangled name. Parts are shared: a substitution in a mangled name refers to one that stands earlier, so
 * that the parts form a graph without circles.
 */
export type Node =
  /** Words that stand as they are: identifiers, built-in types, operators. */
  | { readonly kind: "text"; readonly text: string }
  /** `scope::name`. */
  | { readonly kind: "nested"; readonly scope: Node; readonly name: Node }
  /** `name<args>`. */
  | { readonly kind: "template"; readonly name: Node; readonly args: readonly Node[] }
  /** The arguments that a template parameter pack stands for. */
  | { readonly kind: "pack"; readonly items: readonly Node[] }
  /** A template parameter. What it stands for depends on the function in which it is used. */
  | { readonly kind: "parameter"; readonly index: number }
  /** `sizeof...`: how many arguments a pack has. */
  | { readonly kind: "count"; readonly of: Node }
  /** A pattern, once for each argument of the packs in it. */
  | { readonly kind: "expansion"; readonly pattern: Node }
  /** A type and what comes after it: " const", "[abi:cxx11]", " __vector(4)". */
  | { readonly kind: "suffixed"; readonly of: Node; readonly suffix: Sequence }
  | { readonly kind: "pointer"; readonly to: Node; readonly sign: "*" | "&" | "&&" }
  /** A pointer to a member of `owner`. */
  | { readonly kind: "member"; readonly owner: Node; readonly to: Node }
  | FunctionType
  | { readonly kind: "array"; readonly of: Node; readonly size: Node | null }
  /** A function or a template as a whole: its name, its parameters, and its result if the name says it. */
  | Encoding
  /** What is declared in a function: `scope::name`. */
  | { readonly kind: "local"; readonly scope: Node; readonly name: Node }
  /** The parameters of a lambda, whose template parameters are `auto`. */
  | { readonly kind: "lambda"; readonly parameters: readonly Node[] }
  /** A constructor or destructor of the class `of`. */
  | { readonly kind: "structor"; readonly of: Node; readonly destructor: boolean }
  /** `operator TYPE`. */
  | { readonly kind: "conversion"; readonly type: Node }
  /** An operand, in parentheses unless it is simple. */
  | { readonly kind: "operand"; readonly of: Node }
  /** Parts with commas between them. Packs without arguments leave nothing. */
  | { readonly kind: "list"; readonly items: readonly Node[] }
  | Sequence;

/** Words and parts, one after the other. */
export interface Sequence {
  readonly kind: "sequence";
  readonly parts: readonly (string | Node)[];
}

export interface FunctionType {
  readonly kind: "function";
  /** Null where the name does not say it. */
  readonly result: Node | null;
  readonly parameters: readonly Node[];
  /** Qualifiers and the exception specification. */
  readonly suffix: Sequence;
}

export interface Encoding {
  readonly kind: "encoding";
  readonly name: Node;
  /** The arguments that template parameters refer to in the type; null if it is not that of a template. */
  readonly args: readonly Node[] | null;
  /** Null for a variable. */
  readonly type: FunctionType | null;
}

export const text = (words: string): Node => ({ kind: "text", text: words });

export const sequence = (...parts: readonly (string | Node)[]): Sequence => ({ kind: "sequence", parts });

export const operand = (of: Node): Node => ({ kind: "operand", of });

export const list = (items: readonly Node[]): Node => ({ kind: "list", items });
