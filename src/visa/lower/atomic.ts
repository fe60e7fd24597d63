import { kit as k } from "../../semantics/index.ts";
import type { Instruction } from "../tree.ts";
import { type AtomicFunction, type AtomicOperands, atomicResult } from "../../ir/index.ts";
import type { LowerContext, Lowered } from "./context.ts";
import { choiceOf, numberChoiceOf, once, rawOf } from "../instruction-operands.ts";
import { atomicAccess, atomicAt, type MemoryLocation } from "./memory-location.ts";
import { locationOf } from "./operand-location.ts";
import { rawSource, rawTarget } from "./raw-operand.ts";

/** The functions of `svm_atomic` and `dword_atomic` whose names differ from those here. */
const functions: Readonly<Record<string, AtomicFunction>> = {
  min: "umin",
  max: "umax",
  minsint: "smin",
  maxsint: "smax",
  xchg: "exchange",
  cmpxchg: "swapped-cas",
  fcmpwr: "fcas",
};

/** The function that an operand `op` names. */
export const atomicFunctionOf = (choice: string): AtomicFunction => functions[choice] ?? (choice as AtomicFunction);

export function lowerAtomic(context: LowerContext, instruction: Instruction): readonly Lowered[] {
  const exec = instruction.exec ?? once;
  const op = atomicFunctionOf(choiceOf(instruction, "op"));
  const bits = numberChoiceOf(instruction, "width") as AtomicOperands["bits"];
  return atomic(context, instruction, locationOf(context, instruction, exec, 1), op, { bits, bfloat: false });
}

/** An atomic operation at a location. 16-bit elements lie in the low halves of dwords. */
export function atomic(
  context: LowerContext,
  instruction: Instruction,
  location: MemoryLocation,
  op: AtomicFunction,
  element: Pick<AtomicOperands, "bits" | "bfloat">,
  dst = rawOf(instruction, "dst"),
): readonly Lowered[] {
  const exec = instruction.exec ?? once;
  const { bits } = element;
  const stride = bits === 16 ? 2 : 1;
  const operand = (name: string) => rawSource(context, rawOf(instruction, name), { bits, exec, stride });
  const old = { kind: "old", ty: bits === 64 ? "i64" : "i32", index: 0 } as const;
  const combine = atomicResult(op, { ...element, old, src0: operand("src0"), src1: operand("src1") });
  const wide = bits === 64 ? 64 : 32;
  const to = rawTarget(context, dst, { bits: wide, exec });
  const lowered = { op: atomicAt(location, atomicAccess(location, bits), combine), dst: [to] };
  if (op !== "predec" || to === null) return [lowered];
  const returned = rawSource(context, dst, { bits: wide, exec });
  const fresh = k.sub(returned, k.int(returned, 1));
  return [lowered, { op: { kind: "pure", values: [bits === 16 ? k.narrow(fresh, 16, false) : fresh] }, dst: [to] }];
}
