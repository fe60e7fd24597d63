import type { Access } from "../../../ir/index.ts";
import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import { interleaved } from "../lanes/interleave.ts";
import type { Mask } from "../lanes/mask.ts";
import { widenMask } from "../lanes/value.ts";
import { storeNarrowRun } from "./narrow-moves.ts";

/** An element of all lanes: a local for each quad or, for 64 bits, for each two lanes. */
type Element = readonly number[];

/** Stores contiguous elements of the lanes of a mask; the others are stored as they were. */
export function storeRun(
  writer: FunctionWriter,
  access: Access,
  { at, immediate }: { readonly at: Wasm; readonly immediate: number },
  mask: Mask,
  elements: readonly Element[],
): void {
  const { bits, count } = access;
  const store = (part: number, value: Wasm, lanes: Wasm | null): void => {
    writer.value(at);
    if (lanes === null) writer.value(value);
    else {
      writer.value(value);
      writer.value(at);
      writer.memory("v128.load", Math.min(16, bits / 8), immediate + part * 16);
      writer.value(lanes);
      writer.op("i8x16.relaxed_laneselect");
    }
    writer.memory("v128.store", Math.min(16, bits / 8), immediate + part * 16);
  };
  const values = elements.map((element) => element.map((local) => wasm.local("v128", local)));
  if (bits < 32) {
    storeNarrowRun(writer, access, { at, immediate }, mask, values[0]!);
    return;
  }
  const masks = mask === null ? null : bits === 64 ? mask.flatMap((m) => [...widenMask(m)]) : mask;
  for (let g = 0; g < values[0]!.length; g++) {
    const group = interleaved(
      values.map((element) => element[g]!),
      bits,
    );
    const lanes = masks === null ? null : interleaved(new Array<Wasm>(count).fill(masks[g]!), bits);
    for (const [i, value] of group.entries()) store(g * count + i, value, lanes === null ? null : lanes[i]!);
  }
}
