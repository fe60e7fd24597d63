import { type Restore, restoreAll } from "../memory/checkpoint.ts";
import { Views } from "../memory/views.ts";
import type { Dim3 } from "../reports/report.ts";
import { Barrier } from "./barrier.ts";
import { BlockCluster, rankInCluster } from "./cluster.ts";
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
const scalarOfRank = scalarIndex("cluster_ctarank");
const scalarOfProcessor = scalarIndex("smid");

/**
 * Beginning a block is written without patterns, closures and objects that are not kept: where blocks take
 * microseconds, it is much of what V8 compiles in the first launch of a process.
 */
export class GridBlock implements Cta {
  readonly grid: Grid;
  readonly scalars: Int32Array;
  readonly shared: Views;
  readonly barriers: readonly Barrier<Warp>[];
  readonly warps: readonly Warp[];
  readonly units = new UnitStates();
  readonly slot: number;
  /** The cluster that it is in a launch without clusters. */
  readonly #alone: BlockCluster;
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
    this.#alone = new BlockCluster(1, threads);
    this.cluster = this.#alone;
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
    if (cluster === undefined) this.#alone.barrier.reset();
    this.cluster = cluster ?? this.#alone;
    this.cluster.enter(this);
    this.#writeScalars();
    if (this.shared.u8.length > 0) this.shared.u8.fill(0);
    this.units.reset();
    const { barriers, warps } = this;
    for (let i = 0; i < barriers.length; i++) barriers[i]!.reset();
    for (let i = 0; i < warps.length; i++) warps[i]!.start(kernel);
  }

  /** Sets which block of the grid it is, by its linear index. */
  place(ticket: number): void {
    const { dimensions, cluster } = this.grid;
    const row = Math.floor(ticket / dimensions[0]);
    this.ticket = ticket;
    this.id = [ticket % dimensions[0], row % dimensions[1], Math.floor(row / dimensions[1])];
    this.rank = rankInCluster(cluster.dimensions, this.id);
  }

  #writeScalars(): void {
    const { scalars, id, grid } = this;
    const size = grid.cluster.dimensions;
    for (let i = 0; i < scalarsByAxis.length; i++) {
      const at = scalarsByAxis[i]!;
      scalars[at.ctaid] = id[i]!;
      scalars[at.inCluster] = id[i]! % size[i]!;
      scalars[at.cluster] = Math.floor(id[i]! / size[i]!);
    }
    scalars[scalarOfRank] = this.rank;
    scalars[scalarOfProcessor] = this.ticket % grid.processors;
  }

  get liveWarps(): number {
    let live = 0;
    const { warps } = this;
    for (let i = 0; i < warps.length; i++) if (warps[i]!.live !== 0) live++;
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
