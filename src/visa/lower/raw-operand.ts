import type { Destination } from "../../ir/index.ts";
import { type Expr, kit as k, type Region } from "../../semantics/index.ts";
import type { ExecSize, RawOperand } from "../tree.ts";
import type { LowerContext } from "./context.ts";
import type { Bits } from "./element.ts";

/**
 * Elements of a raw operand, one per lane: the first lane's has the number `element`, each later lane's is `stride`
 * elements further on.
 */
export interface RawElements {
  readonly bits: Bits;
  readonly exec: Pick<ExecSize, "offset">;
  /** Number of the first lane's element, from the operand's start; 0 by default. */
  readonly element?: number;
  /** Elements from lane to lane; 1 by default. */
  readonly stride?: number;
}

/** The elements as a value, zero-extended to an `i32`, or an `i64` for 64 bits; 0 for `%null`. */
export function rawSource(context: LowerContext, raw: RawOperand, elements: RawElements): Expr {
  const { bits } = elements;
  const ty = bits === 64 ? "i64" : "i32";
  if (isNull(context, raw)) return ty === "i64" ? k.i64(0n) : k.i32(0);
  return { kind: "region", ty, bits, signed: false, region: regionOf(context, raw, elements) };
}

/** The elements as a destination; null for `%null`. */
export const rawTarget = (context: LowerContext, raw: RawOperand, elements: RawElements): Destination =>
  isNull(context, raw) ? null : { kind: "region", bits: elements.bits, region: regionOf(context, raw, elements) };

/** Whether a raw operand is `%null`, which reads as 0 and drops what is written to it. */
export const isNull = (context: LowerContext, { variable }: RawOperand): boolean =>
  context.variable(variable).name === "%null";

const regionOf = (
  context: LowerContext,
  { variable, offset }: RawOperand,
  { bits, exec, element = 0, stride = 1 }: RawElements,
): Region => ({
  at: context.offsetOf(context.variable(variable)) + offset + (element * bits) / 8,
  first: exec.offset,
  vertical: stride,
  width: 1,
  horizontal: 0,
});
