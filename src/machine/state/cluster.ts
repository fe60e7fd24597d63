import { clusterWindows, windows } from "../../ir/index.ts";
import type { Restore } from "../memory/checkpoint.ts";
import type { Dim3 } from "../reports/report.ts";
import { ClusterBarrier } from "./cluster-barrier.ts";
import type { Cluster, Cta, Grid } from "./launch-state.ts";

/** The place of a block in its cluster, and that of the cluster in the grid. */
export interface ClusterPlace {
  readonly ctaid: Dim3;
  readonly rank: number;
  readonly clusterid: Dim3;
}

/** Where the block with an index (x, y, z) is. */
export function placeInCluster({ cluster: { dimensions } }: Pick<Grid, "cluster">, id: Dim3): ClusterPlace {
  const [cx, cy, cz] = dimensions;
  return {
    ctaid: [id[0] % cx, id[1] % cy, id[2] % cz],
    rank: rankInCluster(dimensions, id),
    clusterid: [Math.floor(id[0] / cx), Math.floor(id[1] / cy), Math.floor(id[2] / cz)],
  };
}

/** The linear index in its cluster of the block with an index (x, y, z). `size`: of the cluster. */
export const rankInCluster = (size: Dim3, id: Dim3): number =>
  (id[0] % size[0]) + size[0] * ((id[1] % size[1]) + size[1] * (id[2] % size[2]));

/** Blocks of a cluster. */
export const clusterSize = ({ cluster: { dimensions } }: Pick<Grid, "cluster">): number =>
  dimensions[0] * dimensions[1] * dimensions[2];

/** The blocks of a cluster that run together: see `Cluster`. */
export class BlockCluster implements Cluster {
  readonly size: number;
  readonly barrier: ClusterBarrier;
  readonly #blocks: (Cta | "exited" | "absent")[];

  /** `threads`: those of a block. */
  constructor(size: number, threads: number) {
    this.size = size;
    this.barrier = new ClusterBarrier(size * threads);
    this.#blocks = new Array<Cta | "exited" | "absent">(size).fill("absent");
  }

  block(rank: number): Cta | "exited" | "absent" | null {
    return this.#blocks[rank] ?? null;
  }

  enter(cta: Cta): void {
    this.#blocks[cta.rank] = cta;
  }

  leave(cta: Cta): void {
    this.#blocks[cta.rank] = "exited";
  }

  checkpoint(): Restore {
    const blocks = [...this.#blocks];
    const barrier = this.barrier.checkpoint();
    return () => {
      this.#blocks.splice(0, blocks.length, ...blocks);
      barrier();
    };
  }
}

/** The shared memory that an address of the shared window means to a block. */
export interface SharedOwner {
  /** The block that has it; or why there is none. */
  readonly block: Cta | "exited" | "absent" | null;
  readonly rank: number;
  /** The address that the same byte has in the block's own window. */
  readonly low: number;
}

const halfStride = clusterWindows.stride / 2;

/** Finds whose shared memory an address (lower half) of the shared window means. */
export function sharedOwner(cta: Cta, low: number): SharedOwner {
  const { pair, ranks, stride, maxRank } = clusterWindows;
  const window = Math.floor((low - ranks + halfStride) / stride);
  if (window >= 0 && window <= maxRank) return ownerOfRank(cta, window, low - ranks - window * stride);
  if (low >= pair && low < pair + halfStride) return ownerOfRank(cta, cta.rank & ~1, low - pair);
  return { block: cta, rank: cta.rank, low };
}

const ownerOfRank = (cta: Cta, rank: number, offset: number): SharedOwner => ({
  block: rank === cta.rank ? cta : cta.cluster.block(rank),
  rank,
  low: windows.shared.start + offset,
});
