import { base36, decimal, type Grammar, type NameFacts, noFacts } from "./grammar.ts";
import { list, type Node, sequence, text } from "./node.ts";
import { operators } from "./operators.ts";
import { qualifiersOf, withoutVoid } from "./types.ts";

const std = text("std");

/** The rule `name`. */
export function parseName(grammar: Grammar, facts: NameFacts): Node {
  const { state } = grammar;
  return state.within(() => {
    if (state.peek() === "N") return nestedName(grammar, facts);
    if (state.peek() === "Z") return localName(grammar, facts);
    if (state.peek() === "S" && state.peek(1) !== "t") {
      const known = grammar.substitution();
      if (state.peek() !== "I") state.fail();
      return templateId(grammar, known, facts);
    }
    const name = state.take("St")
      ? nested(std, grammar.unqualifiedName(std, facts))
      : grammar.unqualifiedName(null, facts);
    if (state.peek() !== "I") return name;
    return templateId(grammar, state.remember(name), facts);
  });
}

function templateId(grammar: Grammar, name: Node, facts: NameFacts): Node {
  const args = grammar.templateArguments();
  facts.endsWithArguments = true;
  facts.args = args;
  return { kind: "template", name, args };
}

const nested = (scope: Node, name: Node): Node => ({ kind: "nested", scope, name });

/** `N [qualifiers] prefix... name E`. */
function nestedName(grammar: Grammar, facts: NameFacts): Node {
  const { state } = grammar;
  state.require("N");
  state.take("H");
  const qualifiers = qualifiersOf(state.match(/r?V?K?/y)!);
  const reference = state.take("O") ? " &&" : state.take("R") ? " &" : "";
  let at: Node | null = null;
  let last: "name" | "arguments" | "substitution" = "substitution";
  const begin = state.at;
  while (!state.take("E")) {
    // The member of which a lambda initializes it.
    if (state.take("M")) continue;
    if (state.peek() === "T" && !/[sue]/.test(state.peek(1))) {
      if (at !== null) state.fail();
      at = state.remember(grammar.templateParameter());
      last = "name";
    } else if (state.peek() === "I") {
      if (at === null || last === "arguments") state.fail();
      facts.args = grammar.templateArguments();
      at = state.remember({ kind: "template", name: at!, args: facts.args });
      last = "arguments";
    } else if (state.peek() === "D" && /[tT]/.test(state.peek(1))) {
      if (at !== null) state.fail();
      at = state.remember(grammar.decltype());
      last = "name";
    } else if (state.peek() === "S" && at === null && state.at === begin) {
      at = state.take("St") ? std : grammar.substitution();
      last = "substitution";
    } else {
      facts.withoutResult = false;
      const name = grammar.unqualifiedName(at, facts);
      at = state.remember(at === null ? name : nested(at, name));
      last = "name";
    }
  }
  if (at === null || last === "substitution") state.fail();
  // The whole name is remembered by the type that it names, if it names one.
  state.substitutions.pop();
  facts.endsWithArguments = last === "arguments";
  facts.qualifiers = qualifiers + reference;
  return at!;
}

/** `Z encoding E name`: what is declared in a function. */
function localName(grammar: Grammar, facts: NameFacts): Node {
  const { state } = grammar;
  state.require("Z");
  const scope = grammar.encoding(false);
  if (scope.kind === "encoding") facts.args = scope.args;
  state.require("E");
  if (state.take("s")) {
    discriminator(grammar);
    return nested(scope, text("string literal"));
  }
  if (state.take("d")) {
    const number = state.sequenceNumber(decimal, 10) + 1;
    return local(nested(scope, text(`{default arg#${number}}`)), grammar.name(facts));
  }
  const name = grammar.name(facts);
  discriminator(grammar);
  return local(scope, name);
}

const local = (scope: Node, name: Node): Node => ({ kind: "local", scope, name });

function discriminator({ state }: Grammar): void {
  state.match(/__\d+_|_\d/y);
}

/** The rule `unqualified-name`, in a scope whose class a constructor has. */
export function parseUnqualifiedName(grammar: Grammar, scope: Node | null, facts: NameFacts): Node {
  const { state } = grammar;
  // A function that a class declares as a friend.
  state.match(/F(?=[a-z\d])/y);
  modules(grammar);
  // Internal linkage.
  state.match(/L(?=[\dUDa-z])/y);
  return tagged(grammar, plainName(grammar, scope, facts));
}

/** The module that a name is attached to, which is not shown. */
function modules(grammar: Grammar): void {
  const { state } = grammar;
  while (state.take("W")) {
    state.take("P");
    state.remember(grammar.sourceName());
  }
}

function plainName(grammar: Grammar, scope: Node | null, facts: NameFacts): Node {
  const { state } = grammar;
  const first = state.peek();
  if (/\d/.test(first)) return grammar.sourceName();
  if (first === "U") return unnamed(grammar);
  if (first === "C" || (first === "D" && /\d/.test(state.peek(1)))) return structor(grammar, scope, facts);
  if (state.take("DC")) return sequence("[", list(state.until(() => grammar.sourceName())), "]");
  return grammar.operatorName(facts);
}

