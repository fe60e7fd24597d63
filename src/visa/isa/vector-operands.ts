import type { DataType } from "../types.ts";
import type { OperandSpec, VectorForm } from "./row.ts";

/** Integer types of up to 32 bits. */
export const narrowIntegers: readonly DataType[] = ["ud", "d", "uw", "w", "ub", "b"];
/** All integer types. */
export const integers: readonly DataType[] = [...narrowIntegers, "uq", "q"];
const floats: readonly DataType[] = ["hf", "f", "df", "bf"];
/** All integer and floating-point types. */
export const numbers: readonly DataType[] = [...integers, ...floats];
/** The types of factors: all but integers of 64 bits, which only the product may have. */
export const factors: readonly DataType[] = [...narrowIntegers, ...floats];

type Vector = Extract<OperandSpec, { class: "vector" }>;
type Modifiers = NonNullable<Vector["modifiers"]>;

const packedAs: Readonly<Partial<Record<DataType, DataType>>> = { w: "v", uw: "uv", f: "vf" };

/** Types, and the packed types of immediates whose elements are of one of them. */
const withPacked = (types: readonly DataType[]): readonly DataType[] => [
  ...types,
  ...types.flatMap((type) => packedAs[type] ?? []),
];

/** A destination operand. */
export const dst = (types: readonly DataType[], forms: readonly VectorForm[] = ["general", "indirect"]): Vector => ({
  class: "vector",
  role: "dst",
  forms,
  types,
});

/** A source operand. */
export const src = (
  types: readonly DataType[],
  modifiers: Modifiers = "arithmetic",
  forms: readonly VectorForm[] = ["general", "indirect", "immediate"],
): Vector => ({
  class: "vector",
  role: "src",
  forms,
  types: forms.includes("immediate") ? withPacked(types) : types,
  modifiers,
});
