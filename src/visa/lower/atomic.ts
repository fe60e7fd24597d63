import { kit as k } from "../../semantics/index.ts";
import type { AtomicFunction } from "../isa/memory-action.ts";
import type { Instruction } from "../tree.ts";
import { type AtomicOperands, atomicResult } from "./atomic-function.ts";
import type { LowerContext, Lowered } from "./context.ts";
import { choiceOf, numberChoiceOf, once, rawOf } from "../instruction-operands.ts";
import { atomicAccess, atomicAt, type MemoryPlace } from "./memory-place.ts";
import { placeOf } from "./operand-place.ts";
import { rawRegion, rawTarget } from "./operands.ts";

/** By the names of `svm_atomic` and `dword_atomic`; the rest mean themselves. */
const functions: Readonly<Record<string, AtomicFunction>> = {
  min: "umin",
  max: "umax",
  minsint: "smin",
  maxsint: "smax",
  xchg: "exchange",
  cmpxchg: "swapped-cas",
  fcmpwr: "fcas",
};

export function lowerAtomic(context: LowerContext, instruction: Instruction): readonly Lowered[] {
  const exec = instruction.exec ?? once;
  const choice = choiceOf(instruction, "op");
  const op = functions[choice] ?? (choice as AtomicFunction);
  const bits = numberChoiceOf(instruction, "width") as AtomicOperands["bits"];
  return atomic(context, instruction, placeOf(context, instruction, exec, 1), op, { bits, bfloat: false });
}

/** Elements of 16 bits lie in the low halves of dwords. */
export function atomic(
  context: LowerContext,
  instruction: Instruction,
  place: MemoryPlace,
  op: AtomicFunction,
  element: Pick<AtomicOperands, "bits" | "bfloat">,
  dst = rawOf(instruction, "dst"),
): readonly Lowered[] {
  const exec = instruction.exec ?? once;
  const { bits } = element;
  const stride = bits === 16 ? 2 : 1;
  const operand = (name: string) => rawRegion(context, rawOf(instruction, name), bits, false, exec, 0, stride);
  const old = { kind: "old", ty: bits === 64 ? "i64" : "i32", index: 0 } as const;
  const combine = atomicResult(op, { ...element, old, src0: operand("src0"), src1: operand("src1") });
  const wide = bits === 64 ? 64 : 32;
  const to = rawTarget(context, dst, wide, exec);
  const lowered = { op: atomicAt(place, atomicAccess(place, bits), combine), dst: [to] };
  if (op !== "predec" || to === null) return [lowered];
  const returned = rawRegion(context, dst, wide, false, exec);
  const fresh = k.sub(returned, k.int(returned, 1));
  return [lowered, { op: { kind: "pure", values: [bits === 16 ? k.narrow(fresh, 16, false) : fresh] }, dst: [to] }];
}
