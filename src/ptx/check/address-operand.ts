import type { Span } from "../../source/index.ts";
import type { Candidate, ResolvedOperand } from "../isa/resolve.ts";
import type { Operand } from "../tree/nodes.ts";
import { isExpression } from "../tree/is-expression.ts";
import type { CheckContext } from "./context.ts";
import { handleMessage, tensorAddressProblem, textureAddressProblem } from "./coordinates.ts";
import { elementMismatch } from "./element.ts";
import { constantClass } from "./immediate.ts";
import { isNameWithOffset, offsetShape } from "./name-with-offset.ts";
import { type Mismatch, mismatch, spaceMismatch, typeName } from "./operand-mismatch.ts";

/** Opcodes whose address may be an element of an array, as in `ld.global.u32 r, a[4]` (6.4.2). */
const takesElements: ReadonlySet<string> = new Set(["ld", "ldu", "st"]);

/**
 * Why an operand is not an address that the slot accepts (6.4.1), or null if it is. `root`: the opcode's first word.
 */
export function addressMismatch(
  operand: Operand,
  slot: ResolvedOperand,
  candidate: Candidate,
  root: string,
  context: CheckContext,
): Mismatch | null {
  const isElement = operand.kind === "indexed" && takesElements.has(root);
  if (isElement && operand.base.kind === "name") {
    const space = slot.rule.space ?? spaceOf(candidate);
    return elementMismatch(operand) ?? baseMismatch(operand, operand.base, space, root, context);
  }
  if (operand.kind !== "address")
    return mismatch("operand-kind", operand, "an address in brackets is expected here", "write `[...]`");
  const parts = slot.name.split(",").length;
  if (parts > 1) {
    if (operand.parts.length !== parts) {
      return mismatch(
        "operand-kind",
        operand,
        `this instruction takes an address of ${parts} parts: \`[${slot.name}]\``,
      );
    }
    const problem = textureAddressProblem(operand, candidate) ?? tensorAddressProblem(operand, candidate);
    return problem && mismatch("operand-kind", problem.part, problem.message);
  }
  if (operand.parts.length !== 1)
    return mismatch(
      "operand-kind",
      operand,
      "this instruction takes a plain address: a register or variable, with an offset",
    );
  return baseMismatch(operand, operand.parts[0]!, slot.rule.space ?? spaceOf(candidate), root, context);
}

/**
 * Checks for a global or generic address in fewer bits than the module's addresses have. As in ptxas it is an error for
 * 32-bit registers from sm_75 on, where no code has 32-bit addresses; otherwise a warning, which is reported here.
 */
export function narrowAddress(span: Span, bits: number, context: CheckContext): Mismatch | null {
  if (bits >= context.addressSize) return null;
  const message = `an address in ${bits} bits, but the module's addresses have ${context.addressSize}`;
  const help = "use a .u64 or .b64 register";
  if (bits === 32 && context.target.sm >= 75) return mismatch("narrow-address", span, message, help);
  context.sink.warning("narrow-address", span, message, { help });
  return null;
}

function baseMismatch(
  address: Span,
  base: Operand,
  space: string | null,
  root: string,
  context: CheckContext,
): Mismatch | null {
  let inner = base;
  if (inner.kind === "binary") {
    if (inner.right.kind === "name" && inner.right.symbol !== null && inner.right.symbol.kind !== "constant") {
      return mismatch("operand-kind", inner.right, "an address is one register or variable and a constant offset");
    }
    if (constantClass(inner) === "address" && !isNameWithOffset(inner)) {
      return mismatch("operand-kind", inner, ...offsetShape);
    }
    while (inner.kind === "binary") inner = inner.left;
  }
  if (inner.kind !== "name") {
    if (inner.kind === "bad") return null;
    if (!isExpression(inner)) {
      return mismatch("operand-kind", inner, "an address is one register or variable and a constant offset");
    }
    if (constantClass(inner) !== "integer")
      return mismatch("operand-kind", inner, "a constant address must be an integer");
    // The manual (6.4.1) allows absolute addresses; ptxas accepts them for .local only.
    return space === "local"
      ? null
      : mismatch(
          "operand-kind",
          address,
          "a constant address is only allowed in the local state space",
          "put the address into a register",
        );
  }
  const symbol = inner.symbol;
  if (symbol === null) return null;
  switch (symbol.kind) {
    case "register":
      if (symbol.type.kind === "f" || symbol.type.kind === "pred") {
        return mismatch(
          "address-type",
          inner,
          `an address cannot be a ${typeName(symbol.type)} register`,
          "use an integer or bit-size register",
        );
      }
      if (symbol.type.bits > 64) {
        return mismatch("address-type", inner, `an address cannot be a ${typeName(symbol.type)} register`);
      }
      if (space === "tensor" && symbol.type.bits !== 32) {
        const message = `an address in tensor memory has 32 bits, and '${inner.text}' has ${symbol.type.bits}`;
        return mismatch("address-type", inner, message);
      }
      if (space === "handle" && symbol.type.bits !== 64) return mismatch("address-type", inner, handleMessage);
      if (space === "global" || space === null) return narrowAddress(inner, symbol.type.bits, context);
      return null;
    case "variable": {
      if (symbol.space === "tex" || symbol.space === "sreg") return null;
      return spaceFits(space, symbol.space) ? null : spaceMismatch(inner, space, symbol.space);
    }
    case "parameter":
      if (!spaceFits(space, "param")) return spaceMismatch(inner, space, "param");
      if (root === "st" && symbol.role !== "return") {
        return mismatch("state-space-mismatch", inner, `the input parameter '${inner.text}' cannot be written`);
      }
      if (root === "ld" && symbol.role === "return") {
        return mismatch("state-space-mismatch", inner, `the return parameter '${inner.text}' cannot be read`);
      }
      return null;
    default:
      return mismatch("address-type", inner, `'${inner.text}' is not in memory`);
  }
}

/** The state space that the opcode names, without a `::` suffix; null for a generic address. */
export function spaceOf(candidate: Candidate): string | null {
  for (const word of candidate.written) {
    const plain = word.split("::")[0]!;
    if (spaces.has(plain)) return plain;
  }
  return null;
}

const spaces: ReadonlySet<string> = new Set(["global", "shared", "local", "const", "param"]);

export const spaceFits = (space: string | null, declared: string): boolean =>
  space === null
    ? declared !== "param" && declared !== "const"
    : space === declared || space === "any" || space === "handle";
