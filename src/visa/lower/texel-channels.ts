import type { Destination } from "../../ir/index.ts";
import type { Expr } from "../../semantics/index.ts";
import { choiceOf, has, once } from "../instruction-operands.ts";
import type { ExecSize, Instruction, NameOperand, RawOperand } from "../tree.ts";
import type { LowerContext } from "./context.ts";
import { type RawElements, rawSource, rawTarget } from "./raw-operand.ts";

/** The numbers of the channels that a list of letters names, in order. */
export const channelNumbers = (channels: string): number[] =>
  [..."RGBA"].flatMap((c, i) => (channels.includes(c) ? [i] : []));

/** How many lanes an instruction has. Messages of media kernels have a number, not an execution size, and no mask. */
export function executionOf(instruction: Instruction): ExecSize {
  if (instruction.exec !== null) return instruction.exec;
  return { ...once, size: has(instruction, "simd") ? (Number(choiceOf(instruction, "simd")) as ExecSize["size"]) : 1 };
}

/** The elements of the n-th channel of a raw operand: each channel begins in a register of its own. */
function channelAt(context: LowerContext, instruction: Instruction, n: number, bits: 16 | 32): RawElements {
  const { grfBytes } = context.routine;
  const lanes = executionOf(instruction);
  const bytes = Math.ceil((lanes.size * bits) / 8 / grfBytes) * grfBytes;
  return { bits, exec: lanes, element: (n * bytes * 8) / bits };
}

/** Where the results of so many channels go. */
export const channelTargets = (
  context: LowerContext,
  instruction: Instruction,
  dst: RawOperand,
  count: number,
  bits: 16 | 32 = 32,
): readonly Destination[] =>
  Array.from({ length: count }, (_, n) => rawTarget(context, dst, channelAt(context, instruction, n, bits)));

/** The values of so many channels. */
export const channelSources = (
  context: LowerContext,
  instruction: Instruction,
  src: RawOperand,
  count: number,
): readonly Expr[] =>
  Array.from({ length: count }, (_, n) => rawSource(context, src, channelAt(context, instruction, n, 32)));

/** The index in the slot of a surface or sampler variable. */
export function indexOf(context: LowerContext, { name }: NameOperand): Expr {
  const region = { at: context.offsetOf(context.variable(name)), first: 0, vertical: 0, width: 1, horizontal: 0 };
  return { kind: "region", ty: "i32", bits: 32, signed: false, region };
}
