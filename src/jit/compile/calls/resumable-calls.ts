import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import { suspendedFrameWords } from "../../abi/chunk-state.ts";
import type { Reconvergence } from "../control/reconvergence.ts";
import type { Chunk } from "../emit/chunk.ts";
import { laneBits, maskOfBits } from "../lanes/mask-bits.ts";
import { type FunctionContext, pushWord, storeWord } from "../module/function-context.ts";
import { type SuspensionKind, suspensionReason } from "../plan/suspension-points.ts";
import type { Suspension } from "../sync/suspension.ts";

const number = (local: number): Wasm => wasm.local("i32", local);
const vector = (local: number): Wasm => wasm.local("v128", local);

/** Enters functions in some lanes. `callee`: the number of the function that resumes. */
interface Entries {
  readonly resume: (callee: Wasm, lanes: readonly Wasm[]) => void;
  /** `note` has to be written after each call. */
  readonly begin: (lanes: readonly Wasm[], note: () => void) => void;
}

/** Locals with the first and the last of the frames that are suspended at a call, and with the current one. */
interface List {
  readonly head: number;
  readonly last: number;
  readonly current: number;
}

/**
 * Calls of functions that may suspend. Any number of frames can be suspended at a call: those of several functions, and
 * of lanes that arrived at different times. They form a list, in the order in which they were entered.
 */
export class ResumableCalls {
  readonly #chunk: Chunk;
  readonly #writer: FunctionWriter;
  readonly #flow: Reconvergence;
  readonly #memory: FunctionContext;
  readonly #suspension: Suspension;

  constructor(chunk: Chunk, flow: Reconvergence, memory: FunctionContext, suspension: Suspension) {
    this.#chunk = chunk;
    this.#writer = chunk.writer;
    this.#flow = flow;
    this.#memory = memory;
    this.#suspension = suspension;
  }

  /**
   * At a block that is a call: resumes the frames whose lanes are among `lanes`, and begins the call for lanes that are
   * in none. Returns locals with the lanes that are suspended afterwards, which are no longer active.
   */
  write(block: number, lanes: readonly Wasm[], { resume, begin }: Entries): readonly number[] {
    const w = this.#writer;
    const vectors = (): readonly number[] => this.#chunk.active.map(() => w.local("v128"));
    const [here, barrier, yielded] = [vectors(), vectors(), vectors()] as const;
    const [rest, next, bits] = [w.local("i32"), w.local("i32"), w.local("i32")] as const;
    const list: List = { head: this.#suspension.firstFrameAt(block), last: w.local("i32"), current: w.local("i32") };
    const note = (): void => this.#note(list, { barrier, yield: yielded });
    const setHere = (): void =>
      w.assign(maskOfBits(number(bits), this.#chunk.quads).map((value, q) => ({ local: here[q]!, value })));
    w.assign([
      { local: rest, value: laneBits(lanes) },
      { local: next, value: number(list.head) },
      { local: list.head, value: wasm.i32(0) },
      { local: list.last, value: wasm.i32(0) },
      ...[...barrier, ...yielded].map((local) => ({ local, value: wasm.i32x4(0) })),
    ]);
    w.block((done) => {
      w.loop((again) => {
        w.value(wasm.op("i32.eqz", number(next)));
        w.brIf(done);
        w.assign([{ local: list.current, value: number(next) }]);
        this.#load(list.current, "next", next);
        this.#load(list.current, "lanes", bits);
        w.value(wasm.op("i32.and", number(bits), number(rest)));
        w.if(
          () => {
            const others = wasm.op("i32.xor", number(bits), wasm.i32(-1));
            w.assign([{ local: rest, value: wasm.op("i32.and", number(rest), others) }]);
            setHere();
            this.#load(list.current, "callee", bits);
            storeWord(w, this.#memory, "resumedFrame", number(list.current));
            resume(number(bits), here.map(vector));
            note();
          },
          () => this.#append(list),
        );
        w.br(again);
      });
    });
    w.get(rest);
    w.if(() => {
      w.assign([{ local: bits, value: number(rest) }]);
      setHere();
      begin(here.map(vector), note);
    });
    this.#flow.suspendInCallees(block, { barrier, yield: yielded });
    const suspended = barrier.map((local, q) => ({
      local,
      value: wasm.op("v128.or", vector(local), vector(yielded[q]!)),
    }));
    w.assign(suspended);
    for (const local of [...here, ...yielded, rest, next, bits, list.last, list.current]) w.release(local);
    return barrier;
  }

  /** Lanes are about to begin in a function, which may be one that never suspends. */
  noteBegin(): void {
    storeWord(this.#writer, this.#memory, "resumedFrame", wasm.i32(0));
    storeWord(this.#writer, this.#memory, "suspendedFrame", wasm.i32(0));
  }

  /**
   * A function has returned: if it is suspended, adds its frame to the list and its lanes to those with the same
   * reason.
   */
  #note(list: List, suspended: Readonly<Record<SuspensionKind, readonly number[]>>): void {
    const w = this.#writer;
    pushWord(w, this.#memory, "suspendedFrame");
    w.tee(list.current);
    w.if(() => {
      this.#append(list);
      const [bits, reason] = [w.local("i32"), w.local("i32")] as const;
      this.#load(list.current, "lanes", bits);
      this.#load(list.current, "reason", reason);
      const mask = maskOfBits(number(bits), this.#chunk.quads);
      const add = (to: readonly number[]): void =>
        w.assign(to.map((local, q) => ({ local, value: wasm.op("v128.or", vector(local), mask[q]!) })));
      w.value(wasm.op("i32.eq", number(reason), wasm.i32(suspensionReason.yield)));
      w.if(
        () => add(suspended.yield),
        () => add(suspended.barrier),
      );
      w.release(bits);
      w.release(reason);
    });
  }

  /** Appends the current frame to the list. */
  #append({ head, last, current }: List): void {
    const w = this.#writer;
    w.get(last);
    w.if(
      () => this.#setNext(last, number(current)),
      () => w.assign([{ local: head, value: number(current) }]),
    );
    w.assign([{ local: last, value: number(current) }]);
    this.#setNext(current, wasm.i32(0));
  }

  #setNext(frame: number, next: Wasm): void {
    const w = this.#writer;
    w.get(frame);
    w.value(next);
    w.memory("i32.store", 4, suspendedFrameWords.next);
  }

  #load(frame: number, word: keyof typeof suspendedFrameWords, to: number): void {
    const w = this.#writer;
    w.get(frame);
    w.memory("i32.load", 4, suspendedFrameWords[word]);
    w.set(to);
  }
}
