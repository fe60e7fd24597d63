import { type FunctionWriter, wasm } from "../../../wasm/index.ts";

/** Writes something for each lane of a quad that is in a mask, which a local holds. */
export function eachLaneIn(w: FunctionWriter, mask: number, write: (lane: number) => void): void {
  for (let lane = 0; lane < 4; lane++) {
    w.value(wasm.lane("i32x4.extract_lane", lane, wasm.local("v128", mask)));
    w.if(() => write(lane));
  }
}
