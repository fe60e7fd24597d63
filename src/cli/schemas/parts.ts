/** A JSON Schema of draft 07. */
export type Schema = Readonly<Record<string, unknown>>;

export const text: Schema = { type: "string" };
export const flag: Schema = { type: "boolean" };
export const count: Schema = { type: "integer", minimum: 0 };
/** A time in milliseconds. */
export const time: Schema = { type: "number", minimum: 0 };

export const said = (schema: Schema, description: string): Schema => ({ ...schema, description });
export const list = (items: Schema): Schema => ({ type: "array", items });
export const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: "null" }] });
export const oneOf = (values: readonly unknown[]): Schema => ({ enum: values });
export const reference = (name: string): Schema => ({ $ref: `#/definitions/${name}` });

/** x, y and z. */
export const dim3: Schema = { type: "array", items: count, minItems: 3, maxItems: 3 };

/** An object: the fields that it always has, those that it may have, and no others. */
export const object = (
  required: Readonly<Record<string, Schema>>,
  rest: Readonly<Record<string, Schema>> = {},
): Schema => ({
  type: "object",
  required: Object.keys(required),
  properties: { ...required, ...rest },
  additionalProperties: false,
});
