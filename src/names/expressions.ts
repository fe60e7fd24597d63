import { decimal, type Grammar, noFacts } from "./grammar.ts";
import { list, type Node, operand, sequence, text } from "./node.ts";
import { type Operator, operators } from "./operators.ts";

/** The rule `expression`. */
export function parseExpression(grammar: Grammar): Node {
  const { state } = grammar;
  return state.within(() => {
    const global = state.take("gs");
    const special = primary(grammar) ?? compound(grammar);
    if (special !== null) return global ? sequence("::", special) : special;
    const code = state.match(/(?:pp|mm)_|[a-z][a-zA-Z]/y);
    const operator = code === null ? undefined : operators.get(code);
    if (operator !== undefined) return operation(grammar, operator, global);
    return state.fail();
  });
}

/** Expressions without operands, and names. */
function primary(grammar: Grammar): Node | null {
  const { state } = grammar;
  const first = state.peek();
  if (first === "L") return grammar.literal();
  if (first === "T") return grammar.templateParameter();
  if (/\d/.test(first) || state.looksAt("on") || state.looksAt("sr") || state.looksAt("dn")) {
    return unresolvedName(grammar);
  }
  if (state.match(/u(?=\d)/y) !== null) return vendorExpression(grammar);
  if (state.take("fpT")) return text("this");
  const parameter = state.match(/fp[rVK]*(?=\d*_)|fL\d+p[rVK]*(?=\d*_)/y);
  if (parameter !== null) return text(`{parm#${state.sequenceNumber(decimal, 10) + 1}}`);
  return null;
}

/** The rule `unresolved-name`. */
function unresolvedName(grammar: Grammar): Node {
  const { state } = grammar;
  if (!state.take("sr")) return baseName(grammar);
  if (state.take("N")) {
    let scope = grammar.type();
    while (!state.take("E")) scope = { kind: "nested", scope, name: simpleId(grammar) };
    return { kind: "nested", scope, name: baseName(grammar) };
  }
  if (/\d/.test(state.peek())) {
    let scope: Node = simpleId(grammar);
    while (!state.take("E")) scope = { kind: "nested", scope, name: simpleId(grammar) };
    const base = baseName(grammar);
    if (base.kind !== "template") return { kind: "nested", scope, name: base };
    return { ...base, name: { kind: "nested", scope, name: base.name } };
  }
  const scope = grammar.type();
  return { kind: "nested", scope, name: baseName(grammar) };
}

function simpleId(grammar: Grammar): Node {
  const name = grammar.sourceName();
  return withArguments(grammar, name);
}

function withArguments(grammar: Grammar, name: Node): Node {
  if (grammar.state.peek() !== "I") return name;
  return { kind: "template", name, args: grammar.templateArguments() };
}

/** The rule `base-unresolved-name`. */
function baseName(grammar: Grammar): Node {
  const { state } = grammar;
  if (state.take("dn")) {
    const of = /\d/.test(state.peek()) ? simpleId(grammar) : grammar.type();
    return sequence("~", of);
  }
  state.take("on");
  return withArguments(grammar, grammar.unqualifiedName(null, noFacts()));
}

/** Expressions whose form is their own. */
function compound(grammar: Grammar): Node | null {
  const { state } = grammar;
  const code = state.text.slice(state.at, state.at + 2);
  switch (code) {
    case "cv":
    case "tl":
    case "il":
      state.at += 2;
      return construction(grammar, code);
    case "sp":
      state.at += 2;
      return { kind: "expansion", pattern: grammar.expression() };
    case "sZ":
      state.at += 2;
      return { kind: "count", of: packOf(grammar) };
    case "sP":
      state.at += 2;
      return sequence("sizeof...(", list(state.until(() => grammar.expression())), ")");
    case "fl":
    case "fr":
    case "fL":
    case "fR":
      state.at += 2;
      return fold(grammar, code);
    case "tw":
      state.at += 2;
      return sequence("throw ", grammar.expression());
    case "tr":
      state.at += 2;
      return text("throw");
    case "nw":
    case "na":
      state.at += 2;
      return newExpression(grammar, code === "nw" ? "new " : "new[] ");
    case "rq":
    case "rQ":
      state.at += 2;
      return requirement(grammar, code === "rQ");
    case "di":
      state.at += 2;
      return sequence(".", grammar.sourceName(), "=", grammar.expression());
    case "dx":
      state.at += 2;
      return sequence("[", grammar.expression(), "]=", grammar.expression());
    case "dX":
      state.at += 2;
      return sequence("[", grammar.expression(), " ... ", grammar.expression(), "]=", grammar.expression());
    default:
      return null;
  }
}

const packOf = (grammar: Grammar): Node =>
  grammar.state.peek() === "T" ? grammar.templateParameter() : grammar.expression();

