import type { UndefinedCase } from "../../ir/index.ts";
import { type Expr, kit as k, type Region, type RegionLeaf } from "../../semantics/index.ts";
import type { ExecSize } from "../tree.ts";
import { type DataType, isSigned, typeBytes } from "../types.ts";

/** Bits of an element. */
export type Bits = 8 | 16 | 32 | 64;

/**
 * A source operand as it is in the register file: integers as `i32` (8 and 16 bits extended) or `i64`, `f` and `df` as
 * `f32` and `f64`, `hf` and `bf` as bit patterns in an `i32`. Source modifiers are not applied.
 */
export interface Source {
  readonly expr: Expr;
  readonly type: DataType;
  /** For indirect operands: when an address is outside every variable that it could point to. */
  readonly undefinedCases: readonly UndefinedCase[];
}

export const bitsOf = (type: DataType): Bits => (typeBytes(type) * 8) as Bits;

/** The type of the expressions that hold elements of a type. */
export const irType = (type: DataType): "i32" | "i64" | "f32" | "f64" =>
  type === "f" ? "f32" : type === "df" ? "f64" : typeBytes(type) === 8 ? "i64" : "i32";

/** A source that is never undefined. */
export const plain = (expr: Expr, type: DataType): Source => ({ expr, type, undefinedCases: [] });

/** The elements of a region. */
export const leaf = (type: DataType, region: Region): RegionLeaf => ({
  kind: "region",
  ty: irType(type),
  bits: bitsOf(type),
  signed: isSigned(type),
  region,
});

const laneId: Expr = { kind: "special", ty: "i32", name: "laneid" };

/** The number of a lane among the channels of an instruction, from 0. */
export const channel = (exec: Pick<ExecSize, "offset">): Expr =>
  exec.offset === 0 ? laneId : k.sub(laneId, k.i32(exec.offset));
