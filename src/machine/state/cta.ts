import { type Restore, restoreAll } from "../memory/checkpoint.ts";
import { Views } from "../memory/views.ts";
import type { Dim3 } from "../reports/report.ts";
import { Barrier } from "./barrier.ts";
import type { FunctionCode } from "./code.ts";
import type { Grid } from "./grid.ts";
import { gridScalars, scalarIndex } from "./specials.ts";
import { Warp } from "./warp.ts";

/** A block of the grid while it runs. The object is used again for later blocks. */
export class Cta {
  readonly grid: Grid;
  /** What every lane of the block reads alike, by `scalarIndex`. */
  readonly scalars: Int32Array;
  readonly shared: Views;
  readonly barriers: readonly Barrier[];
  readonly warps: readonly Warp[];
  /** Blocks that run at the same time have different ones. */
  readonly slot: number;
  id: Dim3 = [0, 0, 0];
  /** The block's ticket: its place in the order of the grid. */
  ticket = 0;

  constructor(grid: Grid, sharedBytes: number, slot = 0) {
    this.grid = grid;
    this.slot = slot;
    this.scalars = gridScalars(grid);
    this.shared = new Views(sharedBytes);
    const [bx, by, bz] = grid.block;
    const threads = bx * by * bz;
    const lockstep = grid.threads !== null;
    const width = grid.threads?.width ?? 32;
    this.barriers = Array.from({ length: lockstep ? 32 : 16 }, (_, id) => new Barrier(id, lockstep ? 1 : 32));
    this.warps = Array.from({ length: Math.ceil(threads / width) }, (_, w) => {
      const count = Math.min(width, threads - w * width);
      const tid = new Int32Array(96);
      for (let lane = 0; lane < count; lane++) {
        const t = w * width + lane;
        tid[lane] = t % bx;
        tid[32 + lane] = Math.floor(t / bx) % by;
        tid[64 + lane] = Math.floor(t / (bx * by));
      }
      return new Warp(this, w, (-1 >>> (32 - count)) | 0, tid);
    });
  }

  start(ticket: number, kernel: FunctionCode): void {
    const [gx, gy] = this.grid.dimensions;
    this.ticket = ticket;
    this.id = [ticket % gx, Math.floor(ticket / gx) % gy, Math.floor(ticket / (gx * gy))];
    this.scalars[scalarIndex("ctaid.x")] = this.id[0];
    this.scalars[scalarIndex("ctaid.y")] = this.id[1];
    this.scalars[scalarIndex("ctaid.z")] = this.id[2];
    this.scalars[scalarIndex("smid")] = ticket % this.grid.processors;
    this.shared.u8.fill(0);
    for (const barrier of this.barriers) barrier.reset();
    for (const warp of this.warps) warp.start(kernel);
  }

  get liveWarps(): number {
    let live = 0;
    for (const warp of this.warps) if (warp.live !== 0) live++;
    return live;
  }

  /** The warps that a barrier without a count waits for: in PTX those that have not exited, in vISA all. */
  get expectedWarps(): number {
    return this.grid.threads === null ? this.liveWarps : this.warps.length;
  }

  /** Bytes that a checkpoint of the block keeps, about. */
  get stateBytes(): number {
    return this.warps.reduce((sum, warp) => sum + warp.stateBytes, this.shared.u8.length);
  }

  checkpoint(): Restore {
    const { id, ticket } = this;
    const scalars = this.scalars.slice();
    const shared = this.shared.u8.slice();
    const parts = restoreAll([...this.barriers, ...this.warps].map((part) => part.checkpoint()));
    return () => {
      Object.assign(this, { id, ticket });
      this.scalars.set(scalars);
      this.shared.u8.set(shared);
      parts();
    };
  }

  /** Barriers that waited only for lanes that have exited are released. */
  settleBarriers(): void {
    for (const barrier of this.barriers) if (barrier.waiters.length > 0) this.releaseComplete(barrier);
  }

  /** Releases a barrier at which everybody has arrived. */
  releaseComplete(barrier: Barrier): void {
    if (!barrier.complete(this.expectedWarps)) return;
    this.grid.observers?.emit("barrierRelease", { cta: this, barrier: barrier.id });
    barrier.release();
  }
}
