import type { Grammar } from "./grammar.ts";
import { noFacts } from "./grammar.ts";
import { list, type Node, sequence, type Sequence, text } from "./node.ts";

const builtins: Readonly<Record<string, string>> = {
  v: "void",
  w: "wchar_t",
  b: "bool",
  c: "char",
  a: "signed char",
  h: "unsigned char",
  s: "short",
  t: "unsigned short",
  i: "int",
  j: "unsigned int",
  l: "long",
  m: "unsigned long",
  x: "long long",
  y: "unsigned long long",
  n: "__int128",
  o: "unsigned __int128",
  f: "float",
  d: "double",
  e: "long double",
  g: "__float128",
  z: "...",
  Dd: "decimal64",
  De: "decimal128",
  Df: "decimal32",
  Dh: "half",
  Di: "char32_t",
  Ds: "char16_t",
  Du: "char8_t",
  Da: "auto",
  Dc: "decltype(auto)",
  Dn: "decltype(nullptr)",
};

const qualifierWords: Readonly<Record<string, string>> = { r: " restrict", V: " volatile", K: " const" };

const signs = { P: "*", R: "&", O: "&&" } as const;

/** The words of qualifiers: `VK` are " const volatile", the innermost first. */
export const qualifiersOf = (letters: string): string =>
  [...letters]
    .reverse()
    .map((q) => qualifierWords[q]!)
    .join("");

/** The rule `type`. */
export function parseType(grammar: Grammar): Node {
  const { state } = grammar;
  return state.within(() => {
    const builtin = parseBuiltin(grammar);
    if (builtin !== null) return builtin;
    if (state.peek() === "S") return substituted(grammar);
    if (state.peek() === "T" && !/[sue]/.test(state.peek(1))) return parameterType(grammar);
    return state.remember(compoundType(grammar));
  });
}

function parseBuiltin({ state }: Grammar): Node | null {
  const one = builtins[state.peek()];
  if (one !== undefined) {
    state.at++;
    return text(one);
  }
  const two = builtins[state.text.slice(state.at, state.at + 2)];
  if (two !== undefined) {
    state.at += 2;
    return text(two);
  }
  if (state.looksAt("DF")) return floatType(state);
  const bits = state.match(/D[BU]\d+_/y);
  if (bits !== null) return text(`${bits[1] === "U" ? "unsigned " : ""}_BitInt(${bits.slice(2, -1)})`);
  return null;
}

function floatType(state: Grammar["state"]): Node {
  if (state.take("DF16b")) return text("std::bfloat16_t");
  const found = state.match(/DF\d+[_x]/y) ?? state.fail();
  const bits = found.slice(2, -1);
  return text(`_Float${bits}${found.endsWith("x") ? "x" : ""}`);
}

/** A type that begins with a substitution, or a class of `std`. */
function substituted(grammar: Grammar): Node {
  const { state } = grammar;
  if (state.looksAt("St")) return state.remember(grammar.name(noFacts()));
  const known = grammar.substitution();
  if (state.peek() !== "I") return known;
  return state.remember({ kind: "template", name: known, args: grammar.templateArguments() });
}

function parameterType(grammar: Grammar): Node {
  const { state } = grammar;
  const parameter = state.remember(grammar.templateParameter());
  if (state.peek() !== "I" || !state.takeArguments) return parameter;
  return state.remember({ kind: "template", name: parameter, args: grammar.templateArguments() });
}

/** Types that are made of others, and classes. Substitutions may refer to each. */
function compoundType(grammar: Grammar): Node {
  const { state } = grammar;
  const qualifiers = state.match(/r?V?K?/y)!;
  if (qualifiers !== "") return qualified(grammar, qualifiers);
  switch (state.peek()) {
    case "P":
    case "R":
    case "O": {
      const sign = signs[state.next() as keyof typeof signs];
      return { kind: "pointer", sign, to: grammar.type() };
    }
    case "F":
      return grammar.functionType("");
    case "A":
      return arrayType(grammar);
    case "M": {
      state.at++;
      const owner = grammar.type();
      return { kind: "member", owner, to: grammar.type() };
    }
    case "C":
      state.at++;
      return { kind: "suffixed", of: grammar.type(), suffix: sequence(" _Complex") };
    case "G":
      state.at++;
      return { kind: "suffixed", of: grammar.type(), suffix: sequence(" _Imaginary") };
    case "U":
      if (!/[lt]/.test(state.peek(1))) return vendorQualified(grammar);
      break;
    case "u":
      return vendorType(grammar);
    case "D": {
      const special = specialType(grammar);
      if (special !== null) return special;
      break;
    }
    case "T":
      // A class, union or enumeration that is said to be one.
      state.at += 2;
      break;
  }
  return grammar.name(noFacts());
}

