/**
 * The data types of vISA (2_datatypes.md), in the order of their codes in a CISA file. `v`, `uv` and `vf` are the
 * packed types of immediates; `bool` is the type of a predicate's elements.
 */
export const dataTypes = [
  "ud",
  "d",
  "uw",
  "w",
  "ub",
  "b",
  "df",
  "f",
  "v",
  "vf",
  "bool",
  "uq",
  "uv",
  "q",
  "hf",
  "bf",
] as const;
/** One of `dataTypes`. */
export type DataType = (typeof dataTypes)[number];

const sizes: Readonly<Record<DataType, number>> = {
  ud: 4,
  d: 4,
  uw: 2,
  w: 2,
  ub: 1,
  b: 1,
  df: 8,
  f: 4,
  v: 4,
  vf: 4,
  bool: 1,
  uq: 8,
  uv: 4,
  q: 8,
  hf: 2,
  bf: 2,
};

/** Bytes of one element in the register file; of a packed type, bytes of the whole immediate. */
export const typeBytes = (type: DataType): number => sizes[type];

/** Whether a word names a data type. Types are in lower case here. */
export const isDataType = (text: string): text is DataType => (dataTypes as readonly string[]).includes(text);

/** Whether a type is a floating-point type, packed `vf` included. */
export const isFloat = (type: DataType): boolean => ["df", "f", "hf", "bf", "vf"].includes(type);

/** Whether a type is a signed integer, packed `v` included. */
export const isSigned = (type: DataType): boolean => ["d", "w", "b", "q", "v"].includes(type);

/** The kinds of variables (4_visa_header.md): general, address, predicate, sampler, surface. */
export const variableKinds = ["G", "A", "P", "S", "T"] as const;
/** One of `variableKinds`. */
export type VariableKind = (typeof variableKinds)[number];
