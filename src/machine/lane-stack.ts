import { Views } from "./views.ts";

/**
 * The stacks of a warp's lanes: frames, call parameters and what `alloca` gives. They grow together; lane `i` begins at
 * byte `i * stride`.
 */
export class LaneStack {
  views = new Views(0);
  stride = 0;

  /** Makes room for `bytes` in every lane. What is there stays; new bytes are zeros. */
  reserve(bytes: number): void {
    if (bytes <= this.stride) return;
    const stride = Math.max(256, 2 ** Math.ceil(Math.log2(bytes)));
    const views = new Views(stride * 32);
    for (let lane = 0; lane < 32; lane++) {
      views.u8.set(this.views.u8.subarray(lane * this.stride, (lane + 1) * this.stride), lane * stride);
    }
    this.views = views;
    this.stride = stride;
  }

  /** Zeros in `[start, end)` of every lane of the mask: a frame begins in the same state each time. */
  clear(start: number, end: number, mask: number): void {
    for (let m = mask; m !== 0; m &= m - 1) {
      const lane = 31 - Math.clz32(m & -m);
      this.views.u8.fill(0, lane * this.stride + start, lane * this.stride + end);
    }
  }
}
