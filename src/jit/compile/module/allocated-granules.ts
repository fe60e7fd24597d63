import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import type { ContextLayout } from "../../abi/context-layout.ts";
import { extentHeader, granule } from "../../abi/extent-table.ts";
import { laneBits } from "../lanes/mask-bits.ts";
import { context, local } from "./helper-code.ts";

/**
 * `inAllocations(context, bytes, places)`: a bit for each lane, set if so many bytes at its place are certainly in one
 * allocation. What is unknown, or reaches into the next granule, is not.
 */
export const inAllocationsName = "inAllocations";

const bytesOfGranule = 1 << granule.bits;

export function writeInAllocations(w: FunctionWriter, layout: ContextLayout): void {
  const word = (at: number): Wasm => {
    const into = w.local("i32");
    w.value(context);
    w.memory("i32.load", 4, layout.extents + at);
    w.set(into);
    return local("i32", into);
  };
  const [map, count] = [word(extentHeader.granules), word(extentHeader.granuleCount)];
  const last = wasm.op("i32x4.splat", wasm.op("i32.sub", count, wasm.op("i32.ne", count, wasm.i32(0))));
  const places = w.params.flatMap((ty, i) => (ty === "v128" ? [local("v128", i)] : []));
  const good = places.map((place) => {
    const [at, words] = [w.local("v128"), w.local("v128")];
    const index = wasm.op("i32x4.shr_u", place, wasm.i32(granule.bits));
    // A place beyond all that is known reads the last byte of the map, and counts for nothing.
    w.assign([{ local: at, value: wasm.op("i32x4.min_u", index, last) }]);
    for (let lane = 0; lane < 4; lane++) {
      if (lane > 0) w.get(words);
      w.value(wasm.op("i32.add", map, wasm.lane("i32x4.extract_lane", lane, local("v128", at))));
      w.memory("i32.load8_u", 1);
      if (lane > 0) w.op("i32x4.replace_lane", [lane]);
      else w.op("i32x4.splat");
      w.set(words);
    }
    const within = wasm.op("v128.and", place, wasm.i32x4(bytesOfGranule - 1));
    const end = wasm.op("i32x4.add", within, wasm.op("i32x4.splat", local("i32", 1)));
    const room = wasm.op("i32x4.shl", local("v128", words), wasm.i32(2));
    const isKnown = wasm.op("i32x4.lt_u", index, wasm.op("i32x4.splat", count));
    w.assign([{ local: words, value: wasm.op("v128.and", wasm.op("i32x4.le_u", end, room), isKnown) }]);
    return local("v128", words);
  });
  w.value(laneBits(good));
}
