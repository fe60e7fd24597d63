import type { Access } from "../ir/index.ts";
import { choiceOf, has, numberChoiceOf, once } from "./instruction-operands.ts";
import type { MemoryAction } from "./isa/memory-action.ts";
import type { ExecSize, Instruction, LscData } from "./tree.ts";

/** Position of one element of every lane in a register operand: lane l's begins at byte `at + l * stride`. */
export interface Slot {
  readonly at: number;
  readonly stride: number;
}

/** The elements that each lane accesses, in the order in which they lie in memory, and where each is in registers. */
export interface Slots {
  /** Bits of an element in memory. */
  readonly bits: Access["bits"];
  /** Bits of an element in registers if more than in memory: loads zero-extend to them, stores take the low bits. */
  readonly wide?: 32;
  /** One per element in memory; null for an element that has no place in registers. */
  readonly slots: readonly (Slot | null)[];
}

type Action<Kind extends MemoryAction["kind"]> = Extract<MemoryAction, { kind: Kind }>;

export const owordBytes = 16;
export const dwordBytes = 4;

/** Slots of a block access: one lane moves the whole block, so that it counts as one access. */
export function blockSlots(instruction: Instruction): Slots {
  const dwords = (numberChoiceOf(instruction, "owords") * owordBytes) / dwordBytes;
  return { bits: 32, slots: Array.from({ length: dwords }, (_, i): Slot => ({ at: i * dwordBytes, stride: 0 })) };
}

/**
 * Slots of a gather or scatter. The bytes of a lane share one slot of at least a dword; larger elements lie in rows,
 * with one element of every lane per row.
 */
export function elementSlots(instruction: Instruction, { size }: Action<"elements">): Slots {
  const exec = instruction.exec ?? once;
  const bytes = size ?? numberChoiceOf(instruction, "bytes");
  const count = has(instruction, "count") ? numberChoiceOf(instruction, "count") : 1;
  const stride = Math.max(dwordBytes, bytes === 1 ? count : bytes);
  const row = bytes === 1 ? 1 : exec.size * bytes;
  const slots = Array.from({ length: count }, (_, i): Slot => ({ at: i * row, stride }));
  return { bits: (bytes * 8) as Access["bits"], slots };
}

/** Slots of the enabled channels among R, G, B and A, in that order. Each channel begins in a register of its own. */
export function channelSlots(instruction: Instruction, grfBytes: number): Slots {
  const exec = instruction.exec ?? once;
  const channelBytes = Math.max(exec.size * dwordBytes, grfBytes);
  const enabled = choiceOf(instruction, "channels");
  const upToLast = "RGBA".slice(0, "RGBA".indexOf(enabled.at(-1)!) + 1);
  const slots = [...upToLast].map((channel): Slot | null => {
    const slot = enabled.indexOf(channel);
    return slot < 0 ? null : { at: slot * channelBytes, stride: dwordBytes };
  });
  return { bits: 32, slots };
}

/**
 * Bytes of an element in memory, bytes of its slot in registers, and the element's offset within the slot. The rest of
 * the slot is zero.
 */
interface DataSize {
  readonly bytes: number;
  readonly slot: number;
  readonly within: number;
}

const dataSizes: Readonly<Record<string, DataSize>> = {
  d8: { bytes: 1, slot: 1, within: 0 },
  d16: { bytes: 2, slot: 2, within: 0 },
  d32: { bytes: 4, slot: 4, within: 0 },
  d64: { bytes: 8, slot: 8, within: 0 },
  d8u32: { bytes: 1, slot: 4, within: 0 },
  d16u32: { bytes: 2, slot: 4, within: 0 },
  d16u32h: { bytes: 2, slot: 4, within: 2 },
};

/** The sizes of an LSC access's elements. `d8c32` is the older spelling of `d8u32`. */
export const lscSizeOf = ({ size }: LscData): DataSize => dataSizes[size.replace("c", "u")]!;

/**
 * Slots of an LSC access, null for channels that are not enabled. Each element of the vector begins in a register of
 * its own; in a transposed access the elements of its single lane are consecutive.
 */
export function lscSlots(data: LscData, exec: ExecSize, grfBytes: number): Slots {
  const { bytes, slot, within } = lscSizeOf(data);
  const row = data.transposed ? slot : Math.ceil((exec.size * slot) / grfBytes) * grfBytes;
  const { channels } = data;
  const enabled = Array.from({ length: channels === null ? data.vector : 32 - Math.clz32(channels) }, (_, i) =>
    channels === null ? true : ((channels >> i) & 1) === 1,
  );
  let next = 0;
  return {
    bits: (bytes * 8) as Access["bits"],
    ...(slot > bytes && within === 0 && { wide: 32 as const }),
    slots: enabled.map((is) => (is ? { at: next++ * row + within, stride: slot } : null)),
  };
}

/** Drops the leading slots that are not in registers; `skip` is the number of bytes of memory that they cover. */
export function withoutLeadingGap(slots: Slots): { readonly skip: number; readonly rest: Slots } {
  const first = Math.max(
    0,
    slots.slots.findIndex((slot) => slot !== null),
  );
  return { skip: (first * slots.bits) / 8, rest: { ...slots, slots: slots.slots.slice(first) } };
}

/** Bytes from the start of the register operand to the end of the last element of the last lane. */
export const bytesOfSlots = ({ bits, wide, slots }: Slots, lanes: number): number =>
  Math.max(0, ...slots.flatMap((s) => (s === null ? [] : [s.at + (lanes - 1) * s.stride + (wide ?? bits) / 8])));
