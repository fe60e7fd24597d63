import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import { chunkState } from "../../abi/chunk-state.ts";
import { type BarrierRegion, rowOf, touchedIn } from "../analysis/flow/barrier-regions.ts";
import type { Chunk } from "../emit/chunk.ts";
import type { ModuleUnit } from "../module/module-unit.ts";
import type { Suspension } from "../sync/suspension.ts";
import type { Body } from "./body.ts";
import type { ChunkStart } from "./chunk-turns.ts";
import type { Idle } from "./idle-chunks.ts";

/** Whether any chunks of a block have come to a barrier: locals. */
interface Arrivals {
  /** In this round. */
  readonly now: number;
  /** In the last one: they go on. */
  readonly before: number;
}

/**
 * How the chunks of a block take turns where all lanes of each come to barriers together: the code between one barrier and the
 * next is a loop over the chunks that have come to it. That is cheaper than what `ChunkTurns` does, which can do everything.
 */
export class BarrierLoops {
  readonly #unit: ModuleUnit;
  readonly #chunk: Chunk;
  readonly #writer: FunctionWriter;
  readonly #context: number;
  readonly #first: number;
  readonly #suspension: Suspension;
  readonly #body: Body;
  readonly #barriers: ReadonlyMap<number, number>;
  /** 0 and 1 in turn: tells the chunks that have come to a barrier in this round from those of the last. */
  readonly #round: number;
  /** By the state that stands for a barrier at which chunks wait for their turn. */
  readonly #arrivals = new Map<number, Arrivals>();

  /** `barriers`: by the block that ends with one, the block behind it. */
  constructor(
    unit: ModuleUnit,
    chunk: Chunk,
    context: number,
    first: number,
    suspension: Suspension,
    body: Body,
    barriers: ReadonlyMap<number, number>,
  ) {
    const { writer } = chunk;
    this.#unit = unit;
    this.#chunk = chunk;
    this.#writer = writer;
    this.#context = context;
    this.#first = first;
    this.#suspension = suspension;
    this.#body = body;
    this.#barriers = barriers;
    this.#round = writer.local("i32");
  }

  /**
   * `eachChunk`: a loop over the chunks, but those that are idle; `idleIn`: which have nothing to do in a phase;
   * `beginBlock`: what comes first in a block.
   */
  write(
    phases: readonly [BarrierRegion, ...BarrierRegion[]],
    eachChunk: (run: () => void, idle?: Idle | null) => void,
    idleIn: (phase: BarrierRegion) => Idle | null,
    beginBlock: () => void,
    start: ChunkStart,
  ): void {
    const w = this.#writer;
    const row = rowOf(phases, this.#chunk.analysis.code, this.#barriers);
    const inRow = new Set(row);
    const others = phases.filter((phase) => !inRow.has(phase));
    for (const { start: block } of others) {
      this.#arrivals.set(this.#suspension.meetingBefore(block)!, { now: w.local("i32"), before: w.local("i32") });
    }
    beginBlock();
    const arrivals = [...this.#arrivals.values()];
    w.assign([this.#round, ...arrivals.map((a) => a.now)].map((local) => ({ local, value: wasm.i32(0) })));
    row.forEach((phase, i) => {
      const isInRow = i < row.length - 1 || others.length === 0;
      const run = (): void => {
        this.#findState();
        this.#run(phase, start, isInRow);
      };
      // Those that are passed over keep what they have, and are where the others come to.
      eachChunk(run, i > 0 && isInRow ? idleIn(phase) : null);
    });
    if (others.length === 0) return;
    w.loop((again) => {
      this.#nextRound();
      for (const phase of others) {
        const state = this.#suspension.meetingBefore(phase.start)!;
        w.get(this.#arrivalsAt(state).before);
        w.if(() => {
          eachChunk(() => {
            this.#findState();
            w.get(this.#suspension.state);
            w.memory("i32.load", 4);
            w.value(wasm.op("i32.sub", wasm.i32(2 * state + 1), this.#local(this.#round)));
            w.op("i32.eq");
            w.if(() => this.#run(phase, start, false));
          });
        });
      }
      const arrived = arrivals.map(({ now }) => this.#local(now));
      w.value(arrived.reduce((a, b) => wasm.op("i32.or", a, b)));
      w.brIf(again);
    });
  }

  /** Writes a phase for a chunk that begins it. `isInRow`: all chunks go on together, or end. */
  #run(phase: BarrierRegion, start: ChunkStart, isInRow: boolean): void {
    const w = this.#writer;
    const { liveness } = this.#chunk.analysis.code;
    const { touched, written } = touchedIn(this.#chunk.analysis.code, phase);
    const changed = new Set(written);
    start.prepare();
    start.activate();
    const state = this.#suspension.meetingBefore(phase.start);
    if (state === null) {
      start.begin();
      // Registers that are read before they are written have begun as zeros.
      liveness.liveIn(phase.start).forEach((r) => {
        changed.add(r);
      });
    } else {
      this.#body.flow.reset();
      this.#suspension.restoreMeeting(state, this.#localsOf(touched));
      this.#body.begin();
    }
    this.#suspension.inPhase(this.#localsOf(changed), (at) => {
      if (isInRow) return;
      this.#suspension.setState(wasm.op("i32.add", this.#local(this.#round), wasm.i32(2 * at)));
      w.assign([{ local: this.#arrivalsAt(at).now, value: wasm.i32(1) }]);
    });
    this.#suspension.turnEnd = w.begin("block");
    this.#body.enterPhase(phase, this.#barriers);
    this.#body.write(start.isWhole);
    if (!isInRow) this.#suspension.setState(wasm.i32(chunkState.ended));
    w.end();
  }

  #arrivalsAt(state: number): Arrivals {
    return this.#arrivals.get(state)!;
  }

  #nextRound(): void {
    this.#writer.assign([
      { local: this.#round, value: wasm.op("i32.xor", this.#local(this.#round), wasm.i32(1)) },
      ...[...this.#arrivals.values()].flatMap(({ now, before }) => [
        { local: before, value: this.#local(now) },
        { local: now, value: wasm.i32(0) },
      ]),
    ]);
  }

  #localsOf(registers: Iterable<number>): ReadonlySet<number> {
    return new Set([...registers].flatMap((r) => [...this.#chunk.locals(r)]));
  }

  #findState(): void {
    const { layout, quads } = this.#unit;
    const chunk = wasm.op("i32.shr_u", this.#local(this.#first), wasm.i32(Math.log2(4 * quads)));
    this.#suspension.find(
      wasm.op("i32.add", this.#local(this.#context), wasm.i32(layout.states)),
      chunk,
      this.#suspension.bytes,
    );
  }

  #local(local: number): Wasm {
    return wasm.local("i32", local);
  }
}
