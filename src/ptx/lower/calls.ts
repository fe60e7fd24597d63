import type { Argument, CallTarget, Result } from "../../ir/index.ts";
import type { CallInfo } from "../check/calls.ts";
import type { FormalShape } from "../check/signature.ts";
import type { OperandRule } from "../isa/operand-spec.ts";
import type { Operand } from "../tree/nodes.ts";
import { type AddressBase, destinations, type Places, sourceElements } from "./operands.ts";
import { lowerSignature } from "./signature.ts";

export function lowerCallTarget(info: CallInfo, places: Places): CallTarget {
  const { target } = info;
  if (target.kind === "direct") return { kind: "direct", function: places.nameOf(target.function) };
  const symbol = target.address.symbol;
  const width = symbol?.kind === "register" ? symbol.type : null;
  const rule = valueRule({ type: width ?? info.signature.params[0]!.type });
  return {
    kind: "indirect",
    address: sourceElements(target.address, rule, places)[0]!,
    signature: lowerSignature(info.signature),
    targets: target.targets?.map((f) => places.nameOf(f)) ?? null,
    via: target.via,
  };
}

const valueRule = ({ type }: Pick<FormalShape, "type">): OperandRule => ({
  shape: "value",
  type,
  immediate: "allowed",
  range: null,
  counts: [1],
  split: false,
});

/** The `.param` variable that an argument or result is, or null. */
function variableOf(operand: Operand, places: Places): { readonly variable: number; readonly size: number } | null {
  const symbol = operand.kind === "name" ? operand.symbol : null;
  if (symbol?.kind !== "variable" && symbol?.kind !== "parameter") return null;
  const base: AddressBase = symbol;
  const variable = places.frame.indexOf(base);
  return variable === undefined ? null : { variable, size: symbol.size };
}

export function lowerArguments({ args, signature }: CallInfo, places: Places): Argument[] {
  return args.map((operand, i): Argument => {
    const variable = variableOf(operand, places);
    if (variable) return { kind: "frame", ...variable };
    const { type, vector } = signature.params[i]!;
    const elements = sourceElements(operand, valueRule({ type }), places);
    if (vector > 1) return { kind: "vector", elements };
    const [value, high] = elements;
    return high ? { kind: "pair", low: value!, high } : { kind: "value", value: value!, bits: type.bits };
  });
}

export function lowerResults({ results, signature }: CallInfo, places: Places): Result[] {
  // A call without a result list discards the results.
  return signature.returns.map((formal, i): Result => {
    const operand = results[i];
    if (!operand || operand.kind === "sink") return { kind: "discard" };
    const variable = variableOf(operand, places);
    if (variable) return { kind: "frame", ...variable };
    const registers = destinations(operand, valueRule(formal), places).map((d) => d.register);
    return registers.some((r) => r === null)
      ? { kind: "discard" }
      : { kind: "register", registers: registers as number[] };
  });
}
