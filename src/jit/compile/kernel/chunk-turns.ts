import { type Wasm, wasm } from "../../../wasm/index.ts";
import { chunkState } from "../../abi/chunk-state.ts";
import { pushWord, storeWord } from "../module/function-context.ts";
import { callHost, giveUpIf, importHost } from "../module/host-calls.ts";
import type { Suspension } from "../sync/suspension.ts";
import type { ChunkLoop } from "./chunk-loop.ts";
import type { ChunkStart } from "./chunk-start.ts";
import { type KernelRun, local32 } from "./kernel-run.ts";

/** Barriers after which a block that has waited for others stops again. */
const fewestBarriers = 64;

/** For blocks that may stop when all of their chunks only wait: locals. */
interface Patience {
  /** Rounds of waiting that are left. */
  readonly left: number;
  /** Barriers that are left: a block may also wait in a loop with a barrier, for what its threads read after it. */
  readonly barriers: number;
  /** Whether any chunk has done more than yield, in this round. */
  readonly moved: number;
  /** The state of the chunk before its turn. */
  readonly before: number;
}

/**
 * How the chunks of a block take turns where lanes may suspend: round robin, each until all of its lanes have exited or
 * suspended. When all that are left wait at barriers, they resume; those that have only yielded resume in any case.
 */
export class ChunkTurns {
  readonly #run: KernelRun;
  readonly #suspension: Suspension;
  /** Whether any chunk has yielded, and whether any has not ended, in this round. */
  readonly #yielded: number;
  readonly #waits: number;
  /** Whether those at barriers resume in this round. */
  readonly #released: number;
  /** Whether any chunk has ended. */
  readonly #ended: number;
  readonly #patience: Patience | null;

  /** `mayStop`: whether a block may stop and resume later, since it only waits for other blocks. */
  constructor(run: KernelRun, suspension: Suspension, mayStop: boolean) {
    const w = run.scope.writer;
    this.#run = run;
    this.#suspension = suspension;
    this.#yielded = w.local("i32");
    this.#waits = w.local("i32");
    this.#released = w.local("i32");
    this.#ended = w.local("i32");
    const [left, barriers, moved, before] = mayStop ? [0, 1, 2, 3].map(() => w.local("i32")) : [];
    this.#patience = mayStop ? { left: left!, barriers: barriers!, moved: moved!, before: before! } : null;
  }