function qualified(grammar: Grammar, qualifiers: string): Node {
  const { state } = grammar;
  const words = qualifiersOf(qualifiers);
  if (state.match(/(?=D[owxO]|F)/y) !== null) return grammar.functionType(words);
  return { kind: "suffixed", of: grammar.type(), suffix: sequence(words) };
}

function vendorQualified(grammar: Grammar): Node {
  const { state } = grammar;
  state.at++;
  const name = grammar.sourceName();
  const args: Node[] = state.peek() === "I" ? [angled(grammar.templateArguments())] : [];
  return { kind: "suffixed", of: grammar.type(), suffix: sequence(" ", name, ...args) };
}

function vendorType(grammar: Grammar): Node {
  const { state } = grammar;
  state.at++;
  const name = grammar.sourceName();
  if (state.peek() !== "I") return name;
  return { kind: "template", name, args: grammar.templateArguments() };
}

const angled = (args: readonly Node[]): Node => ({ kind: "template", name: text(""), args });

/** Types that begin with D. */
function specialType(grammar: Grammar): Node | null {
  const { state } = grammar;
  switch (state.peek(1)) {
    case "t":
    case "T":
      return grammar.decltype();
    case "p":
      state.at += 2;
      return { kind: "expansion", pattern: grammar.type() };
    case "v":
      state.at += 2;
      return vectorType(grammar);
    case "k":
    case "K": {
      // auto and decltype(auto) with a concept.
      const words = state.peek(1) === "k" ? " auto" : " decltype(auto)";
      state.at += 2;
      return sequence(grammar.name(noFacts()), words);
    }
    case "o":
    case "O":
    case "w":
    case "x":
      return grammar.functionType("");
    default:
      return null;
  }
}

/** `Dv4_f`: the number of elements may be an expression. */
function vectorType(grammar: Grammar): Node {
  const { state } = grammar;
  const digits = state.match(/\d+/y);
  const size = digits !== null ? text(digits) : state.take("_") ? grammar.expression() : grammar.expression();
  state.require("_");
  return { kind: "suffixed", of: grammar.type(), suffix: sequence(" __vector(", size, ")") };
}

function arrayType(grammar: Grammar): Node {
  const { state } = grammar;
  state.at++;
  const digits = state.match(/\d+/y);
  const size = digits !== null ? text(digits) : state.peek() === "_" ? null : grammar.expression();
  state.require("_");
  return { kind: "array", of: grammar.type(), size };
}

/** The rule `function-type`, with the qualifiers of a member function before it. */
export function parseFunctionType(grammar: Grammar, qualifiers: string): Node {
  const { state } = grammar;
  const exception = exceptionSpecification(grammar);
  const safe = state.take("Dx") ? " transaction_safe" : "";
  state.require("F");
  // A function with C linkage.
  state.take("Y");
  const result = grammar.type();
  const parameters: Node[] = [];
  let reference = "";
  while (!state.take("E")) {
    if (state.take("RE")) reference = " &";
    else if (state.take("OE")) reference = " &&";
    else {
      parameters.push(grammar.type());
      continue;
    }
    break;
  }
  const suffix = sequence(qualifiers, reference, safe, ...exception);
  return { kind: "function", result, parameters: withoutVoid(parameters), suffix };
}

/** `(void)` is `()`. */
export const withoutVoid = (parameters: readonly Node[]): readonly Node[] => {
  const [only] = parameters;
  return parameters.length === 1 && only?.kind === "text" && only.text === "void" ? [] : parameters;
};

function exceptionSpecification(grammar: Grammar): Sequence["parts"] {
  const { state } = grammar;
  if (state.take("Do")) return [" noexcept"];
  if (state.take("DO")) {
    const condition = grammar.expression();
    state.require("E");
    return [" noexcept(", condition, ")"];
  }
  if (state.take("Dw")) return [" throw(", list(state.until(() => grammar.type())), ")"];
  return [];
}
