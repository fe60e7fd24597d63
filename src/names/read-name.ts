import { type Grammar, Malformed } from "./grammar.ts";
import type { Node } from "./node.ts";
import { grammarOf } from "./parser.ts";
import { Printer, TooLong } from "./print.ts";

/** A mangled C++ name as it was in the source. */
export interface DemangledName {
  /** With everything that the mangled name says: `void scale<float>(float*, float*, int)`. */
  readonly full: string;
  /** Without the result: `scale<float>(float*, float*, int)`. */
  readonly signature: string;
  /** Without result and parameters: `scale<float>`. */
  readonly name: string;
  /** The types of the parameters; null if the name is not that of a function. */
  readonly parameters: readonly string[] | null;
}

/** The longest mangled name that is demangled. */
const longest = 1 << 16;

/** Reads a mangled name; null if it is none. */
export function readName(mangled: string): DemangledName | null {
  if (mangled.length > longest) return null;
  try {
    const grammar = grammarOf(mangled);
    grammar.state.require(mangled.startsWith("__Z") ? "__Z" : "_Z");
    const node = grammar.encoding(true);
    const clones = clonesOf(grammar);
    return describe(node, clones);
  } catch (error) {
    // A RangeError: a caller has left too little of the stack.
    if (error instanceof Malformed || error instanceof TooLong || error instanceof RangeError) return null;
    throw error;
  }
}

/** The marks of copies that a compiler has made: `.isra.0`. */
function clonesOf({ state }: Grammar): string {
  let all = "";
  while (!state.ended) all += ` [clone ${state.match(/\.[a-zA-Z_\d]+(\.\d+)*/y) ?? state.fail()}]`;
  return all;
}

function describe(node: Node, clones: string): DemangledName {
  const printer = new Printer();
  const full = printer.print(node) + clones;
  if (node.kind !== "encoding" || node.type === null) return { full, signature: full, name: full, parameters: null };
  const signature = printer.print({ ...node, type: { ...node.type, result: null } }) + clones;
  return { full, signature, name: printer.nameOf(node), parameters: printer.parametersOf(node) };
}