function tagged(grammar: Grammar, name: Node): Node {
  const { state } = grammar;
  let all = name;
  while (state.take("B")) all = { kind: "suffixed", of: all, suffix: sequence("[abi:", grammar.sourceName(), "]") };
  return all;
}

function structor(grammar: Grammar, scope: Node | null, facts: NameFacts): Node {
  const { state } = grammar;
  if (scope === null) state.fail();
  const found = state.match(/CI?[1-5]|D[0-5]/y) ?? state.fail();
  // An inherited constructor says from which class.
  if (found.startsWith("CI")) grammar.type();
  facts.withoutResult = true;
  return { kind: "structor", of: scope!, destructor: found.startsWith("D") };
}

/** `Ut_`: a type without a name. `UlPfE_`: a lambda with its parameters. */
function unnamed(grammar: Grammar): Node {
  const { state } = grammar;
  if (state.take("Ut")) return text(`{unnamed type#${state.sequenceNumber(decimal, 10) + 1}}`);
  state.require("Ul");
  while (state.peek() === "T" && /[yntpk]/.test(state.peek(1))) parameterDeclaration(grammar);
  const parameters = withoutVoid(state.until(() => grammar.type()));
  return sequence("{lambda(", { kind: "lambda", parameters }, `)#${state.sequenceNumber(decimal, 10) + 1}}`);
}

/** The parameter of a template, where a lambda or a template template parameter declares it. Not shown. */
export function parameterDeclaration(grammar: Grammar): void {
  const { state } = grammar;
  state.within(() => {
    if (state.take("Ty")) return;
    if (state.take("Tk")) grammar.name(noFacts());
    else if (state.take("Tn")) grammar.type();
    else if (state.take("Tp")) parameterDeclaration(grammar);
    else if (state.take("Tt")) while (!state.take("E")) parameterDeclaration(grammar);
    else state.fail();
  });
}

const anonymous = /^_GLOBAL_[._$]N/;

/** nvcc's namespace for what is static in a file, which the source does not have. */
const internal = /^_INTERNAL_[0-9a-f]{8}_/;

/** `3foo`. */
export function parseSourceName({ state }: Grammar): Node {
  const length = Number(state.match(/[1-9]\d{0,6}/y) ?? state.fail());
  const name = state.text.slice(state.at, state.at + length);
  if (name.length < length) state.fail();
  state.at += length;
  if (internal.test(name)) return text("");
  return text(anonymous.test(name) ? "(anonymous namespace)" : name);
}

/** The rule `operator-name`. */
export function parseOperatorName(grammar: Grammar, facts: NameFacts): Node {
  const { state } = grammar;
  if (state.take("cv")) {
    facts.withoutResult = true;
    // Arguments that follow are those of the operator.
    const outer = state.takeArguments;
    state.takeArguments = false;
    const type = grammar.type();
    state.takeArguments = outer;
    return { kind: "conversion", type };
  }
  if (state.take("li")) return sequence('operator"" ', grammar.sourceName());
  const vendor = state.match(/v\d(?=\d)/y);
  if (vendor !== null) return sequence("operator ", grammar.sourceName());
  const operator = operators.get(state.match(/[a-z][a-zA-Z]/y) ?? state.fail()) ?? state.fail();
  const { words, form } = operator;
  if (form === "cast" || form === "of-type" || form === "of-expression" || form === "none") state.fail();
  return text(`operator${/^[a-z]/.test(words) ? " " : ""}${words}`);
}

/** The abbreviations of the standard library, with the name of the class that its constructors have. */
const abbreviations: Readonly<Record<string, readonly [all: string, last: string]>> = {
  a: ["std::allocator", "allocator"],
  b: ["std::basic_string", "basic_string"],
  s: ["std::basic_string<char, std::char_traits<char>, std::allocator<char> >", "basic_string"],
  i: ["std::basic_istream<char, std::char_traits<char> >", "basic_istream"],
  o: ["std::basic_ostream<char, std::char_traits<char> >", "basic_ostream"],
  d: ["std::basic_iostream<char, std::char_traits<char> >", "basic_iostream"],
};

/** The rule `substitution`, other than `St`. */
export function parseSubstitution(grammar: Grammar): Node {
  const { state } = grammar;
  state.require("S");
  const short = abbreviations[state.peek()];
  if (short === undefined) return state.substitutions[state.sequenceNumber(base36, 36)] ?? state.fail();
  state.at++;
  const [all, last] = short;
  const node: Node = { kind: "nested", scope: std, name: text(all.slice("std::".length)) };
  const named = all.endsWith(">") ? structured(all, last) : node;
  const withTags = tagged(grammar, named);
  return withTags === named ? named : state.remember(withTags);
}

const char = text("char");

/** The template that an abbreviation stands for. */
function structured(all: string, last: string): Node {
  const name = nested(std, text(last));
  const traits: Node = { kind: "template", name: nested(std, text("char_traits")), args: [char] };
  const allocator: Node = { kind: "template", name: nested(std, text("allocator")), args: [char] };
  return { kind: "template", name, args: all.includes("allocator") ? [char, traits, allocator] : [char, traits] };
}
