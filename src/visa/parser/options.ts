import { nearest } from "../../source/index.ts";
import type { OperandSpec } from "../isa/row.ts";
import { Token } from "../lexer.ts";
import type { OptionOperand } from "../tree.ts";
import type { Cursor } from "./cursor.ts";

type OptionSpec = OperandSpec & { readonly class: "option" };

const lowerCase = new WeakMap<OptionSpec["choices"], ReadonlyMap<string, string>>();

/** The choice that a text means, in either case of letters; null if there is none. */
export function choiceOfText({ choices }: OptionSpec, text: string): string | null {
  let known = lowerCase.get(choices);
  if (known === undefined) {
    known = new Map(Object.keys(choices).map((choice) => [choice.toLowerCase(), choice]));
    lowerCase.set(choices, known);
  }
  return known.get(text.toLowerCase()) ?? null;
}

/** A choice among the operands: `AVS_16_FULL`, or the `4` of `oword_ld (4)`. */
export function optionOperand(p: Cursor, spec: OptionSpec): OptionOperand {
  const { start, end } = p;
  const text = p.at(Token.name) || p.at(Token.number) ? p.token : null;
  const choice = text === null ? null : choiceOfText(spec, text);
  if (choice === null) {
    const choices = Object.keys(spec.choices);
    const meant = text === null ? null : meantBy(text, choices);
    p.unexpected(choices.length > 12 ? "one of its options" : oneOf(choices), meant === null ? undefined : mean(meant));
  } else p.advance();
  return { kind: "option", start, end, choice: choice ?? "" };
}

/** The choice that a misspelt one may have meant; null for texts too short to tell. */
export const meantBy = (text: string, choices: readonly string[]): string | null =>
  text.length < 3 ? null : nearest(text, choices);

export const mean = (word: string): string => `did you mean '${word}'?`;

export const oneOf = (words: readonly string[]): string =>
  words.length < 2
    ? `'${words[0] ?? ""}'`
    : `${words
        .slice(0, -1)
        .map((word) => `'${word}'`)
        .join(", ")} or '${words.at(-1)}'`;
