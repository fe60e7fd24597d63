import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import { activationWords } from "../../abi/chunk-state.ts";
import type { Reconvergence } from "../control/reconvergence.ts";
import type { Chunk } from "../emit/chunk.ts";
import { laneBits, maskOfBits } from "../lanes/mask-bits.ts";
import { type FunctionContext, pushWord, storeWord } from "../module/function-context.ts";
import { type SuspensionKind, suspensionReason } from "../plan/pauses.ts";
import type { Suspension } from "../sync/suspension.ts";

const number = (local: number): Wasm => wasm.local("i32", local);

const vector = (local: number): Wasm => wasm.local("v128", local);

/** Enters functions in some lanes: by their place in the program those that go on. */
interface Entries {
  readonly resume: (callee: Wasm, lanes: readonly Wasm[]) => void;
  /** `note` is to be written behind each call. */
  readonly begin: (lanes: readonly Wasm[], note: () => void) => void;
}

/** Activations that wait at a call: locals with the first, the last, and the one that is looked at. */
interface List {
  readonly head: number;
  readonly last: number;
  readonly item: number;
}

/**
 * Calls of functions that may come back before they have ended. Any number of activations can wait at a call: those of several functions,
 * and of lanes that have come at different times. They form a list, in the order in which they were entered.
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
   * At a block that is a call: activations whose lanes are among `lanes` go on; lanes that are in none begin. Afterwards those that
   * wait again, in the locals that come back, are not active.
   */
  write(block: number, lanes: readonly Wasm[], { resume, begin }: Entries): readonly number[] {
    const w = this.#writer;
    const vectors = (): readonly number[] => this.#chunk.active.map(() => w.local("v128"));
    const [here, barrier, turn] = [vectors(), vectors(), vectors()] as const;
    const [left, next, bits] = [w.local("i32"), w.local("i32"), w.local("i32")] as const;
    const list: List = { head: this.#suspension.headAt(block), last: w.local("i32"), item: w.local("i32") };
    const note = (): void => this.#note(list, { barrier, yield: turn });
    const setHere = (): void =>
      w.assign(maskOfBits(number(bits), this.#chunk.quads).map((value, q) => ({ local: here[q]!, value })));
    w.assign([
      { local: left, value: laneBits(lanes) },
      { local: next, value: number(list.head) },
      { local: list.head, value: wasm.i32(0) },
      { local: list.last, value: wasm.i32(0) },
      ...[...barrier, ...turn].map((local) => ({ local, value: wasm.i32x4(0) })),
    ]);
    w.block((done) => {
      w.loop((again) => {
        w.value(wasm.op("i32.eqz", number(next)));
        w.brIf(done);
        w.assign([{ local: list.item, value: number(next) }]);
        this.#load(list.item, "next", next);
        this.#load(list.item, "lanes", bits);
        w.value(wasm.op("i32.and", number(bits), number(left)));
        w.if(
          () => {
            const others = wasm.op("i32.xor", number(bits), wasm.i32(-1));
            w.assign([{ local: left, value: wasm.op("i32.and", number(left), others) }]);
            setHere();
            this.#load(list.item, "callee", bits);
            storeWord(w, this.#memory, "resumes", number(list.item));
            resume(number(bits), here.map(vector));
            note();
          },
          () => this.#append(list),
        );
        w.br(again);
      });
    });
    w.get(left);
    w.if(() => {
      w.assign([{ local: bits, value: number(left) }]);
      setHere();
      begin(here.map(vector), note);
    });
    this.#flow.stay(block, { barrier, yield: turn });
    const waits = barrier.map((local, q) => ({ local, value: wasm.op("v128.or", vector(local), vector(turn[q]!)) }));
    w.assign(waits);
    for (const local of [...here, ...turn, left, next, bits, list.last, list.item]) w.release(local);
    return barrier;
  }

  /** Lanes are about to begin in a function, which may be one that never pauses. */
  tellBegin(): void {
    storeWord(this.#writer, this.#memory, "resumes", wasm.i32(0));
    storeWord(this.#writer, this.#memory, "paused", wasm.i32(0));
  }

  /** A function has come back: what is kept of it joins the list, and its lanes those that wait for the same. */
  #note(list: List, waits: Readonly<Record<SuspensionKind, readonly number[]>>): void {
    const w = this.#writer;
    pushWord(w, this.#memory, "paused");
    w.tee(list.item);
    w.if(() => {
      this.#append(list);
      const [bits, reason] = [w.local("i32"), w.local("i32")] as const;
      this.#load(list.item, "lanes", bits);
      this.#load(list.item, "reason", reason);
      const mask = maskOfBits(number(bits), this.#chunk.quads);
      const add = (to: readonly number[]): void =>
        w.assign(to.map((local, q) => ({ local, value: wasm.op("v128.or", vector(local), mask[q]!) })));
      w.value(wasm.op("i32.eq", number(reason), wasm.i32(suspensionReason.yield)));
      w.if(
        () => add(waits.yield),
        () => add(waits.barrier),
      );
      w.release(bits);
      w.release(reason);
    });
  }

  /** Puts the activation that is in `item` at the end of the list. */
  #append({ head, last, item }: List): void {
    const w = this.#writer;
    w.get(last);
    w.if(
      () => this.#setNext(last, number(item)),
      () => w.assign([{ local: head, value: number(item) }]),
    );
    w.assign([{ local: last, value: number(item) }]);
    this.#setNext(item, wasm.i32(0));
  }

  #setNext(activation: number, next: Wasm): void {
    const w = this.#writer;
    w.get(activation);
    w.value(next);
    w.memory("i32.store", 4, activationWords.next);
  }

  #load(activation: number, word: keyof typeof activationWords, to: number): void {
    const w = this.#writer;
    w.get(activation);
    w.memory("i32.load", 4, activationWords[word]);
    w.set(to);
  }
}