/** Conversions and lists in braces. */
function construction(grammar: Grammar, code: "cv" | "tl" | "il"): Node {
  const { state } = grammar;
  if (code === "il")
    return braced(
      null,
      state.until(() => grammar.expression()),
    );
  const type = grammar.type();
  if (code === "tl")
    return braced(
      type,
      state.until(() => grammar.expression()),
    );
  if (!state.take("_")) return sequence("(", type, ")", operand(grammar.expression()));
  return sequence("(", type, ")(", list(state.until(() => grammar.expression())), ")");
}

const braced = (type: Node | null, items: readonly Node[]): Node => ({
  kind: "list",
  items: [sequence(...(type === null ? [] : [type]), "{", list(items), "}")],
});

/** Folds over a pack: `(... + x)`, `(x + ... + 0)`. */
function fold(grammar: Grammar, code: "fl" | "fr" | "fL" | "fR"): Node {
  const { state } = grammar;
  const operator = operators.get(state.match(/[a-z][a-zA-Z]/y) ?? state.fail())?.words ?? state.fail();
  const first = operand(grammar.expression());
  if (code === "fl") return sequence("(...", operator, first, ")");
  if (code === "fr") return sequence("(", first, operator, "...)");
  const second = operand(grammar.expression());
  return sequence("(", first, operator, "...", operator, second, ")");
}

/** `nw PLACEMENT... _ TYPE E`, with an initializer before the E if there is one. */
function newExpression(grammar: Grammar, words: string): Node {
  const { state } = grammar;
  const placement: Node[] = [];
  while (!state.take("_")) placement.push(grammar.expression());
  const type = grammar.type();
  const parts = [words, ...(placement.length > 0 ? ["(", list(placement), ") "] : []), type];
  if (state.take("pi")) return sequence(...parts, "(", list(state.until(() => grammar.expression())), ")");
  if (state.peek() === "i") return sequence(...parts, grammar.expression());
  state.require("E");
  return sequence(...parts);
}

/** `requires { ... }`, with parameters of its own if there are some. */
function requirement(grammar: Grammar, hasParameters: boolean): Node {
  const { state } = grammar;
  const parameters: Node[] = [];
  if (hasParameters) while (!state.take("_")) parameters.push(grammar.type());
  const head = hasParameters ? ["requires (", list(parameters), ") {"] : ["requires {"];
  const rules = state.until(() => {
    if (state.take("T")) return sequence(" typename ", grammar.type(), ";");
    if (state.take("Q")) return sequence(" requires ", grammar.expression(), ";");
    state.require("X");
    const value = grammar.expression();
    const safe = state.take("N") ? " noexcept" : "";
    const type = state.take("R") ? [" -> ", grammar.name(noFacts())] : [];
    return sequence(
      safe === "" && type.length === 0 ? " " : " {",
      value,
      safe === "" && type.length === 0 ? "" : "}",
      safe,
      ...type,
      ";",
    );
  });
  return sequence(...head, ...rules, " }");
}

/** `u NAME ARGUMENTS... E`: an expression that only one compiler knows. */
function vendorExpression(grammar: Grammar): Node {
  const { state } = grammar;
  const name = grammar.sourceName();
  const args = state.until(() => (state.take("t") ? grammar.type() : grammar.expression()));
  return sequence(name, "(", list(args), ")");
}

/** An operator with its operands. */
function operation(grammar: Grammar, { code, words, form }: Operator, global: boolean): Node {
  const { state } = grammar;
  const next = (): Node => grammar.expression();
  switch (form) {
    case "prefix":
      return sequence(words, code === "ad" ? addressed(next()) : operand(next()));
    case "postfix":
      // Before its operand, an operator is written with `_` after its code.
      return state.take("_") ? sequence(words, operand(next())) : sequence(operand(next()), words);
    case "binary": {
      const all = sequence(operand(next()), words, operand(next()));
      return words === ">" ? sequence("(", all, ")") : all;
    }
    case "member":
      return sequence(operand(next()), words, operand(next()));
    case "index":
      return sequence(operand(next()), "[", next(), "]");
    case "call": {
      const called = withoutParameters(next());
      return sequence(operand(called), "(", list(state.until(next)), ")");
    }
    case "conditional":
      return sequence(operand(next()), "?", operand(next()), " : ", operand(next()));
    case "cast": {
      const type = grammar.type();
      return sequence(`${words}<`, type, ">(", next(), ")");
    }
    case "of-type":
      return sequence(`${words} (`, grammar.type(), ")");
    case "of-expression":
      return sequence(`${words} `, operand(next()));
    case "delete":
      return sequence(`${global ? "::" : ""}${words} `, operand(next()));
    default:
      return state.fail();
  }
}

/** A function that is named rather than declared: its parameters are not shown. */
const withoutParameters = (node: Node): Node => (node.kind === "encoding" ? node.name : node);

/** The operand of `&`. A member function is shown without its parameters, unless qualifiers follow them. */
function addressed(node: Node): Node {
  if (node.kind !== "encoding" || node.name.kind !== "nested" || node.type?.result !== null) return operand(node);
  return operand(node.type.suffix.parts[0] === "" ? node.name : node);
}
