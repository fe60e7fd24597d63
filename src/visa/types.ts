/** The data types of vISA (2_datatypes.md). `v`, `uv` and `vf` are packed immediates; `bool` is a predicate's element. */
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
/** In the order of their codes in a file. */
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

/** Bytes of one element in the register file. */
export const typeBytes = (type: DataType): number => sizes[type];

export const isDataType = (text: string): text is DataType => (dataTypes as readonly string[]).includes(text);

export const isFloat = (type: DataType): boolean => ["df", "f", "hf", "bf", "vf"].includes(type);

export const isSigned = (type: DataType): boolean => ["d", "w", "b", "q", "v"].includes(type);

/** The kinds of variables: general, address, predicate, sampler, surface (4_visa_header.md). */
export const variableKinds = ["G", "A", "P", "S", "T"] as const;
export type VariableKind = (typeof variableKinds)[number];
