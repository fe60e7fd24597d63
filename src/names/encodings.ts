import { base36, type Grammar, noFacts } from "./grammar.ts";
import type { FunctionType, Node } from "./node.ts";
import { sequence } from "./node.ts";
import { withoutVoid } from "./types.ts";

/** The names of things that compilers make, by their code, and what comes after the code. */
const specialNames: Readonly<Record<string, readonly [words: string, of: "type" | "name"]>> = {
  TV: ["vtable for ", "type"],
  TT: ["VTT for ", "type"],
  TI: ["typeinfo for ", "type"],
  TS: ["typeinfo name for ", "type"],
  TF: ["typeinfo fn for ", "type"],
  TH: ["TLS init function for ", "name"],
  TW: ["TLS wrapper function for ", "name"],
  GV: ["guard variable for ", "name"],
};

/** The rule `encoding`. The result of an encoding within another name is not shown. */
export function parseEncoding(grammar: Grammar, topLevel: boolean): Node {
  const { state } = grammar;
  return state.within(() => {
    const special = specialName(grammar);
    if (special !== null) return special;
    const facts = noFacts();
    const name = grammar.name(facts);
    const { args } = facts;
    if (ends(grammar)) return args === null ? name : { kind: "encoding", name, args, type: null };
    const hasResult = facts.endsWithArguments && !facts.withoutResult;
    const result = hasResult ? grammar.type() : null;
    const parameters: Node[] = [];
    while (!ends(grammar)) {
      // The constraint of a function.
      if (state.take("Q")) {
        grammar.expression();
        break;
      }
      parameters.push(grammar.type());
    }
    if (parameters.length === 0) state.fail();
    const type: FunctionType = {
      kind: "function",
      result: topLevel ? result : null,
      parameters: withoutVoid(parameters),
      suffix: sequence(facts.qualifiers),
    };
    return { kind: "encoding", name, args, type };
  });
}

const ends = ({ state }: Grammar): boolean => state.ended || /[E._]/.test(state.peek());

function specialName(grammar: Grammar): Node | null {
  const { state } = grammar;
  const code = state.text.slice(state.at, state.at + 2);
  const known = specialNames[code];
  if (known !== undefined) {
    state.at += 2;
    const [words, of] = known;
    return sequence(words, of === "type" ? grammar.type() : grammar.name(noFacts()));
  }
  if (code === "TA") {
    state.at += 2;
    return sequence("template parameter object for ", templateObject(grammar));
  }
  if (code === "TC") {
    state.at += 2;
    const derived = grammar.type();
    state.number();
    state.require("_");
    return sequence("construction vtable for ", grammar.type(), "-in-", derived);
  }
  if (code === "GR") {
    state.at += 2;
    const name = grammar.name(noFacts());
    const number = state.sequenceNumber(base36, 36);
    return sequence(`reference temporary #${number} for `, name);
  }
  return thunk(grammar, code);
}

const templateObject = (grammar: Grammar): Node => (grammar.state.peek() === "L" ? grammar.literal() : grammar.type());

function thunk(grammar: Grammar, code: string): Node | null {
  const { state } = grammar;
  const words = { Th: "non-virtual thunk to ", Tv: "virtual thunk to ", Tc: "covariant return thunk to " }[code];
  if (words !== undefined) {
    state.at += code === "Tc" ? 2 : 1;
    offset(grammar);
    if (code === "Tc") offset(grammar);
    return sequence(words, grammar.encoding(true));
  }
  if (code === "GA" || code === "GT") {
    state.at += 2;
    if (code === "GA") return sequence("hidden alias for ", grammar.encoding(true));
    const plain = state.next() === "n";
    return sequence(plain ? "non-transaction clone for " : "transaction clone for ", grammar.encoding(true));
  }
  return null;
}

function offset({ state }: Grammar): void {
  if (state.take("h")) state.number();
  else {
    state.require("v");
    state.number();
    state.require("_");
    state.number();
  }
  state.require("_");
}
