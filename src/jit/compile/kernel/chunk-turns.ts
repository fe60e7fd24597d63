import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import { chunkState } from "../../abi/chunk-state.ts";
import type { HeaderWord } from "../../abi/context-layout.ts";
import { callHost, giveUpIf, importHost } from "../module/host-calls.ts";
import type { ModuleUnit } from "../module/module-unit.ts";
import type { Suspension } from "../sync/suspension.ts";
import type { Body } from "./body.ts";

/** What is done for a chunk before it runs. */
export interface ChunkStart {
  /** 1 where all lanes have a thread. */
  readonly isWhole: Wasm;
  /** Whenever it begins or goes on. */
  readonly prepare: () => void;
  /** All lanes that have a thread become active. */
  readonly activate: () => void;
  /** When it begins. */
  readonly begin: () => void;
}

/** Where a block may stop in which all only wait: locals. */
interface Stop {
  readonly ticket: number;
  /** Rounds of waiting that are left. */
  readonly patience: number;
  /** Whether any chunk has done more than to give way, in this round. */
  readonly moved: number;
  /** What the state of the chunk was before its turn. */
  readonly before: number;
}

/**
 * How the chunks of a block take turns where lanes may pause: each runs until all of its lanes have ended or paused. When all
 * that are left wait at barriers, they go on; those that have only given way go on in any case.
 */
export class ChunkTurns {
  readonly #unit: ModuleUnit;
  readonly #writer: FunctionWriter;
  readonly #suspension: Suspension;
  readonly #body: Body;
  readonly #context: number;
  readonly #first: number;
  /** Whether any chunk has given way, and whether any waits at a barrier, in this round. */
  readonly #yielded: number;
  readonly #waits: number;
  /** Whether those at barriers go on in this round. */
  readonly #released: number;
  /** Whether any chunk has ended. */
  readonly #ended: number;

  #stop: Stop | null = null;

  constructor(
    unit: ModuleUnit,
    writer: FunctionWriter,
    context: number,
    first: number,
    suspension: Suspension,
    body: Body,
  ) {
    this.#unit = unit;
    this.#writer = writer;
    this.#context = context;
    this.#first = first;
    this.#suspension = suspension;
    this.#body = body;
    this.#yielded = writer.local("i32");
    this.#waits = writer.local("i32");
    this.#released = writer.local("i32");
    this.#ended = writer.local("i32");
  }

  /** The block, whose ticket is in a local, may stop and go on later. */
  stopAt(ticket: number): void {
    const w = this.#writer;
    this.#stop = { ticket, patience: w.local("i32"), moved: w.local("i32"), before: w.local("i32") };
  }

