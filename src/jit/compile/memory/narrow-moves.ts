import type { Access } from "../../../ir/index.ts";
import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import { shuffled } from "../lanes/interleave.ts";
import type { Mask } from "../lanes/mask.ts";

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
    const [load, store] = (
      {
        16: ["v128.load", "v128.store"],
        8: ["v128.load64_zero", "v128.store64_lane"],
        4: ["v128.load32_zero", "v128.store32_lane"],
      } as const
    )[size as 16 | 8 | 4];
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
