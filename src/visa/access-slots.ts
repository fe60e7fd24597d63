import type { Access } from "../ir/index.ts";
import { choiceOf, has, numberChoiceOf, once } from "./instruction-operands.ts";
import type { MemoryAction } from "./isa/memory-action.ts";
import type { ExecSize, Instruction, LscData } from "./tree.ts";

/** Where an element of each lane lies in a register operand, in bytes from its beginning and from lane to lane. */
interface Slot {
  readonly at: number;
  readonly stride: number;
}

/** What lies in a lane's memory one behind the other, and where in registers. */
export interface Slots {
  /** Of an element in memory. */
  readonly bits: Access["bits"];
  /** Of an element in registers: loads extend it with zeros, stores take the low bits. Absent: as in memory. */
  readonly wide?: 32;
  /** Null: not in registers. */
  readonly slots: readonly (Slot | null)[];
}

type Action<Kind extends MemoryAction["kind"]> = Extract<MemoryAction, { kind: Kind }>;

export const owordBytes = 16;
export const dwordBytes = 4;

/** One lane moves all of a block, so that it is one access. */
export function blockSlots(instruction: Instruction): Slots {
  const dwords = (numberChoiceOf(instruction, "owords") * owordBytes) / dwordBytes;
  return { bits: 32, slots: Array.from({ length: dwords }, (_, i): Slot => ({ at: i * dwordBytes, stride: 0 })) };
}

/** Several bytes a lane lie in a slot of at least a dword; other elements in rows, an element of each lane to a row. */
export function elementSlots(instruction: Instruction, { size }: Action<"elements">): Slots {
  const exec = instruction.exec ?? once;
  const bytes = size ?? numberChoiceOf(instruction, "bytes");
  const count = has(instruction, "count") ? numberChoiceOf(instruction, "count") : 1;
  const stride = Math.max(dwordBytes, bytes === 1 ? count : bytes);
  const row = bytes === 1 ? 1 : exec.size * bytes;
  const slots = Array.from({ length: count }, (_, i): Slot => ({ at: i * row, stride }));
  return { bits: (bytes * 8) as Access["bits"], slots };
}

/** What is enabled of R, G, B and A lies in registers one channel behind the other, each from a register on. */
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

/** Bytes of an element in memory, of its slot in registers, and where in the slot it lies; the rest of the slot becomes 0. */
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

/** `d8c32` is an older word for `d8u32`. */
export const lscSizeOf = ({ size }: LscData): DataSize => dataSizes[size.replace("c", "u")]!;

/**
 * `null` for channels that are not enabled. Each element of the lanes begins in a register of its own; transposed, those of
 * the one lane lie one behind the other.
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

/** Without the slots before the first that is in registers, and the bytes of memory that they are. */
export function withoutLeadingGap(slots: Slots): { readonly skip: number; readonly rest: Slots } {
  const first = Math.max(
    0,
    slots.slots.findIndex((slot) => slot !== null),
  );
  return { skip: (first * slots.bits) / 8, rest: { ...slots, slots: slots.slots.slice(first) } };
}

/** Bytes from the beginning of the register operand to the end of the last element of the lanes. */
export const bytesOfSlots = ({ bits, wide, slots }: Slots, lanes: number): number =>
  Math.max(0, ...slots.flatMap((s) => (s === null ? [] : [s.at + (lanes - 1) * s.stride + (wide ?? bits) / 8])));
