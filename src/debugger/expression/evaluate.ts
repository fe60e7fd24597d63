import { lowestLane } from "../../ir/lane-mask.ts";
import { bitsOf, numberOf, sizeOf, type TypedBits } from "../view/value.ts";
import { compile, compileNode, defaultType, integerOf } from "./compile.ts";
import type { Scope } from "./scope.ts";
import { type Expression, ExpressionError, type ExpressionNode } from "./tree.ts";

/** Evaluates an expression. Throws an ExpressionError if it has no value. */
export const evaluate = (expression: Expression, scope: Scope): TypedBits =>
  compile(expression, scope.names).bits(scope);

/** Returns those of some lanes, all in the scope's function, for which the expression is not 0. */
export function lanesWhere(expression: Expression, scope: Scope, lanes: number): number {
  const { number } = compile(expression, scope.names);
  let found = 0;
  for (let m = lanes; m !== 0; m &= m - 1) {
    const lane = lowestLane(m);
    scope.lane = lane;
    if (number(scope)) found |= 1 << lane;
  }
  return found;
}

/**
 * Assigns a value to a register, a variable, an element of one, or memory. Throws an ExpressionError if the target
 * cannot be assigned to.
 */
export function assign({ root, text }: Expression, value: Expression, scope: Scope): void {
  const number = numberOf(evaluate(value, scope));
  const as = (type: string): Uint8Array => bitsOf(number, type === "pred" ? "u8" : type);
  if (root.kind === "name" || root.kind === "element") {
    const variable = scope.names.variable(root.name);
    const type = root.type ?? variable?.type ?? defaultType;
    const at = root.kind === "name" ? 0 : Number(wholeOf(root.index, text, scope)) * (sizeOf(type) ?? 1);
    if (at >= 0 && variable?.write(scope, as(type), at)) return;
  } else if (root.kind === "memory") {
    const type = root.type ?? defaultType;
    if (scope.writeMemory(BigInt.asUintN(64, wholeOf(root.address, text, scope)), as(type))) return;
  }
  throw new ExpressionError("this cannot be given a value", text, root.span);
}

/**
 * Returns the address of the memory or variable that an expression denotes and its size in bytes; for any other
 * expression, its value as an address.
 */
export function addressOf(
  { root, text }: Expression,
  scope: Scope,
): { readonly address: bigint; readonly size: number } {
  if (root.kind === "memory") {
    return { address: wholeOf(root.address, text, scope), size: sizeOf(root.type ?? defaultType) ?? 4 };
  }
  if (root.kind === "name") {
    const variable = scope.names.variable(root.name);
    const address = variable?.address(scope) ?? null;
    if (variable !== null && address !== null) return { address, size: variable.read(scope).length };
    const ofModule = variable === null ? scope.names.moduleVariable(root.name) : null;
    if (ofModule !== null) return ofModule;
  }
  return { address: wholeOf(root, text, scope), size: 4 };
}

/** Evaluates a part of an expression as an address or index. */
const wholeOf = (node: ExpressionNode, text: string, scope: Scope): bigint =>
  integerOf(compileNode(node, text, scope.names).number(scope), text, node.span);