  /** `eachChunk`: a loop over the chunks; `beginBlock`: what comes first in a block. */
  write(eachChunk: (run: () => void) => void, beginBlock: () => void, start: ChunkStart): void {
    const w = this.#writer;
    this.#beginOrGoOn(() => {
      beginBlock();
      this.#clearStates();
    });
    w.assign([{ local: this.#released, value: wasm.i32(0) }]);
    w.loop((again) => {
      w.assign([
        { local: this.#yielded, value: wasm.i32(0) },
        { local: this.#waits, value: wasm.i32(0) },
        { local: this.#ended, value: wasm.i32(0) },
      ]);
      if (this.#stop !== null) w.assign([{ local: this.#stop.moved, value: this.#local(this.#released) }]);
      eachChunk(() => {
        this.#findState();
        this.#takeTurn(start);
        this.#note();
      });
      const { gatherings } = this.#body;
      if (gatherings !== null) {
        w.value(wasm.op("i32.eqz", this.#local(this.#yielded)));
        w.if(() => gatherings.endIfStuck());
      }
      // If nobody has given way, all that are left wait at the barrier.
      if (this.#unit.graph.countsBarriers || this.#body.counted !== null) this.#settleBarriers();
      else w.assign([{ local: this.#released, value: wasm.op("i32.eqz", this.#local(this.#yielded)) }]);
      this.#stopIfOnlyWaiting();
      if (this.#unit.shape.width !== null) this.#giveUpIfOthersEnded();
      w.value(wasm.op("i32.or", this.#local(this.#yielded), this.#local(this.#waits)));
      w.brIf(again);
    });
  }

  #local(local: number): Wasm {
    return wasm.local("i32", local);
  }

  #takeTurn(start: ChunkStart): void {
    const w = this.#writer;
    const { meetings } = this.#suspension;
    const state = w.local("i32");
    const is = (value: number): Wasm => wasm.op("i32.eq", this.#local(state), wasm.i32(value));
    const isAtBarrier = wasm.op(
      "i32.or",
      is(chunkState.atBarrier),
      wasm.op("i32.ge_s", this.#local(state), wasm.i32(chunkState.meetings)),
    );
    this.#suspension.turnEnd = w.begin("block");
    const run = w.begin("block");
    const restore = w.begin("block");
    const places = meetings.map(() => w.begin("block")).reverse();
    const fresh = w.begin("block");
    const pausing = w.begin("block");
    this.#loadState();
    w.set(state);
    if (this.#stop !== null) w.assign([{ local: this.#stop.before, value: this.#local(state) }]);
    w.value(is(chunkState.ended));
    w.brIf(this.#suspension.turnEnd);
    w.value(wasm.op("i32.and", isAtBarrier, wasm.op("i32.eqz", this.#local(this.#released))));
    w.brIf(this.#suspension.turnEnd);
    start.prepare();
    w.get(state);
    w.brTable([fresh, pausing, pausing, pausing, pausing, ...places], pausing);
    w.end();
    // Some lanes have paused here, some there.
    w.br(restore);
    w.end();
    start.activate();
    this.#suspension.reset();
    start.begin();
    w.br(run);
    for (const [i, meeting] of meetings.entries()) {
      w.end();
      start.activate();
      this.#suspension.reset();
      this.#body.flow.reset();
      this.#suspension.restoreMeeting(chunkState.meetings + i);
      this.#body.begin();
      this.#body.flow.enterAt(meeting.block);
      w.br(run);
    }
    w.end();
    this.#body.flow.reset();
    this.#suspension.restore();
    this.#body.counted?.resume();
    this.#body.begin();
    if (this.#unit.paused.isUsed) this.#store("woken", is(chunkState.yielded));
    w.value(is(chunkState.yielded));
    w.if(
      () => this.#body.flow.resume("yield"),
      () => this.#body.flow.resume("barrier"),
    );
    w.end();
    this.#body.write(start.isWhole);
    this.#pauseOrEnd();
    w.end();
    w.release(state);
  }

  /** Lanes have come to the end, or have paused at different places. */
  #pauseOrEnd(): void {
    const w = this.#writer;
    const [yielded, waits] = [this.#suspension.anyPaused("yield"), this.#suspension.anyPaused("barrier")];
    const state = w.local("i32");
    const ended = wasm.i32(chunkState.ended);
    const paused = wasm.select(waits, wasm.i32(chunkState.atBarrier), ended);
    w.assign([{ local: state, value: wasm.select(yielded, wasm.i32(chunkState.yielded), paused) }]);
    this.#suspension.setState(this.#local(state));
    w.value(wasm.op("i32.ne", this.#local(state), wasm.i32(chunkState.yielded)));
    w.if(() => this.#body.gatherings?.noteStuck());
    w.value(wasm.op("i32.ne", this.#local(state), ended));
    w.if(() => this.#suspension.save());
    w.release(state);
  }

  /** What has become of a chunk, for the end of the round. */
  #note(): void {
    const w = this.#writer;
    const state = w.local("i32");
    this.#loadState();
    w.set(state);
    const isYielded = wasm.op("i32.eq", this.#local(state), wasm.i32(chunkState.yielded));
    const isLeft = wasm.op("i32.ne", this.#local(state), wasm.i32(chunkState.ended));
    w.assign([
      { local: this.#ended, value: wasm.op("i32.or", this.#local(this.#ended), wasm.op("i32.eqz", isLeft)) },
      { local: this.#yielded, value: wasm.op("i32.or", this.#local(this.#yielded), isYielded) },
      { local: this.#waits, value: wasm.op("i32.or", this.#local(this.#waits), isLeft) },
    ]);
    if (this.#stop !== null) {
      const { moved, before } = this.#stop;
      const hasMoved = wasm.op("i32.ne", this.#local(state), this.#local(before));
      const value = wasm.op("i32.or", this.#local(moved), wasm.op("i32.gt_u", hasMoved, isYielded));
      w.assign([{ local: moved, value }]);
    }
    w.release(state);
  }

  #load(name: "resumed" | "patience", to: number): void {
    const w = this.#writer;
    w.get(this.#context);
    w.memory("i32.load", 4, this.#unit.layout.words[name]);
    w.set(to);
  }

  #beginOrGoOn(begin: () => void): void {
    if (this.#stop === null) {
      begin();
      return;
    }
    const w = this.#writer;
    this.#load("patience", this.#stop.patience);
    w.get(this.#context);
    w.memory("i32.load", 4, this.#unit.layout.words.resumed);
    w.if(() => this.#setResumed(0), begin);
  }

  #setResumed(value: 0 | 1): void {
    const w = this.#writer;
    w.get(this.#context);
    w.i32(value);
    w.memory("i32.store", 4, this.#unit.layout.words.resumed);
  }

  /** After a round in which no chunk did anything but give way, and some patience, it is the turn of other blocks. */
  #stopIfOnlyWaiting(): void {
    if (this.#stop === null) return;
    const { ticket, patience, moved } = this.#stop;
    const w = this.#writer;
    const loadPatience = (): void => this.#load("patience", patience);
    w.get(moved);
    w.if(loadPatience, () => {
      w.assign([{ local: patience, value: wasm.op("i32.sub", this.#local(patience), wasm.i32(1)) }]);
      w.value(wasm.op("i32.le_s", this.#local(patience), wasm.i32(0)));
      w.if(() => {
        this.#setResumed(1);
        w.get(ticket);
        w.return();
      });
    });
  }

  /** Hardware threads wait for all others, those that have ended too: for ever. The interpreter says where. */
  #giveUpIfOthersEnded(): void {
    const waits = wasm.op("i32.and", this.#local(this.#waits), this.#local(this.#released));
    giveUpIf(this.#unit.module, this.#writer, wasm.op("i32.and", waits, this.#local(this.#ended)));
  }

  /** The host looks whether those at barriers can go on. */
  #settleBarriers(): void {
    const w = this.#writer;
    importHost(this.#unit.module, "settleBarriers");
    w.get(this.#waits);
    w.if(() => {
      w.values([this.#local(this.#context), this.#local(this.#yielded)]);
      callHost(w, "settleBarriers");
    });
  }

  /** All chunks are to begin. */
  #clearStates(): void {
    const w = this.#writer;
    const { layout } = this.#unit;
    const chunks = this.#chunksOf(wasm.op("i32.add", this.#threads(), wasm.i32(this.#lanes - 1)));
    w.value(wasm.op("i32.add", this.#local(this.#context), wasm.i32(layout.states)));
    w.i32(chunkState.fresh);
    w.value(wasm.op("i32.mul", chunks, wasm.i32(this.#stride)));
    w.memoryFill();
  }

  #store(name: HeaderWord, value: Wasm): void {
    const w = this.#writer;
    w.get(this.#context);
    w.value(value);
    w.memory("i32.store", 4, this.#unit.layout.words[name]);
  }

  /** Bytes from the state of one chunk to that of the next. */
  get #stride(): number {
    return this.#suspension.bytes;
  }

  /** From chunk to chunk. */
  get #lanes(): number {
    return this.#unit.shape.width ?? 4 * this.#unit.quads;
  }

  #chunksOf(lanes: Wasm): Wasm {
    const shift = Math.log2(this.#lanes);
    if (Number.isInteger(shift)) return wasm.op("i32.shr_u", lanes, wasm.i32(shift));
    return wasm.op("i32.div_u", lanes, wasm.i32(this.#lanes));
  }

  #threads(): Wasm {
    const w = this.#writer;
    const local = w.local("i32");
    w.get(this.#context);
    w.memory("i32.load", 4, this.#unit.layout.words.threads);
    w.set(local);
    return this.#local(local);
  }

  #loadState(): void {
    this.#writer.get(this.#suspension.state);
    this.#writer.memory("i32.load", 4);
  }

  #findState(): void {
    const states = wasm.op("i32.add", this.#local(this.#context), wasm.i32(this.#unit.layout.states));
    this.#suspension.find(states, this.#chunksOf(this.#local(this.#first)), this.#stride);
    if (this.#unit.paused.isUsed) this.#store("state", this.#local(this.#suspension.state));
  }
}
