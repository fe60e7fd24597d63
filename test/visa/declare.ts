import type { Declaration, Name } from "../../src/visa/tree.ts";
import type { DataType, VariableKind } from "../../src/visa/types.ts";

/** The span of nodes that stand in no text. */
export const nowhere = { start: 0, end: 0 };

/** A new object each time, because names are bound by identity. */
export const name = (text: string): Name => ({ text, ...nowhere });

interface Details {
  readonly type?: DataType | null;
  readonly align?: string | null;
  readonly alias?: readonly [of: string, offset: number] | null;
}

/** The declaration of a variable. */
export const declare = (
  variable: VariableKind,
  text: string,
  elements: number,
  { type = null, align = null, alias = null }: Details = {},
): Declaration => ({
  kind: "decl",
  name: name(text),
  variable,
  type,
  elements,
  align: align === null ? null : name(align),
  alias: alias === null ? null : { of: name(alias[0]), offset: alias[1] },
  attributes: [],
  shown: null,
  ...nowhere,
});
