import { blockSlots, bytesOfSlots, channelSlots, elementSlots, lscSlots, type Slots } from "../access-slots.ts";
import { choiceOf, has, numberChoiceOf, once } from "../instruction-operands.ts";
import { elementsPerStep, type Precision, precisionBits } from "../isa/systolic.ts";
import type { Instruction, LscAddress, LscData } from "../tree.ts";
import { type DataType, typeBytes } from "../types.ts";
import { channelsOf } from "./routine-context.ts";

/**
 * Bytes of registers that an instruction reads or writes from the start of a raw operand, inactive channels included.
 * It is 1 where the size is not modelled.
 */
export function rawBytes(instruction: Instruction, key: string, grfBytes: number, type: DataType = "ud"): number {
  const { execution, name } = instruction.row;
  const channels = messageChannels(instruction);
  if (channels === null) return 1;
  if (name === "DPAS") return matrixBytes(instruction, key, channels, type);
  if (execution.kind !== "memory") return 1;
  if (key === "addresses") return 8 * channels;
  if (key === "offsets") return (has(instruction, "address") ? 8 : 4) * channels;
  const { action } = execution;
  const moved = (slots: Slots): number => bytesOfSlots(slots, channels);
  switch (action.kind) {
    case "block":
      return moved(blockSlots(instruction));
    case "elements":
      return moved(elementSlots(instruction, action));
    case "channels":
      return moved(channelSlots(instruction, grfBytes));
    case "atomic":
      return atomicBytes(numberChoiceOf(instruction, "width"), key, channels);
    case "lsc-atomic": {
      const { data } = instruction.operands;
      const bits = data?.kind === "lsc-data" ? lscSlots(data, once, grfBytes).bits : 32;
      return atomicBytes(bits, key, channels);
    }
    default:
      return 1;
  }
}

/**
 * The same for DPAS: sums lie row by row; src1 has the weights of a channel packed in doublewords, as many as its steps
 * fill.
 */
function matrixBytes(instruction: Instruction, key: string, channels: number, type: DataType): number {
  const { count } = instruction.operands;
  if (key === "src1") {
    const { weights, perStep, depth } = matrixOf(instruction);
    return 4 * channels * Math.ceil((depth * perStep * precisionBits(weights)) / 32);
  }
  return count?.kind === "number" ? typeBytes(type) * channels * count.value : 1;
}

/**
 * Bytes of src2 that DPAS reads, whatever region is written: the activations of its rows, packed one after the other,
 * eight steps to a row. Null for other instructions.
 */
export function activationBytes(instruction: Instruction): number | null {
  const { count } = instruction.operands;
  if (instruction.row.name !== "DPAS" || count?.kind !== "number") return null;
  const { activations, perStep, depth } = matrixOf(instruction);
  return Math.ceil((((count.value - 1) * 8 + depth) * perStep * precisionBits(activations)) / 8);
}

function matrixOf(instruction: Instruction) {
  const weights = choiceOf(instruction, "weights") as Precision;
  const activations = choiceOf(instruction, "activations") as Precision;
  const depth = numberChoiceOf(instruction, "depth");
  return { weights, activations, depth, perStep: elementsPerStep(weights, activations) };
}

/**
 * The same for the operands of atomics: 16-bit elements lie in the low halves of dwords, and are returned as dwords.
 */
function atomicBytes(bits: number, key: string, channels: number): number {
  const slot = Math.max(32, bits) / 8;
  return slot * (channels - 1) + (key === "dst" ? slot : bits / 8);
}

/** The same for the data of an LSC access. */
export function lscDataBytes(instruction: Instruction, data: LscData, grfBytes: number): number {
  const { execution } = instruction.row;
  const channels = messageChannels(instruction);
  if (execution.kind !== "memory" || channels === null) return 1;
  if (execution.action.kind === "lsc-atomic") return rawBytes(instruction, "dst", grfBytes);
  return bytesOfSlots(lscSlots(data, instruction.exec ?? once, grfBytes), channels);
}

/** The same for the addresses of an LSC access; a strided access has only one. */
export function lscAddressBytes(instruction: Instruction, { size }: LscAddress): number {
  const { execution, mnemonic } = instruction.row;
  const channels = messageChannels(instruction);
  if (execution.kind !== "memory" || channels === null || size === null) return 1;
  return (size / 8) * (mnemonic.endsWith("_strided") ? 1 : channels);
}

/** Channels of a message; null if the instruction cannot have that many, which is reported elsewhere. */
function messageChannels(instruction: Instruction): number | null {
  const { sizes } = instruction.row;
  const channels = channelsOf(instruction);
  return sizes === null || sizes.includes(channels) ? channels : null;
}
