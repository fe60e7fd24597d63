import { wasm } from "../../../wasm/index.ts";
import { chunkState } from "../../abi/chunk-state.ts";
import { type BarrierRegion, rowOf } from "../analysis/flow/barrier-regions.ts";
import type { Suspension } from "../sync/suspension.ts";
import type { ChunkLoop } from "./chunk-loop.ts";
import type { ChunkStart } from "./chunk-start.ts";
import type { IdleTest } from "./idle-chunks.ts";
import { type KernelRun, local32 } from "./kernel-run.ts";

/** All regions of a kernel: that in which it begins, and those after its barriers. */
export type BarrierRegions = readonly [BarrierRegion, ...BarrierRegion[]];

/** Whether any chunks of a block have arrived at a barrier: locals. */
interface Arrivals {
  /** In this round. */
  readonly now: number;
  /** In the last one: they resume. */
  readonly before: number;
}

/**
 * How the chunks of a block take turns where all lanes of each arrive at barriers together: each barrier region is a
 * loop over the chunks that have arrived at the barrier before it. That is cheaper than what `ChunkTurns` does, which
 * handles everything.
 */
export class BarrierLoops {
  readonly #run: KernelRun;
  readonly #suspension: Suspension;
  /** 0 and 1 in turn: tells the chunks that have arrived at a barrier in this round from those of the last. */
  readonly #round: number;
  /** By the state that stands for a barrier at which chunks wait for their turn. */
  readonly #arrivals = new Map<number, Arrivals>();

  constructor(run: KernelRun, suspension: Suspension) {
    this.#run = run;
    this.#suspension = suspension;
    this.#round = run.scope.writer.local("i32");
  }

  /** `idleIn`: which chunks have nothing to do in a region. */
  write(
    regions: BarrierRegions,
    chunks: ChunkLoop,
    start: ChunkStart,
    idleIn: (region: BarrierRegion) => IdleTest | null,
  ): void {
    const w = this.#run.scope.writer;
    const row = rowOf(regions, this.#run.scope.chunk.analysis.code, this.#run.points.barriers);
    const inRow = new Set(row);
    const others = regions.filter((region) => !inRow.has(region));
    for (const { start: block } of others) {
      this.#arrivals.set(this.#suspension.uniformBarrierBefore(block)!, {
        now: w.local("i32"),
        before: w.local("i32"),
      });
    }
    start.beginBlock();
    const { reductions } = this.#run.scope.body;
    reductions?.begin();
    const arrivals = [...this.#arrivals.values()];
    w.assign([this.#round, ...arrivals.map((a) => a.now)].map((local) => ({ local, value: wasm.i32(0) })));
    row.forEach((region, i) => {
      const isInRow = i < row.length - 1 || others.length === 0;
      const write = (): void => {
        this.#findState();
        this.#writeRegion(region, start, isInRow);
      };
      if (i > 0) reductions?.release();
      // Chunks that are skipped keep their registers, and are at the barrier where the others arrive. None may miss
      // a vote.
      chunks.each(write, i > 0 && isInRow && reductions === null ? idleIn(region) : null);
    });
    if (others.length > 0) this.#writeRounds(others, chunks, start);
  }

  /**
   * Regions to which chunks may return, or arrive from different ones: in rounds, as long as any chunk arrives
   * anywhere.
   */
  #writeRounds(regions: readonly BarrierRegion[], chunks: ChunkLoop, start: ChunkStart): void {
    const w = this.#run.scope.writer;
    w.loop((again) => {
      this.#nextRound();
      for (const region of regions) {
        const state = this.#suspension.uniformBarrierBefore(region.start)!;
        w.get(this.#arrivalsAt(state).before);
        w.if(() => {
          chunks.each(() => {
            this.#findState();
            w.get(this.#suspension.state);
            w.memory("i32.load", 4);
            w.value(wasm.op("i32.sub", wasm.i32(2 * state + 1), local32(this.#round)));
            w.op("i32.eq");
            w.if(() => this.#writeRegion(region, start, false));
          });
        });
      }
      const arrived = [...this.#arrivals.values()].map(({ now }) => local32(now));
      w.value(arrived.reduce((a, b) => wasm.op("i32.or", a, b)));
      w.brIf(again);
    });
  }

  /** Writes a region for a chunk that begins it. `isInRow`: all chunks continue in the same region, or exit. */
  #writeRegion(region: BarrierRegion, start: ChunkStart, isInRow: boolean): void {
    const { writer: w, body } = this.#run.scope;
    const state = this.#suspension.uniformBarrierBefore(region.start);
    const written = start.beginRegion(
      region,
      state === null ? null : (touched) => this.#suspension.restoreAt(state, this.#localsOf(touched)),
    );
    const result = body.reductions?.take(region.start) ?? null;
    const changed = result === null ? written : new Set(written).add(result);
    const arrive = (at: number): void => {
      if (isInRow) return;
      this.#suspension.setState(wasm.op("i32.add", local32(this.#round), wasm.i32(2 * at)));
      w.assign([{ local: this.#arrivalsAt(at).now, value: wasm.i32(1) }]);
    };
    const write = (): void => {
      body.writeRegion(region, this.#run.points.barriers, start.isWhole);
      if (!isInRow) this.#suspension.setState(wasm.i32(chunkState.ended));
    };
    this.#suspension.turn(write, { changed: this.#localsOf(changed), arrive });
  }

  #arrivalsAt(state: number): Arrivals {
    return this.#arrivals.get(state)!;
  }

  #nextRound(): void {
    this.#run.scope.body.reductions?.release();
    this.#run.scope.writer.assign([
      { local: this.#round, value: wasm.op("i32.xor", local32(this.#round), wasm.i32(1)) },
      ...[...this.#arrivals.values()].flatMap(({ now, before }) => [
        { local: before, value: local32(now) },
        { local: now, value: wasm.i32(0) },
      ]),
    ]);
  }

  #localsOf(registers: Iterable<number>): ReadonlySet<number> {
    return new Set([...registers].flatMap((r) => [...this.#run.scope.chunk.locals(r)]));
  }

  #findState(): void {
    const { layout, quads } = this.#run.scope.unit;
    const chunk = wasm.op("i32.shr_u", local32(this.#run.first), wasm.i32(Math.log2(4 * quads)));
    const states = wasm.op("i32.add", local32(this.#run.context), wasm.i32(layout.chunkStates));
    this.#suspension.find(states, chunk, this.#suspension.bytes);
  }
}
