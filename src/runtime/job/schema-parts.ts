import { elementInfo, type ElementType, elementTypes } from "../data/element.ts";

/** A JSON Schema of draft 07, which editors know. */
export type Schema = Readonly<Record<string, unknown>>;

export const text = (description: string): Schema => ({ type: "string", description });
export const anything = (description: string): Schema => ({ description });

export const integer = (minimum: number, maximum: number, description?: string): Schema => ({
  type: "integer",
  minimum,
  maximum,
  ...(description === undefined ? {} : { description }),
});

export const list = (items: Schema, description?: string, more: Schema = {}): Schema => ({
  type: "array",
  items,
  ...more,
  ...(description === undefined ? {} : { description }),
});

export const reference = (name: string): Schema => ({ $ref: `#/definitions/${name}` });

/** An optional field: jobs may write null for what is not there. */
export const optional = (schema: Schema): Schema => {
  const { description, ...rest } = schema;
  return { ...(description === undefined ? {} : { description }), anyOf: [rest, { type: "null" }] };
};

/** What holds if a condition does, and otherwise. */
export const whenever = (condition: Schema, holds: Schema, otherwise?: Schema): Schema => ({
  if: condition,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: holds,
  ...(otherwise === undefined ? {} : { else: otherwise }),
});

/** A field that is there, and not null. */
export const given = (name: string): Schema => ({
  required: [name],
  properties: { [name]: { not: { type: "null" } } },
});

/**
 * An object: its required and its optional fields. Other names are ignored, but those that are one letter away from a
 * known one are wrong.
 */
export function object(required: Readonly<Record<string, Schema>>, rest: Readonly<Record<string, Schema>>): Schema {
  const others = Object.entries(rest).map(([name, schema]) => [name, optional(schema)]);
  const properties = { ...required, ...Object.fromEntries(others) };
  return {
    type: "object",
    required: Object.keys(required),
    properties,
    patternProperties: { [misspelt(Object.keys(properties))]: false },
  };
}

const quoted = (text: string): string => (text.includes("$") ? text.replace(/\$/g, "\\$") : text);

/** A pattern of what becomes of names by one letter too many, too few or wrong, or by two that are swapped. */
function misspelt(names: readonly string[]): string {
  const forms: string[] = [];
  for (const name of names) {
    const letters = [...name].map(quoted);
    for (let i = 0; i < letters.length; i++) {
      const [before, letter, after] = [letters.slice(0, i).join(""), letters[i], letters.slice(i + 1).join("")];
      // Without the letter, with another one in its place, or with one more before it.
      forms.push(`${before}.?${letter}?${after}`);
      if (i > 0) forms.push(`${letters.slice(0, i - 1).join("")}${letter}${letters[i - 1]}${after}`);
    }
    forms.push(`${letters.join("")}.`);
  }
  return `^(?!(?:${names.map(quoted).join("|")})$)(?:${forms.join("|")})$`;
}

const float: Schema = { anyOf: [{ type: "number" }, { type: "string", pattern: "^(?:[nN][aA][nN]|-?[iI][nN][fF])$" }] };

/** An element of a type. Integers may be written as signed or as unsigned ones. */
function elementOf(type: ElementType): Schema {
  const { kind, size } = elementInfo[type];
  return kind === "float" ? reference("float") : integer(-(2 ** (8 * size - 1)), 2 ** (8 * size) - 1);
}

/** The initial contents of elements, of whatever type. */
const init: Schema = object(
  { gen: { enum: ["zero", "fill", "iota", "list", "hex", "file", "lcg"], description: "How it is filled." } },
  {
    value: anything("fill: the value everywhere."),
    start: anything("iota: the first value; default 0."),
    step: anything("iota: from one element to the next; default 1."),
    values: anything("list: a value for each element."),
    data: anything("hex: the bytes, as pairs of hexadecimal digits."),
    path: anything("file: .npy, PNG, or raw little-endian bytes; relative to the job."),
    seed: anything("lcg: an integer of 32 bits."),
    lo: anything("lcg: floats are at least this; default 0."),
    hi: anything("lcg: floats are below this; default 1."),
    mod: anything("lcg: integers are below this; default: the whole range."),
    add: anything("lcg with mod: is added."),
    scale: anything("lcg with mod: floats are multiplied by it."),
  },
);

/** The initial contents of elements of a type: what their values may be. */
function initOf(type: ElementType): Schema {
  const element = reference(type);
  const number = reference("float");
  const when = (gen: string, required: Schema, rest: Schema = {}): Schema => ({
    ...whenever(
      { properties: { gen: { const: gen } } },
      { required: Object.keys(required), properties: { ...required, ...mapped(rest) } },
    ),
  });
  return {
    allOf: [
      reference("init"),
      when("fill", { value: element }),
      when("iota", {}, { start: element, step: element }),
      when("list", { values: list(element) }),
      when("hex", { data: reference("hex") }),
      when("file", { path: { type: "string" } }),
      when(
        "lcg",
        { seed: integer(0, 0xffff_ffff) },
        { lo: number, hi: number, mod: integer(1, 0xffff_ffff), add: number, scale: number },
      ),
    ],
  };
}

const mapped = (fields: Schema): Schema =>
  Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, optional(schema as Schema)]));

/** For each element type, what the fields of an object are that depend on it. */
export const byType = (fields: (type: ElementType) => Readonly<Record<string, Schema>>): readonly Schema[] =>
  elementTypes.map((type) =>
    whenever({ properties: { type: { const: type } }, required: ["type"] }, { properties: mapped(fields(type)) }),
  );

/** The definitions that the parts refer to. */
export const definitions: Schema = {
  float,
  hex: { type: "string", pattern: "^(?:[0-9a-fA-F]{2})*$" },
  sha256: { type: "string", pattern: "^[0-9a-fA-F]{64}$" },
  init,
  ...Object.fromEntries(elementTypes.map((type) => [type, elementOf(type)])),
  ...Object.fromEntries(elementTypes.map((type) => [`init-${type}`, initOf(type)])),
};
