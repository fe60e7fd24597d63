import { decimal, type Grammar } from "./grammar.ts";
import { parameterDeclaration } from "./names.ts";
import { type Node, sequence, text } from "./node.ts";

/** The rule `template-args`. */
export function parseTemplateArguments(grammar: Grammar): Node[] {
  const { state } = grammar;
  return state.within(() => {
    state.require("I");
    const outer = state.takeArguments;
    state.takeArguments = true;
    const args: Node[] = [];
    while (!state.take("E")) {
      // The constraint on the arguments.
      if (state.take("Q")) {
        grammar.expression();
        state.require("E");
        break;
      }
      args.push(templateArgument(grammar));
    }
    state.takeArguments = outer;
    return args;
  });
}

function templateArgument(grammar: Grammar): Node {
  const { state } = grammar;
  return state.within(() => {
    switch (state.peek()) {
      case "X": {
        state.at++;
        const value = grammar.expression();
        state.require("E");
        return value;
      }
      case "J":
        state.at++;
        return { kind: "pack", items: state.until(() => templateArgument(grammar)) };
      case "L":
        if (state.peek(1) === "Z") break;
        return grammar.literal();
      case "T":
        if (!/[yntpk]/.test(state.peek(1))) break;
        parameterDeclaration(grammar);
        return templateArgument(grammar);
    }
    return grammar.type();
  });
}

/** The rule `template-param`: `T_`, `T0_`, `TL0__`. */
export function parseTemplateParameter(grammar: Grammar): Node {
  const { state } = grammar;
  state.require("T");
  const level = state.take("L") ? state.sequenceNumber(decimal, 10) + 1 : 0;
  const index = state.sequenceNumber(decimal, 10);
  return level > 0 ? text(`auto:${index + 1}`) : { kind: "parameter", index };
}

/** The rule `decltype`. */
export function parseDecltype(grammar: Grammar): Node {
  const { state } = grammar;
  state.at += 2;
  const value = grammar.expression();
  state.require("E");
  return sequence("decltype (", value, ")");
}

/** How numbers of a type are written: without their type, and with these letters after them. */
const numberSuffixes: Readonly<Record<string, string>> = { i: "", j: "u", l: "l", m: "ul", x: "ll", y: "ull" };

/** The rule `expr-primary`. */
export function parseLiteral(grammar: Grammar): Node {
  const { state } = grammar;
  state.require("L");
  // Some compilers write `L_Z` as `LZ`.
  if (state.take("_Z") || state.take("Z")) {
    const whole = grammar.encoding(true);
    state.require("E");
    return whole;
  }
  if (state.match(/Dn0?E/y) !== null) return text("nullptr");
  const kind = state.peek();
  const type = grammar.type();
  const digits = state.match(/n?[\da-f]*(_n?[\da-f]*)?/y)!.replace(/n/g, "-");
  state.require("E");
  if (kind === "b" && (digits === "0" || digits === "1")) return text(digits === "1" ? "true" : "false");
  const suffix = numberSuffixes[kind];
  if (suffix !== undefined) return text(`${digits}${suffix}`);
  if (digits === "") return sequence("(", type, ")");
  const float = kind === "f" || kind === "d" || kind === "e" || kind === "g";
  return sequence("(", type, ")", float ? `[${digits}]` : digits);
}
