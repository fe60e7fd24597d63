import { parseEncoding } from "./encodings.ts";
import { parseExpression } from "./expressions.ts";
import { type Grammar, State } from "./grammar.ts";
import { parseName, parseOperatorName, parseSourceName, parseSubstitution, parseUnqualifiedName } from "./names.ts";
import { parseDecltype, parseLiteral, parseTemplateArguments, parseTemplateParameter } from "./templates.ts";
import { parseFunctionType, parseType } from "./types.ts";

/** The grammar of the Itanium C++ ABI, section 5.1 "External Names", over a mangled name. */
export function grammarOf(name: string): Grammar {
  const grammar: Grammar = {
    state: new State(name),
    type: () => parseType(grammar),
    name: (facts) => parseName(grammar, facts),
    unqualifiedName: (scope, facts) => parseUnqualifiedName(grammar, scope, facts),
    expression: () => parseExpression(grammar),
    literal: () => parseLiteral(grammar),
    encoding: (topLevel) => parseEncoding(grammar, topLevel),
    functionType: (qualifiers) => parseFunctionType(grammar, qualifiers),
    templateArguments: () => parseTemplateArguments(grammar),
    templateParameter: () => parseTemplateParameter(grammar),
    substitution: () => parseSubstitution(grammar),
    decltype: () => parseDecltype(grammar),
    operatorName: (facts) => parseOperatorName(grammar, facts),
    sourceName: () => parseSourceName(grammar),
  };
  return grammar;
}
