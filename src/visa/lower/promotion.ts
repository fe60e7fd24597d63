import { type Expr, kit as k } from "../../semantics/index.ts";
import type { IntegerDomain } from "../isa/execution.ts";
import type { Operand, SourceModifier } from "../tree.ts";
import { type DataType, isFloat, isSigned, typeBytes } from "../types.ts";
import type { FloatFormat } from "./float-arithmetic.ts";
import type { Source } from "./element.ts";

/** A source operand and its modifier. */
export interface ModifiedSource extends Source {
  readonly modifier: SourceModifier | null;
}

export const modifierOf = (operand: Operand): SourceModifier | null =>
  operand.kind === "general" || operand.kind === "indirect" ? operand.modifier : null;

/** A range of integers, both ends included. */
interface Range {
  readonly min: bigint;
  readonly max: bigint;
}

export function rangeOf(type: DataType): Range {
  const bits = BigInt(typeBytes(type) * 8);
  return isSigned(type)
    ? { min: -(1n << (bits - 1n)), max: (1n << (bits - 1n)) - 1n }
    : { min: 0n, max: (1n << bits) - 1n };
}

function modifiedRange({ type, modifier }: ModifiedSource): Range {
  const { min, max } = rangeOf(type);
  const magnitude = -min > max ? -min : max;
  switch (modifier) {
    case "neg":
      return { min: -max, max: -min };
    case "abs":
      return { min: 0n, max: magnitude };
    case "neg-abs":
      return { min: -magnitude, max: 0n };
    default:
      return { min, max };
  }
}

const within = (ranges: readonly Range[], { min, max }: Range): boolean =>
  ranges.every((range) => range.min >= min && range.max <= max);

/** Integer sources in a common type, all `i32` or all `i64`. */
export interface Promoted {
  readonly sources: readonly Expr[];
  readonly ty: "i32" | "i64";
  readonly signed: boolean;
}

/**
 * Promotes sources to a type in which the instruction's result is exact, like the hardware's extra precision: to 32
 * bits if they suffice, otherwise 64. `resultBits` is the destination's size, null for a predicate.
 */
export function promote(
  sources: readonly ModifiedSource[],
  domain: IntegerDomain,
  resultBits: number | null,
  saturate: boolean,
): Promoted {
  const ranges = sources.map(modifiedRange);
  const in32 = promotion32(ranges, domain, saturate);
  const long =
    domain !== "word" && (resultBits === 64 || (domain !== "low" && sources.some(({ type }) => typeBytes(type) === 8)));
  if (in32 !== null && !long) {
    return { sources: sources.map((source) => promoted(source, "i32")), ty: "i32", signed: in32 === "signed" };
  }
  const unsigned = ranges.every(({ min }) => min >= 0n);
  return { sources: sources.map((source) => promoted(source, "i64")), ty: "i64", signed: !unsigned };
}

function promotion32(ranges: readonly Range[], domain: IntegerDomain, saturate: boolean): "signed" | "unsigned" | null {
  if (domain === "exact" || (domain === "low" && saturate)) return null;
  if (within(ranges, rangeOf("d"))) return "signed";
  return domain === "low" || domain === "word" || within(ranges, rangeOf("ud")) ? "unsigned" : null;
}

/**
 * An integer source in a type, with its modifier applied before narrowing: the low bits of a magnitude depend on the
 * sign.
 */
export function promoted({ expr, type, modifier }: ModifiedSource, ty: "i32" | "i64"): Expr {
  const extended = ty === "i64" && expr.ty === "i32" ? k.widen(expr, isSigned(type)) : expr;
  const value = withModifier(extended, isSigned(type), modifier);
  return ty === "i32" && value.ty === "i64" ? k.wrap(value) : value;
}

function withModifier(value: Expr, signed: boolean, modifier: SourceModifier | null): Expr {
  const magnitude = (): Expr => (signed ? k.abs(value) : value);
  switch (modifier) {
    case "neg":
      return k.neg(value);
    case "abs":
      return magnitude();
    case "neg-abs":
      return k.neg(magnitude());
    case "not":
      return k.not(value);
    default:
      return value;
  }
}

/** The format in which operands of these types are computed; null if with integers. */
export function formatOf(types: readonly DataType[]): FloatFormat | null {
  const floats = new Set(types.filter(isFloat));
  if (floats.size === 0) return null;
  if (floats.has("df")) return "f64";
  if (floats.size > 1) return "f32";
  return floats.has("hf") ? "f16" : floats.has("bf") ? "bf16" : "f32";
}

/**
 * A floating-point source in a format, with its modifier applied. Values of the 16-bit formats are exact in binary32.
 */
export function promotedFloat({ expr, type, modifier }: ModifiedSource, format: FloatFormat): Expr {
  const narrow = type === "hf" ? k.op("f32.from_f16", expr) : type === "bf" ? k.op("f32.from_bf16", expr) : expr;
  const value = format === "f64" && narrow.ty === "f32" ? k.op("f64.from_f32", narrow) : narrow;
  const ty = value.ty === "f64" ? "f64" : "f32";
  switch (modifier) {
    case "neg":
      return k.op(`${ty}.neg`, value);
    case "abs":
      return k.op(`${ty}.abs`, value);
    case "neg-abs":
      return k.op(`${ty}.neg`, k.op(`${ty}.abs`, value));
    default:
      return value;
  }
}
