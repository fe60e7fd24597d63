import type { ClusterQuestion } from "../../ir/index.ts";
import { popcount } from "../../ir/lane-mask.ts";
import type { FaultPlace } from "../../machine/faults/fault.ts";
import { BlockCluster, clusterSize } from "../../machine/state/cluster.ts";
import type { Cluster, Cta, Grid } from "../../machine/state/launch-state.ts";
import { arrivedTwice, notArrived } from "../../program/cluster-rules.ts";
import { GivenUp } from "../abi/refusal.ts";

/**
 * Answers in a row that let no lane go on, after which the launch is given up: the interpreter says who waits where.
 */
const patience = 500_000;

/** A cluster whose blocks run in contexts. */
class RunningCluster extends BlockCluster {
  /** By rank, threads that have not exited. */
  readonly live: number[];
  begun = 0;

  constructor(size: number, threads: number) {
    super(size, threads);
    this.live = Array.from({ length: size }, () => threads);
  }

  override block(rank: number): Cta | "exited" | "absent" | null {
    const block = super.block(rank);
    if (block === "absent") throw new GivenUp("a block of a cluster accesses another that has not begun");
    return block;
  }

  override enter(cta: Cta): void {
    if (super.block(cta.rank) !== "absent") return;
    super.enter(cta);
    this.begun++;
  }
}

/** A block, and the context in which it runs. */
interface RunningBlock {
  readonly n: number;
  readonly context: number;
}

/**
 * The clusters of a launch of compiled code, whose blocks take turns: they tell what they do at the barrier of their
 * cluster, and ask whether they may go on.
 */
export class LaunchClusters {
  readonly size: number;
  readonly #threads: number;
  readonly #clusters = new Map<number, RunningCluster>();
  readonly #contexts = new WeakMap<Cta, number>();
  #vain = 0;

  constructor(grid: Grid) {
    const [x, y, z] = grid.block;
    this.size = clusterSize(grid);
    this.#threads = x * y * z;
  }

  /** The cluster of the nth block that begins. */
  of(n: number): Cluster {
    return this.#of(Math.floor(n / this.size));
  }

  #of(number: number): RunningCluster {
    let cluster = this.#clusters.get(number);
    if (cluster === undefined) this.#clusters.set(number, (cluster = new RunningCluster(this.size, this.#threads)));
    return cluster;
  }

  /** The context in which a block runs that others of its cluster know. */
  contextOf(cta: Cta): number {
    return this.#contexts.get(cta)!;
  }

  /**
   * Lanes tell or ask something. `n`: which block it is, in the order in which blocks begin. Returns the lanes for
   * which the answer is yes.
   *
   * @throws Fault if they misuse the barrier
   */
  ask(question: ClusterQuestion, { n, context }: RunningBlock, at: FaultPlace): number {
    const { lanes, activation } = at;
    const { warp } = activation;
    const cluster = this.#of(Math.floor(n / this.size));
    const { barrier } = cluster;
    switch (question) {
      case "begun":
        cluster.enter(warp.cta);
        this.#contexts.set(warp.cta, context);
        return this.#answer(cluster.begun === this.size ? lanes : 0);
      case "arrives": {
        const owing = barrier.owing(warp, lanes);
        if (owing !== 0) throw arrivedTwice({ ...at, lanes: owing });
        if (barrier.arrive(warp, lanes)) barrier.complete();
        return this.#answer(lanes);
      }
      case "passed": {
        const absent = lanes & ~barrier.owing(warp, lanes);
        if (absent !== 0) throw notArrived({ ...at, lanes: absent });
        const passed = lanes & ~barrier.pending(warp, lanes);
        barrier.pass(warp, passed);
        return this.#answer(passed);
      }
      case "exits":
        this.#exit(cluster, n, warp, lanes);
        return this.#answer(lanes);
    }
  }

  #exit(cluster: RunningCluster, n: number, warp: FaultPlace["activation"]["warp"], lanes: number): void {
    if (cluster.barrier.exit(warp, lanes)) cluster.barrier.complete();
    const { rank } = warp.cta;
    cluster.live[rank]! -= popcount(lanes);
    if (cluster.live[rank] === 0) cluster.leave(warp.cta);
    if (cluster.live.every((threads) => threads === 0)) this.#clusters.delete(Math.floor(n / this.size));
  }

  #answer(lanes: number): number {
    this.#vain = lanes === 0 ? this.#vain + 1 : 0;
    if (this.#vain > patience) throw new GivenUp("the blocks of a cluster wait for each other for very long");
    return lanes;
  }
}
