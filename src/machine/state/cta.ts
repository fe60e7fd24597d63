import { type Restore, restoreAll } from "../memory/checkpoint.ts";
import { Views } from "../memory/views.ts";
import type { Dim3 } from "../reports/report.ts";
import { Barrier } from "./barrier.ts";
import { BlockCluster, placeInCluster } from "./cluster.ts";
import type { Cluster, Cta, FunctionCode, Grid, Warp } from "./launch-state.ts";
import { gridScalars, scalarIndex } from "./specials.ts";
import { UnitStates } from "./unit-state.ts";
import { BlockWarp } from "./warp.ts";

/** Where the scalars are that differ between blocks: they are written for each. */
const scalarsByAxis = (["x", "y", "z"] as const).map((d) => ({
  ctaid: scalarIndex(`ctaid.${d}`),
  inCluster: scalarIndex(`cluster_ctaid.${d}`),
  cluster: scalarIndex(`clusterid.${d}`),
}));
const [rankInCluster, processor] = [scalarIndex("cluster_ctarank"), scalarIndex("smid")];

export class GridBlock implements Cta {
  readonly grid: Grid;
  readonly scalars: Int32Array;
  readonly shared: Views;
  readonly barriers: readonly Barrier<Warp>[];
  readonly warps: readonly Warp[];
  readonly units = new UnitStates();
  readonly slot: number;
  id: Dim3 = [0, 0, 0];
  cluster: Cluster;
  rank = 0;
  signalled = false;
  released = false;
  ticket = 0;

  constructor(grid: Grid, sharedBytes: number, slot = 0) {
    this.grid = grid;
    this.slot = slot;
    this.scalars = gridScalars(grid);
    this.shared = new Views(sharedBytes);
    const [bx, by, bz] = grid.block;
    const threads = bx * by * bz;
    this.cluster = new BlockCluster(1, threads);
    const lockstep = grid.threads !== null;
    const width = grid.threads?.width ?? 32;
    this.barriers = Array.from({ length: lockstep ? 32 : 16 }, (_, id) => new Barrier<Warp>(id, lockstep ? 1 : 32));
    this.warps = Array.from({ length: Math.ceil(threads / width) }, (_, w) => {
      const count = Math.min(width, threads - w * width);
      const tid = new Int32Array(96);
      for (let lane = 0; lane < count; lane++) {
        const t = w * width + lane;
        tid[lane] = t % bx;
        tid[32 + lane] = Math.floor(t / bx) % by;
        tid[64 + lane] = Math.floor(t / (bx * by));
      }
      return new BlockWarp(this, w, (-1 >>> (32 - count)) | 0, tid);
    });
  }

  start(ticket: number, kernel: FunctionCode, cluster?: Cluster): void {
    this.place(ticket);
    this.released = false;
    const [bx, by, bz] = this.grid.block;
    this.cluster = cluster ?? new BlockCluster(1, bx * by * bz);
    this.cluster.enter(this);
    const { ctaid, clusterid } = placeInCluster(this.grid, this.id);
    for (let i = 0; i < scalarsByAxis.length; i++) {
      const at = scalarsByAxis[i]!;
      this.scalars[at.ctaid] = this.id[i]!;
      this.scalars[at.inCluster] = ctaid[i]!;
      this.scalars[at.cluster] = clusterid[i]!;
    }
    this.scalars[rankInCluster] = this.rank;
    this.scalars[processor] = ticket % this.grid.processors;
    this.shared.u8.fill(0);
    this.units.reset();
    for (const barrier of this.barriers) barrier.reset();
    for (const warp of this.warps) warp.start(kernel);
  }

  /** Sets which block of the grid it is, by its linear index. */
  place(ticket: number): void {
    const [gx, gy] = this.grid.dimensions;
    this.ticket = ticket;
    this.id = [ticket % gx, Math.floor(ticket / gx) % gy, Math.floor(ticket / (gx * gy))];
    this.rank = placeInCluster(this.grid, this.id).rank;
  }

  get liveWarps(): number {
    let live = 0;
    for (const warp of this.warps) if (warp.live !== 0) live++;
    return live;
  }

  get expectedWarps(): number {
    return this.grid.threads === null ? this.liveWarps : this.warps.length;
  }

  get stateBytes(): number {
    return this.warps.reduce((sum, warp) => sum + warp.stateBytes, this.shared.u8.length + this.units.stateBytes);
  }

  checkpoint(): Restore {
    const { id, ticket, released, cluster, rank } = this;
    const scalars = this.scalars.slice();
    const shared = this.shared.u8.slice();
    const parts = restoreAll([...this.barriers, ...this.warps, this.units].map((part) => part.checkpoint()));
    return () => {
      Object.assign(this, { id, ticket, released, cluster, rank });
      this.scalars.set(scalars);
      this.shared.u8.set(shared);
      parts();
    };
  }
}
