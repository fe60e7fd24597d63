import { type FunctionWriter, wasm } from "../wasm/index.ts";
import type { Body } from "./body.ts";
import { chunkState, stateWord, type Suspension } from "./suspension.ts";
import type { Unit } from "./unit.ts";

/**
 * How the chunks of a block take turns where lanes may pause: each runs until all of its lanes have ended or paused. When all
 * that are left wait at barriers, they go on; those that have only given way go on in any case.
 */
export class Rounds {
  readonly #unit: Unit;
  readonly #writer: FunctionWriter;
  readonly #suspension: Suspension;
  readonly #body: Body;
  readonly #context: number;
  readonly #first: number;
  /** Where the state of the chunk is. */
  readonly #state: number;
  /** Whether any chunk has given way, and whether any waits at a barrier, in this round. */
  readonly #yielded: number;
  readonly #waits: number;
  /** Whether those at barriers go on in this round. */
  readonly #released: number;

  constructor(unit: Unit, writer: FunctionWriter, context: number, first: number, suspension: Suspension, body: Body) {
    this.#unit = unit;
    this.#writer = writer;
    this.#context = context;
    this.#first = first;
    this.#suspension = suspension;
    this.#body = body;
    this.#state = writer.local("i32");
    this.#yielded = writer.local("i32");
    this.#waits = writer.local("i32");
    this.#released = writer.local("i32");
  }

  /** `eachChunk`: a loop over the chunks; `startChunk`: comes before what a chunk does; `begin`: makes it ready to begin. */
  write(eachChunk: (run: () => void) => void, startChunk: () => void, begin: () => void): void {
    const w = this.#writer;
    const stride = this.#suspension.bytes;
    eachChunk(() => {
      this.#findState(stride);
      this.#setState(wasm.i32(chunkState.fresh));
    });
    w.assign([{ local: this.#released, value: wasm.i32(0) }]);
    w.loop((again) => {
      w.assign([
        { local: this.#yielded, value: wasm.i32(0) },
        { local: this.#waits, value: wasm.i32(0) },
      ]);
      eachChunk(() => {
        this.#findState(stride);
        this.#runIfReady(startChunk, begin);
      });
      // If nobody has given way, all that are left wait at the barrier.
      const local = (index: number) => wasm.local("i32", index);
      w.assign([{ local: this.#released, value: wasm.op("i32.eqz", local(this.#yielded)) }]);
      w.value(wasm.op("i32.or", local(this.#yielded), local(this.#waits)));
      w.brIf(again);
    });
  }

  #runIfReady(startChunk: () => void, begin: () => void): void {
    const w = this.#writer;
    const skip = w.begin("block");
    const run = w.begin("block");
    const restore = w.begin("block");
    const isAt = (state: number): void => {
      stateWord(w, this.#state);
      w.i32(state);
      w.op("i32.eq");
    };
    isAt(chunkState.ended);
    w.brIf(skip);
    isAt(chunkState.yielded);
    w.brIf(restore);
    isAt(chunkState.atBarrier);
    w.if(() => {
      w.get(this.#released);
      w.brIf(restore);
      w.assign([{ local: this.#waits, value: wasm.i32(1) }]);
      w.br(skip);
    });
    startChunk();
    begin();
    w.br(run);
    w.end();
    startChunk();
    this.#body.flow.reset();
    this.#suspension.restore(this.#state);
    this.#body.begin();
    stateWord(w, this.#state);
    w.i32(chunkState.yielded);
    w.op("i32.eq");
    w.if(
      () => this.#body.flow.resume("yield"),
      () => this.#body.flow.resume("barrier"),
    );
    w.end();
    this.#body.flow.write();
    this.#pauseOrEnd();
    w.end();
  }

  #pauseOrEnd(): void {
    const w = this.#writer;
    const state = w.local("i32");
    const [yielded, waits] = [this.#suspension.anyPaused("yield"), this.#suspension.anyPaused("barrier")];
    w.assign([
      {
        local: state,
        value: wasm.select(
          yielded,
          wasm.i32(chunkState.yielded),
          wasm.select(waits, wasm.i32(chunkState.atBarrier), wasm.i32(chunkState.ended)),
        ),
      },
    ]);
    this.#setState(wasm.local("i32", state));
    const is = (value: number) => wasm.op("i32.eq", wasm.local("i32", state), wasm.i32(value));
    w.assign([
      { local: this.#yielded, value: wasm.op("i32.or", wasm.local("i32", this.#yielded), is(chunkState.yielded)) },
      { local: this.#waits, value: wasm.op("i32.or", wasm.local("i32", this.#waits), is(chunkState.atBarrier)) },
    ]);
    w.value(wasm.op("i32.ne", wasm.local("i32", state), wasm.i32(chunkState.ended)));
    w.if(() => this.#suspension.save(this.#state));
    w.release(state);
  }

  #findState(stride: number): void {
    const { layout, quads } = this.#unit;
    const chunk = wasm.op("i32.shr_u", wasm.local("i32", this.#first), wasm.i32(Math.log2(4 * quads)));
    const at = wasm.op("i32.mul", chunk, wasm.i32(stride));
    const base = wasm.op("i32.add", wasm.local("i32", this.#context), wasm.i32(layout.states));
    this.#writer.assign([{ local: this.#state, value: wasm.op("i32.add", base, at) }]);
  }

  #setState(value: ReturnType<typeof wasm.i32>): void {
    const w = this.#writer;
    w.get(this.#state);
    w.value(value);
    w.memory("i32.store", 4);
  }
}
