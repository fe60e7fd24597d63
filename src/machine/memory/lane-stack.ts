import { lowestLane } from "../../ir/lane-mask.ts";
import type { Restore } from "./checkpoint.ts";
import { Views } from "./views.ts";

/** Up to this size a loop over words is faster than a call of the host's fill and copy. */
const shortBytes = 128;

/**
 * The stacks of a warp's lanes: frames, call parameters and the pieces of `alloca`. They grow together; lane `i` begins
 * at byte `origin + i * stride`. In the interpreter the origin is 0.
 */
export class LaneStack {
  views = new Views(0);
  stride = 0;
  origin = 0;

  /** Makes room for `bytes` in every lane. What is there stays; new bytes are zeros. */
  reserve(bytes: number): void {
    if (bytes > this.stride) this.#grow(bytes);
  }

  #grow(bytes: number): void {
    const stride = Math.max(256, 2 ** Math.ceil(Math.log2(bytes)));
    const views = new Views(stride * 32);
    for (let lane = 0; lane < 32; lane++) {
      views.u8.set(this.views.u8.subarray(lane * this.stride, (lane + 1) * this.stride), lane * stride);
    }
    this.views = views;
    this.stride = stride;
  }

  /** Covers the first `bytes` of every lane; the bytes after them are cleared before they are used. */
  checkpoint(bytes: number): Restore {
    const { views, stride } = this;
    const kept = new Uint8Array(32 * bytes);
    for (let lane = 0; lane < 32; lane++) {
      kept.set(views.u8.subarray(lane * stride, lane * stride + bytes), lane * bytes);
    }
    return () => {
      this.views = views;
      this.stride = stride;
      for (let lane = 0; lane < 32; lane++) {
        views.u8.set(kept.subarray(lane * bytes, (lane + 1) * bytes), lane * stride);
      }
    };
  }

  /** Fills `[start, end)` of every lane of the mask with zeros: a frame begins in the same state each time. */
  clear(start: number, end: number, mask: number): void {
    if (start === end) return;
    const { i32, u8 } = this.views;
    const { origin, stride } = this;
    const inWords = ((start | end) & 3) === 0 && end - start <= shortBytes;
    for (let m = mask; m !== 0; m &= m - 1) {
      const at = origin + lowestLane(m) * stride;
      if (!inWords) u8.fill(0, at + start, at + end);
      else for (let w = (at + start) >>> 2; w < (at + end) >>> 2; w++) i32[w] = 0;
    }
  }

  /** Copies `size` bytes within every lane of the mask. */
  copy(from: number, to: number, size: number, mask: number): void {
    const { i32, u8 } = this.views;
    const inWords = ((from | to | size) & 3) === 0 && size <= shortBytes;
    for (let m = mask; m !== 0; m &= m - 1) {
      const at = lowestLane(m) * this.stride;
      if (!inWords) u8.copyWithin(at + to, at + from, at + from + size);
      else for (let b = 0; b < size; b += 4) i32[(at + to + b) >>> 2] = i32[(at + from + b) >>> 2]!;
    }
  }
}
