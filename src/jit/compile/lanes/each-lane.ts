import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";

/** Writes something for each lane of a quad that is in a mask. */
export function eachLaneIn(w: FunctionWriter, mask: Wasm, write: (lane: number) => void): void {
  for (let lane = 0; lane < 4; lane++) {
    w.value(wasm.lane("i32x4.extract_lane", lane, mask));
    w.if(() => write(lane));
  }
}
