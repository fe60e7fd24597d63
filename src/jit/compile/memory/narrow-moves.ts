import type { Access } from "../../../ir/index.ts";
import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import { shuffled } from "../lanes/interleave.ts";
import type { Mask } from "../lanes/mask.ts";
import { narrowedMask } from "../lanes/narrow.ts";

/**
 * Loads an element of 8 or 16 bits from the address on the stack into a lane of a local; after the last lane the signs
 * of all are extended.
 */
export function loadNarrowLane(
  writer: FunctionWriter,
  { bits, align, signed }: Access,
  immediate: number,
  local: number,
  lane: number,
): void {
  if (lane === 0) writer.value(wasm.i32x4(0));
  else writer.get(local);
  writer.memory(`v128.load${bits as 8 | 16}_lane`, Math.min(align, bits / 8), immediate, (lane * 32) / bits);
  writer.set(local);
  if (lane < 3 || !signed) return;
  const high = wasm.op("i32x4.shl", wasm.local("v128", local), wasm.i32(32 - bits));
  writer.assign([{ local, value: wasm.op("i32x4.shr_s", high, wasm.i32(32 - bits)) }]);
}

/** The moves of so many bytes, from and to the low ones of a vector. */
const movesOf = {
  16: ["v128.load", "v128.store"],
  8: ["v128.load64_zero", "v128.store64_lane"],
  4: ["v128.load32_zero", "v128.store32_lane"],
} as const;

/** Loads contiguous elements of 8 or 16 bits, ascending or descending over the lanes, into narrow lanes. */
export function loadNarrowLanes(
  writer: FunctionWriter,
  { bits }: Access,
  { at, immediate, stride }: { readonly at: Wasm; readonly immediate: number; readonly stride: number },
  into: readonly number[],
  lanes: number,
): void {
  const bytes = bits / 8;
  const size = Math.min(16, lanes * bytes) as 16 | 8 | 4;
  const backwards = stride < 0;
  into.forEach((local, part) => {
    writer.value(at);
    writer.memory(movesOf[size][0], bytes, immediate + 16 * (backwards ? into.length - 1 - part : part));
    writer.set(local);
    if (!backwards) return;
    const value = wasm.local("v128", local);
    const count = size / bytes;
    const elements = Array.from({ length: 16 / bytes }, (_, i) => count - 1 - (i % count));
    writer.assign([{ local, value: shuffled(value, value, bytes, elements) }]);
  });
}

/** Stores contiguous elements of 8 or 16 bits from narrow lanes, in the lanes of a mask. */
export function storeNarrowLanes(
  writer: FunctionWriter,
  { bits }: Access,
  { at, immediate }: { readonly at: Wasm; readonly immediate: number },
  mask: Mask,
  values: readonly Wasm[],
  lanes: number,
): void {
  const bytes = bits / 8;
  const size = Math.min(16, lanes * bytes) as 16 | 8 | 4;
  const stored = mask && narrowedMask(mask, bits as 8 | 16).parts;
  values.forEach((value, part) => {
    const start = immediate + 16 * part;
    writer.value(at);
    writer.value(value);
    if (stored !== null) {
      writer.value(at);
      writer.memory(movesOf[size][0], bytes, start);
      writer.value(stored[part]!);
      writer.op("i8x16.relaxed_laneselect");
    }
    const store = movesOf[size][1];
    if (store === "v128.store") writer.memory(store, bytes, start);
    else writer.memory(store, bytes, start, 0);
  });
}

/** Stores contiguous elements of 8 or 16 bits, two quads at a time. */
export function storeNarrowRun(
  writer: FunctionWriter,
  { bits }: Access,
  { at, immediate }: { readonly at: Wasm; readonly immediate: number },
  mask: Mask,
  values: readonly Wasm[],
): void {
  const bytes = bits / 8;
  // Two quads fill a vector of 16-bit elements, or half of one of 8 bits.
  for (let q = 0; q < values.length; q += 2) {
    const pick = (parts: readonly Wasm[]): Wasm => {
      const elements = Array.from({ length: 16 / bytes }, (_, i) => (i * 4) / bytes).map((e) => e % (32 / bytes));
      return shuffled(parts[q]!, parts[q + 1] ?? parts[q]!, bytes, elements);
    };
    const start = immediate + 4 * q * bytes;
    const isPair = q + 1 < values.length;
    const size = bytes * (isPair ? 8 : 4);
    const [load, store] = movesOf[size as 16 | 8 | 4];
    writer.value(at);
    writer.value(pick(values));
    if (mask !== null) {
      writer.value(at);
      writer.memory(load, bytes, start);
      writer.value(pick(mask));
      writer.op("i8x16.relaxed_laneselect");
    }
    if (store === "v128.store") writer.memory(store, bytes, start);
    else writer.memory(store, bytes, start, 0);
  }
}
