import { sizeOfType } from "../../dwarf/index.ts";
import { lowestLane } from "../../ir/lane-mask.ts";
import type { SourceValue } from "../source/source-value.ts";
import { bitsOf, numberOf, sizeOf, type TypedBits } from "../view/value.ts";
import { compile, compileNode, defaultType, integerOf } from "./compile.ts";
import type { Scope } from "./scope.ts";
import { type Expression, ExpressionError, type ExpressionNode } from "./tree.ts";

/** Evaluates an expression. Throws an ExpressionError if it has no value. */
export const evaluate = (expression: Expression, scope: Scope): TypedBits =>
  compile(expression, scope.names).bits(scope);

/** Returns the value of an expression with its type of the source; null if it has none. */
export const evaluateTyped = (expression: Expression, scope: Scope): SourceValue | null =>
  compile(expression, scope.names).typed?.value(scope) ?? null;

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
  const { typed, bits } = compileNode(root, text, scope.names);
  if (typed !== undefined) {
    if (typed.value(scope).referred.write(as(bits(scope).type))) return;
    throw new ExpressionError("this cannot be given a value", text, root.span);
  }
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
 * expression, its value as an address. `own`: of a pointer of the source its own memory, not what it points to.
 */
export function addressOf(
  { root, text }: Expression,
  scope: Scope,
  { own = false } = {},
): { readonly address: bigint; readonly size: number } {
  const typed = compileNode(root, text, scope.names).typed?.value(scope).referred;
  if (typed !== undefined) {
    // Of a pointer, what it points to is meant; of anything else, its own memory.
    const { kind } = typed.plain;
    const target = kind === "pointer" && !own ? typed.target() : typed;
    const address = target?.address ?? null;
    if (address !== null) return { address, size: sizeOfType(target!.type) ?? 4 };
    if (own) throw new ExpressionError("this is not in memory", text, root.span);
  }
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
