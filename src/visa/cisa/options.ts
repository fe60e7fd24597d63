import type { OperandSpec, Row } from "../isa/row.ts";
import { type Suffix, type TextItem, textItems } from "../isa/template.ts";

/** An operand with named choices. */
export type OptionSpec = Extract<OperandSpec, { class: "option" }>;

const names = new WeakMap<OptionSpec, ReadonlyMap<number, string>>();

/** The choice with a code; undefined if there is none. */
export function choiceOfCode(spec: OptionSpec, code: number): string | undefined {
  let known = names.get(spec);
  if (known === undefined) {
    const pairs = Object.entries(spec.choices).reverse();
    names.set(spec, (known = new Map(pairs.map(([choice, number]) => [number, choice]))));
  }
  return known.get(code);
}

/** The code of an option that is left out. */
export const codeByDefault = (spec: OptionSpec): number =>
  spec.byDefault === undefined ? 0 : (spec.choices[spec.byDefault] ?? 0);

const optional = new WeakMap<Row, ReadonlySet<string>>();

/** The operands that text may leave out. */
export function optionalOperands(row: Row): ReadonlySet<string> {
  let known = optional.get(row);
  if (known === undefined) {
    const found = textItems(row)
      .flatMap((item): readonly (TextItem | Suffix)[] => (item.kind === "mnemonic" ? item.suffixes : [item]))
      .flatMap((item) => (item.kind === "operand" && item.optional ? [item.operand] : []));
    optional.set(row, (known = new Set(found)));
  }
  return known;
}
