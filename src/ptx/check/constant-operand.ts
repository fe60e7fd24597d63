import type { OperandRule } from "../isa/operand-spec.ts";
import type { Expression } from "../tree/nodes.ts";
import type { TypeInfo } from "../types.ts";
import { evaluateConstant } from "./constant.ts";
import type { CheckContext } from "./context.ts";
import { constantClass } from "./immediate.ts";
import { type Mismatch, mismatch, typeName } from "./operand-mismatch.ts";

/** Why a constant does not fit the operand called `name`, or null if it does. */
export function constantMismatch(
  operand: Expression,
  type: TypeInfo,
  rule: OperandRule,
  name: string,
  context: CheckContext,
): Mismatch | null {
  if (rule.immediate === "never") return mismatch("operand-kind", operand, `'${name}' must be a register`);
  if (constantClass(operand) === "float") {
    if (type.kind === "f")
      return type.bits >= 32 && type.lanes === 1
        ? floatMismatch(operand, rule)
        : mismatch(
            "operand-type",
            operand,
            `a floating-point constant cannot be a ${typeName(type)} operand`,
            "write its bits into a .b16 or .b32 register with mov",
          );
    return type.kind === "b" && floatWidth(operand, context) === type.bits
      ? null
      : mismatch("operand-type", operand, `a floating-point constant does not fit a ${typeName(type)} operand`);
  }
  if (type.kind === "f")
    return mismatch(
      "operand-type",
      operand,
      `an integer constant does not fit a ${typeName(type)} operand`,
      "write it as a floating-point constant, as in `1.0` or `0f3F800000`",
    );
  const { range, values, multiple } = rule;
  if (!range && !values && !multiple) return null;
  const value = evaluateConstant(operand)?.value;
  if (typeof value !== "bigint") return null;
  if (range && (value < BigInt(range[0]) || value > BigInt(range[1]))) {
    const message = `${value} is out of range: this operand takes ${range[0]} to ${range[1]}`;
    return mismatch("immediate-out-of-range", operand, message);
  }
  if (values && !values.some((allowed) => BigInt(allowed) === value)) {
    const message = `${value} is not a valid value of this operand, which takes ${someOf(values)}`;
    return mismatch("immediate-out-of-range", operand, message);
  }
  if (multiple && value % BigInt(multiple) !== 0n) {
    const message = `${value} is not a valid value of this operand, which takes multiples of ${multiple}`;
    return mismatch("immediate-out-of-range", operand, message);
  }
  return null;
}

function floatMismatch(operand: Expression, { range }: OperandRule): Mismatch | null {
  const value = evaluateConstant(operand)?.value;
  if (range === null || typeof value !== "number") return null;
  const [low, high] = range;
  if (value > low && value <= high) return null;
  const message = `${value} is out of range: this operand takes more than ${low} and at most ${high}`;
  return mismatch("immediate-out-of-range", operand, message);
}

/** The first few values, as a message lists them. */
const someOf = (values: readonly number[]): string =>
  values.length > 8 ? `${values.slice(0, 8).join(", ")}, ...` : values.join(", ");

/** 32 for a `0f` literal; all others, decimal ones included, have 64 bits (4.5.2). */
function floatWidth(constant: Expression, context: CheckContext): 32 | 64 {
  const isHex = /^0f/i.test(context.sink.source.text.slice(constant.start, constant.start + 2));
  return constant.kind === "float" && isHex ? 32 : 64;
}
