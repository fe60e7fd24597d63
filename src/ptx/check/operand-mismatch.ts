import type { Span } from "../../source/index.ts";
import type { OperandRule } from "../isa/operand-spec.ts";
import type { NameExpr } from "../tree/nodes.ts";
import type { TypeInfo } from "../types.ts";

/** Why an operand does not fit a form: the diagnostic to report if no other form fits. */
export interface Mismatch {
  readonly code:
    | "operand-count"
    | "operand-kind"
    | "operand-type"
    | "vector-size"
    | "address-type"
    | "state-space-mismatch"
    | "narrow-address"
    | "immediate-out-of-range";
  readonly span: Span;
  readonly message: string;
  readonly help?: string;
}

export const mismatch = (code: Mismatch["code"], span: Span, message: string, help?: string): Mismatch => ({
  code,
  span,
  message,
  ...(help === undefined ? {} : { help }),
});

export const typeName = (type: TypeInfo): string => `.${type.name}`;

export const spaceMismatch = (name: NameExpr, space: string | null, declared: string): Mismatch =>
  mismatch(
    "state-space-mismatch",
    name,
    `'${name.text}' is in the .${declared} state space, but this instruction accesses ${space === null ? "generic addresses" : `.${space}`}`,
    `write \`.${declared}\` in the opcode`,
  );

export const typeMismatch = (span: Span, declared: TypeInfo, wanted: TypeInfo): Mismatch =>
  mismatch(
    "operand-type",
    span,
    `a ${typeName(declared)} register does not fit a ${typeName(wanted)} operand`,
    declared.bits === wanted.bits
      ? "use an untyped register of this size, or copy it with mov"
      : `use a register of ${wanted.bits} bits (cvt converts)`,
  );

export const vectorSize = (span: Span, rule: OperandRule, count: number): Mismatch =>
  mismatch(
    "vector-size",
    span,
    rule.counts.length === 1 && rule.counts[0] === 1 && !rule.braces
      ? "a scalar is expected here, not a vector"
      : count === 1
        ? `a vector of ${rule.counts.join(" or ")} element${rule.counts[0] === 1 ? "" : "s"} is expected here: \`{...}\``
        : `a vector of ${count} elements does not fit: this operand takes ${rule.counts.join(" or ")}`,
  );