  write(chunks: ChunkLoop, start: ChunkStart): void {
    const { unit, writer: w, body } = this.#run.scope;
    this.#beginOrResume(() => {
      start.beginBlock();
      this.#clearStates();
      body.reductions?.begin();
    });
    w.assign([{ local: this.#released, value: wasm.i32(0) }]);
    w.loop((again) => {
      w.assign([
        { local: this.#yielded, value: wasm.i32(0) },
        { local: this.#waits, value: wasm.i32(0) },
        { local: this.#ended, value: wasm.i32(0) },
      ]);
      if (this.#patience !== null) w.assign([{ local: this.#patience.moved, value: local32(this.#released) }]);
      this.#eachWithTurn(chunks, (state) => {
        this.#takeTurn(state, start);
        this.#note(state);
      });
      const { warpWaits } = body;
      if (warpWaits !== null) {
        w.value(wasm.op("i32.eqz", local32(this.#yielded)));
        w.if(() => warpWaits.endIfStuck());
      }
      this.#stopAfterBarriers();
      // If no chunk has yielded, all that are left wait at the barrier.
      if (unit.graph.countsBarriers || body.counted !== null) this.#settleBarriers();
      else w.assign([{ local: this.#released, value: wasm.op("i32.eqz", local32(this.#yielded)) }]);
      const { reductions } = body;
      if (reductions !== null) {
        w.get(this.#released);
        w.if(() => reductions.release());
      }
      this.#stopIfOnlyWaiting();
      if (unit.shape.width !== null) this.#giveUpIfOthersEnded();
      w.value(wasm.op("i32.or", local32(this.#yielded), local32(this.#waits)));
      w.brIf(again);
    });
  }

  /** Chunks whose turn it is. While one polls, all the others of a large block may wait at a barrier. */
  #eachWithTurn(chunks: ChunkLoop, write: (state: number) => void): void {
    const w = this.#run.scope.writer;
    const state = w.local("i32");
    const isUniformBarrier = wasm.op("i32.ge_s", local32(state), wasm.i32(chunkState.uniformBarriers));
    const isAtBarrier = wasm.op("i32.or", this.#is(state, chunkState.atBarrier), isUniformBarrier);
    const waits = wasm.op("i32.and", isAtBarrier, wasm.op("i32.eqz", local32(this.#released)));
    const alone = wasm.op("i32.or", this.#is(state, chunkState.ended), waits);
    chunks.each(
      () => write(state),
      { invariants: [], alone, toTheEnd: null },
      {
        compute: () => {
          this.#findState();
          this.#loadState();
          w.set(state);
        },
        endTurn: () => this.#noteLeft(state),
        restart: () => {},
      },
    );
    w.release(state);
  }

  /** Runs the chunk whose state has been found, and whose turn it is. */
  #takeTurn(state: number, start: ChunkStart): void {
    const w = this.#run.scope.writer;
    if (this.#patience !== null) w.assign([{ local: this.#patience.before, value: local32(state) }]);
    this.#suspension.turn(() => {
      const run = w.begin("block");
      const restore = w.begin("block");
      const uniformBarriers = this.#suspension.uniformBarriers.map(() => w.begin("block")).reverse();
      const fresh = w.begin("block");
      const suspended = w.begin("block");
      start.prepare();
      w.get(state);
      // By the chunk's state; of the first ones only `fresh` is a beginning.
      w.brTable([fresh, suspended, suspended, suspended, suspended, ...uniformBarriers], suspended);
      w.end();
      // Lanes have suspended at different points.
      w.br(restore);
      w.end();
      start.activate();
      this.#suspension.reset();
      start.begin();
      w.br(run);
      this.#resumeUniformBarriers(start, () => w.br(run));
      w.end();
      this.#resumeSuspended(state);
      w.end();
      this.#run.scope.body.write(start.isWhole);
      this.#suspendOrEnd();
    });
  }

  /**
   * By barrier at which all lanes of the chunk have arrived together, in the order of the states: they begin after it.
   */
  #resumeUniformBarriers(start: ChunkStart, run: () => void): void {
    const { writer: w, body } = this.#run.scope;
    for (const [i, { block }] of this.#suspension.uniformBarriers.entries()) {
      w.end();
      start.activate();
      this.#suspension.reset();
      body.flow.reset();
      this.#suspension.restoreAt(chunkState.uniformBarriers + i);
      body.begin();
      body.reductions?.take(block);
      body.flow.enterAt(block);
      run();
    }
  }

  /** Lanes that have suspended at different points resume: those that have yielded, or those at barriers. */
  #resumeSuspended(state: number): void {
    const { unit, writer: w, body, context } = this.#run.scope;
    const isYielded = this.#is(state, chunkState.yielded);
    body.flow.reset();
    this.#suspension.restore();
    body.counted?.resume();
    body.begin();
    if (unit.suspendedFrames.isUsed) storeWord(w, context, "resumesYielded", isYielded);
    w.value(isYielded);
    w.if(
      () => body.flow.resume("yield"),
      () => {
        body.reductions?.resume();
        body.flow.resume("barrier");
      },
    );
  }

  /** Lanes have exited, or have suspended at different points. */
  #suspendOrEnd(): void {
    const { writer: w, body } = this.#run.scope;
    const [yielded, waits] = [this.#suspension.anySuspended("yield"), this.#suspension.anySuspended("barrier")];
    const state = w.local("i32");
    const ended = wasm.i32(chunkState.ended);
    const suspended = wasm.select(waits, wasm.i32(chunkState.atBarrier), ended);
    w.assign([{ local: state, value: wasm.select(yielded, wasm.i32(chunkState.yielded), suspended) }]);
    this.#suspension.setState(local32(state));
    w.value(wasm.op("i32.ne", local32(state), wasm.i32(chunkState.yielded)));
    w.if(() => body.warpWaits?.noteStuck());
    w.value(wasm.op("i32.ne", local32(state), ended));
    w.if(() => this.#suspension.save());
    w.release(state);
  }

  /** Notes the chunk's state after its turn, for the end of the round. */
  #note(state: number): void {
    const w = this.#run.scope.writer;
    this.#loadState();
    w.set(state);
    this.#noteLeft(state);
    const isYielded = this.#is(state, chunkState.yielded);
    w.assign([{ local: this.#yielded, value: wasm.op("i32.or", local32(this.#yielded), isYielded) }]);
    if (this.#patience === null) return;
    const { moved, before } = this.#patience;
    const hasMoved = wasm.op("i32.ne", local32(state), local32(before));
    const value = wasm.op("i32.or", local32(moved), wasm.op("i32.gt_u", hasMoved, isYielded));
    w.assign([{ local: moved, value }]);
  }

  /** Notes whether the chunk has ended. */
  #noteLeft(state: number): void {
    const isLeft = wasm.op("i32.ne", local32(state), wasm.i32(chunkState.ended));
    this.#run.scope.writer.assign([
      { local: this.#ended, value: wasm.op("i32.or", local32(this.#ended), wasm.op("i32.eqz", isLeft)) },
      { local: this.#waits, value: wasm.op("i32.or", local32(this.#waits), isLeft) },
    ]);
  }

  #loadPatience({ left }: Patience): void {
    const { writer: w, context } = this.#run.scope;
    pushWord(w, context, "patience");
    w.set(left);
  }

  #loadBarriers({ left, barriers }: Patience): void {
    const few = wasm.i32(fewestBarriers);
    const isMore = wasm.op("i32.gt_s", local32(left), few);
    this.#run.scope.writer.assign([{ local: barriers, value: wasm.select(isMore, local32(left), few) }]);
  }

  #beginOrResume(begin: () => void): void {
    if (this.#patience === null) {
      begin();
      return;
    }
    const { writer: w, context } = this.#run.scope;
    this.#loadPatience(this.#patience);
    this.#loadBarriers(this.#patience);
    pushWord(w, context, "resumed");
    w.if(() => storeWord(w, context, "resumed", wasm.i32(0)), begin);
  }

  /** After a round in which no chunk did anything but yield, and some patience, it is the turn of other blocks. */
  #stopIfOnlyWaiting(): void {
    const patience = this.#patience;
    if (patience === null) return;
    const { left, moved } = patience;
    const { writer: w } = this.#run.scope;
    w.get(moved);
    w.if(
      () => this.#loadPatience(patience),
      () => {
        w.assign([{ local: left, value: wasm.op("i32.sub", local32(left), wasm.i32(1)) }]);
        w.value(wasm.op("i32.le_s", local32(left), wasm.i32(0)));
        w.if(() => this.#stop());
      },
    );
  }

  /**
   * After many rounds that began after a barrier, it is the turn of other blocks: what a loop with a barrier waits for
   * may be theirs to do. Those that have come to a barrier since then find out later that all have.
   */
  #stopAfterBarriers(): void {
    const patience = this.#patience;
    if (patience === null) return;
    const { writer: w } = this.#run.scope;
    w.get(this.#released);
    w.if(() => {
      const left = wasm.op("i32.sub", local32(patience.barriers), wasm.i32(1));
      w.assign([{ local: patience.barriers, value: left }]);
      const isAtEnd = wasm.op("i32.le_s", local32(patience.barriers), wasm.i32(0));
      w.value(wasm.op("i32.and", isAtEnd, wasm.op("i32.or", local32(this.#yielded), local32(this.#waits))));
      w.if(() => this.#stop());
    });
  }

  /** The block stops here, until it is its turn again. */
  #stop(): void {
    const { writer: w, context } = this.#run.scope;
    storeWord(w, context, "resumed", wasm.i32(1));
    w.get(this.#run.blockIndex);
    w.return();
  }

  /** Hardware threads wait for all others, those that have ended too: for ever. The interpreter says where. */
  #giveUpIfOthersEnded(): void {
    const { unit, writer } = this.#run.scope;
    const waits = wasm.op("i32.and", local32(this.#waits), local32(this.#released));
    giveUpIf(unit.module, writer, wasm.op("i32.and", waits, local32(this.#ended)), "endedThreads");
  }

  /** The host looks whether chunks at barriers can resume. */
  #settleBarriers(): void {
    const { unit, writer: w } = this.#run.scope;
    importHost(unit.module, "settleBarriers");
    w.get(this.#waits);
    w.if(() => {
      w.values([local32(this.#run.context), local32(this.#yielded)]);
      callHost(w, "settleBarriers");
    });
  }

  /** All chunks are to begin. */
  #clearStates(): void {
    const { unit, writer: w, context } = this.#run.scope;
    const threads = w.local("i32");
    pushWord(w, context, "threads");
    w.set(threads);
    const chunks = this.#chunksOf(wasm.op("i32.add", local32(threads), wasm.i32(this.#lanes - 1)));
    w.value(wasm.op("i32.add", local32(this.#run.context), wasm.i32(unit.layout.chunkStates)));
    w.i32(chunkState.fresh);
    w.value(wasm.op("i32.mul", chunks, wasm.i32(this.#stride)));
    w.memoryFill();
  }

  /** Bytes from the state of one chunk to that of the next. */
  get #stride(): number {
    return this.#suspension.bytes;
  }

  /** From chunk to chunk. */
  get #lanes(): number {
    const { shape, quads } = this.#run.scope.unit;
    return shape.width ?? 4 * quads;
  }

  #chunksOf(lanes: Wasm): Wasm {
    const shift = Math.log2(this.#lanes);
    if (Number.isInteger(shift)) return wasm.op("i32.shr_u", lanes, wasm.i32(shift));
    return wasm.op("i32.div_u", lanes, wasm.i32(this.#lanes));
  }

  #is(state: number, value: number): Wasm {
    return wasm.op("i32.eq", local32(state), wasm.i32(value));
  }

  #loadState(): void {
    const w = this.#run.scope.writer;
    w.get(this.#suspension.state);
    w.memory("i32.load", 4);
  }

  #findState(): void {
    const { unit, writer, context } = this.#run.scope;
    const states = wasm.op("i32.add", local32(this.#run.context), wasm.i32(unit.layout.chunkStates));
    this.#suspension.find(states, this.#chunksOf(local32(this.#run.first)), this.#stride);
    if (unit.suspendedFrames.isUsed) storeWord(writer, context, "state", local32(this.#suspension.state));
  }
}
