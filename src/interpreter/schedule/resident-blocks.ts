import { emit } from "../../machine/events.ts";
import { type BlockRange, blocksIn } from "../../machine/launch.ts";
import { type Restore, restoreAll } from "../../machine/memory/checkpoint.ts";
import { BlockCluster, clusterSize } from "../../machine/state/cluster.ts";
import { GridBlock } from "../../machine/state/cta.ts";
import type { Cluster, Cta, FunctionCode, Grid } from "../../machine/state/launch-state.ts";
import { PendingEffects } from "../../machine/state/pending-effects.ts";
import { clusterOrder, nthBlock } from "../../program/clusters.ts";
import { mostResident } from "../../program/resident-limit.ts";
import { endUnits } from "../../program/units/index.ts";

/**
 * No block. Most blocks run alone: lists of one and of none each have one form then, which V8 relies on in the code
 * that it optimizes first.
 */
const noBlocks: readonly Cta[] = [];

/** The blocks of a grid that have begun and not ended, in their order: that of the grid, or cluster by cluster. */
export class ResidentBlocks {
  readonly total: number;
  /** The blocks that run. */
  readonly #ranges: readonly BlockRange[];
  readonly #grid: Grid;
  readonly #kernel: FunctionCode;
  readonly #sharedBytes: number;
  readonly #max: number;
  /** Whether asynchronous operations of blocks that begin take effect as late as they may. */
  late = false;
  /** Blocks of a cluster, which begin together, and the cluster of the last block that has begun. */
  readonly #clusterSize: number;
  #cluster: Cluster | undefined;
  readonly #idle: Cta[] = [];
  #blocks: readonly Cta[] = noBlocks;
  #begun = 0;
  #made = 0;
  /** In a launch with clusters: of the nth block that runs, the place in the order of all blocks. */
  #order: ((n: number) => number) | null = null;
  #done = 0;

  /** `ranges`: the blocks that run, in order; default: all. */
  constructor(grid: Grid, kernel: FunctionCode, sharedBytes: number, ranges?: readonly BlockRange[]) {
    const [x, y, z] = grid.dimensions;
    this.#ranges = ranges ?? [[0, x * y * z]];
    this.total = blocksIn(this.#ranges);
    this.#grid = grid;
    this.#kernel = kernel;
    this.#sharedBytes = sharedBytes;
    this.#clusterSize = clusterSize(grid);
    const max = Math.min(mostResident(grid.block), grid.threads?.residentGroups ?? Number.POSITIVE_INFINITY);
    this.#max = max - (max % this.#clusterSize);
  }

  /** A new list after every change. */
  get blocks(): readonly Cta[] {
    return this.#blocks;
  }

  get done(): number {
    return this.#done;
  }

  get ended(): boolean {
    return this.#done === this.total;
  }

  /** Begins so many more blocks, in whole clusters, as far as there are any. */
  open(count: number): void {
    const size = this.#clusterSize;
    const wanted = Math.ceil(count / size) * size;
    // Of a cluster some blocks may have ended.
    const most = this.#max - this.#blocks.length;
    const room = Math.min(wanted, this.total - this.#begun, most - (most % size));
    if (room <= 0) return;
    if (room === 1 && this.#blocks.length === 0) {
      this.#blocks = [this.#begin()];
      return;
    }
    const blocks = this.#blocks.slice();
    for (let i = 0; i < room; i++) blocks.push(this.#begin());
    this.#blocks = blocks;
  }

  #begin(): Cta {
    const cta = this.#idle.pop() ?? new GridBlock(this.#grid, this.#sharedBytes, this.#made++);
    cta.start(this.#indexOf(this.#begun), this.#kernel, this.#clusterOf(this.#begun));
    cta.units.late = this.late;
    this.#begun++;
    const { observers } = this.#grid;
    if (observers !== null) emit(observers, "blockBegin", cta);
    return cta;
  }

  /** The cluster of the nth block that runs; undefined: one of its own. */
  #clusterOf(n: number): Cluster | undefined {
    if (this.#clusterSize === 1) return undefined;
    const [x, y, z] = this.#grid.block;
    if (n % this.#clusterSize === 0) this.#cluster = new BlockCluster(this.#clusterSize, x * y * z);
    return this.#cluster;
  }

  /** The linear index of the nth block that runs. */
  #indexOf(n: number): number {
    const { dimensions, cluster } = this.#grid;
    // Whole clusters run: they are in the order of their first blocks.
    if (this.#clusterSize > 1) this.#order ??= clusterOrder(dimensions, cluster.dimensions, this.#ranges);
    if (this.#order !== null) return nthBlock(dimensions, cluster.dimensions, this.#order(n));
    let before = 0;
    for (let i = 0; i < this.#ranges.length; i++) {
      const range = this.#ranges[i]!;
      if (n < before + range[1] - range[0]) return range[0] + n - before;
      before += range[1] - range[0];
    }
    throw new RangeError(`there is no block ${n} to run`);
  }

  /** Covers which blocks are resident, and how far their clusters are; not the state of the blocks. */
  checkpoint(): Restore {
    const idle = [...this.#idle];
    const [blocks, begun, made, done] = [this.#blocks, this.#begun, this.#made, this.#done];
    const cluster = this.#cluster;
    const clusters = restoreAll([...new Set(blocks.map((cta) => cta.cluster))].map((one) => one.checkpoint()));
    return () => {
      this.#idle.splice(0, this.#idle.length, ...idle);
      [this.#blocks, this.#begun, this.#made, this.#done] = [blocks, begun, made, done];
      this.#cluster = cluster;
      clusters();
    };
  }

  /** Asynchronous operations that nobody waits for take effect. Returns whether there were any. */
  completeEffects(): boolean {
    let any = false;
    for (const { units } of this.#blocks) if (units.existing(PendingEffects)?.completeAll() === true) any = true;
    return any;
  }

  /**
   * A block has ended.
   *
   * @throws Fault if it has not given back what it had to
   */
  close(cta: Cta): void {
    const { units } = cta;
    // Of most blocks units remember nothing, and need not be loaded.
    if (!units.isEmpty) {
      units.existing(PendingEffects)?.completeAll();
      endUnits(units);
    }
    const { observers } = this.#grid;
    if (observers !== null) emit(observers, "blockEnd", cta);
    this.#blocks = this.#blocks.length === 1 ? noBlocks : this.#blocks.filter((other) => other !== cta);
    this.#idle.push(cta);
    this.#done++;
  }
}
