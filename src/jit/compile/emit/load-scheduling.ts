import { readsOf } from "../../../ir/flow/accesses.ts";
import type { Instruction } from "../../../ir/index.ts";
import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";

/** Steps that are put between two operations, and in a block, at most: a module grows by them. */
const maxBetween = 24;

const maxInBlock = 512;

/** A value that is computed from what is loaded, and on which further such values hang. */
interface Tail {
  /** How many vectors and scalars the block had loaded. */
  readonly loads: number;
  /** Whether anything has been loaded since such a value was computed first. */
  readonly isLong: boolean;
}

/**
 * Keeps arithmetic near the loads on which it works. V8 (until version 11, in Node 20) goes through a block from behind, and places what is
 * needed by what it has placed, breadth first: one load after the other, since loads keep their order, but of several sums an addition each at
 * the same time. So it would make all loads of a long sum first, and spill them. Here a sum takes as many steps from one addition to the next as
 * there are loads between, by shuffles that change nothing, for which no code is made. And the last values of sums are tied together in the same
 * way, so that V8 goes back along all of them at once.
 */
export class LoadScheduling {
  readonly #writer: FunctionWriter;
  readonly #locals: (register: number) => readonly number[];
  /** Registers that the block has loaded. */
  readonly #loaded = new Set<number>();
  /** By register. */
  readonly #tails = new Map<number, Tail>();
  #loads = 0;
  #left = 0;

  /** `locals`: the locals of a register. */
  constructor(writer: FunctionWriter, locals: (register: number) => readonly number[]) {
    this.#writer = writer;
    this.#locals = locals;
  }

  /** What follows are instructions of a block. */
  begin(): void {
    if (this.#loads > 0) {
      this.#loaded.clear();
      this.#tails.clear();
    }
    this.#loads = 0;
    this.#left = maxInBlock;
  }

  /** All but the end of the block has been written. */
  end(): void {
    this.#tie([...this.#tails].flatMap(([register, { isLong }]) => (isLong ? this.#vectorsOf(register) : [])));
  }

  /** Results are in locals, and a NaN is about to be looked for among them. */
  readonly beforeNanCheck = (locals: readonly number[]): void => {
    if ([...this.#tails.values()].some(({ isLong }) => isLong)) this.#tie(locals);
  };

  /** An instruction of the block has been written. */
  written(instruction: Instruction): void {
    const { op } = instruction;
    const isLoad = op.kind === "load";
    // Nothing hangs on what is loaded where nothing has been.
    if (!isLoad && this.#loads === 0) return;
    let usesLoaded = false;
    const before: Tail[] = [];
    readsOf(instruction, {
      register: (r) => {
        usesLoaded ||= this.#loaded.has(r);
        const tail = this.#tails.get(r);
        if (tail !== undefined) before.push(tail);
        this.#tails.delete(r);
      },
    });
    for (const r of instruction.dst) {
      if (typeof r !== "number") continue;
      this.#tails.delete(r);
      if (isLoad) {
        this.#loaded.add(r);
        this.#loads += this.#locals(r).length;
      } else {
        this.#loaded.delete(r);
        if (op.kind === "pure" && (usesLoaded || before.length > 0)) this.#computed(r, before);
      }
    }
  }

  /** A register has got what is computed from what is loaded, and from other such values. */
  #computed(register: number, before: readonly Tail[]): void {
    const vectors = this.#vectorsOf(register);
    if (vectors.length === 0) return;
    const last = Math.max(...before.map(({ loads }) => loads));
    const steps = before.length === 0 ? 0 : Math.min(maxBetween, this.#loads - last - 1);
    const isLong = steps > 0 || before.some((tail) => tail.isLong);
    this.#tails.set(register, { loads: this.#loads, isLong });
    this.#left -= Math.max(0, steps) * vectors.length;
    if (steps <= 0 || this.#left < 0) return;
    this.#writer.assign(vectors.map((local) => ({ local, value: later(wasm.local("v128", local), steps) })));
  }

  /** Makes each value wait for all of them. */
  #tie(locals: readonly number[]): void {
    if (locals.length < 2) return;
    const values = locals.map((local) => wasm.local("v128", local));
    const all = values.reduce(first);
    this.#writer.assign(locals.map((local, i) => ({ local, value: first(values[i]!, all) })));
  }

  #vectorsOf(register: number): readonly number[] {
    return this.#locals(register).filter((local) => this.#writer.typeOf(local) === "v128");
  }
}

/** The first of two vectors. */
const first = (a: Wasm, b: Wasm): Wasm => wasm.shuffle32(a, b, [0, 1, 2, 3]);

function later(value: Wasm, steps: number): Wasm {
  let found = value;
  for (let i = 0; i < steps; i++) found = first(found, found);
  return found;
}
