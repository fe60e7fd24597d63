import { readsOf } from "../../../ir/flow/accesses.ts";
import type { Instruction } from "../../../ir/index.ts";
import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";

/** The most anchors between two operations, and in a block: each makes the module larger. */
const maxBetween = 24;
const maxInBlock = 512;

/** The vectors that the machine has registers for. */
const machineRegisters = 16;

/**
 * A value that depends on loads of the block and on which no other such value depends yet: the current end of a sum.
 */
interface Tail {
  /** The number of locals that the block had loaded when the value was computed. */
  readonly loads: number;
  /** Whether the value depends on others between which more was loaded. */
  readonly isLong: boolean;
  /** The locals, loaded since the last branch within the block, that the value depends on. */
  readonly depth: number;
}

/**
 * Keeps arithmetic near the loads that it depends on. V8 (until version 11, in Node 20) schedules a block from its end,
 * and breadth first: after an operation come those that it depends on. Loads keep their order, one after the other, but
 * of several sums each advances by one addition at a time; so all loads of a long sum would come first, and be spilled.
 * Scheduling anchors prevent that: shuffles that change nothing, for which V8 emits no code. A sum gets as many of them
 * between two additions as there are loads between. The final values of sums are also tied together in this way, so
 * that V8 goes back along all of them at once.
 */
export class LoadScheduling {
  readonly #writer: FunctionWriter;
  readonly #locals: (register: number) => readonly number[];
  /** Registers that the block has loaded. */
  readonly #loaded = new Set<number>();
  /** The ends of sums, by register. */
  readonly #tails = new Map<number, Tail>();
  #loads = 0;
  #anchorsLeft = 0;

  /** `locals`: the locals that hold a register. */
  constructor(writer: FunctionWriter, locals: (register: number) => readonly number[]) {
    this.#writer = writer;
    this.#locals = locals;
  }

  /** Begins a block. */
  begin(): void {
    if (this.#loads > 0) {
      this.#loaded.clear();
      this.#tails.clear();
    }
    this.#loads = 0;
    this.#anchorsLeft = maxInBlock;
  }

  /** Ends a block, before its terminator is written. */
  end(): void {
    this.#tie([...this.#tails].flatMap(([register, { isLong }]) => (isLong ? this.#vectorsOf(register) : [])));
  }

  /** Ties together the results in some locals, before they are tested for NaNs. */
  readonly beforeNanCheck = (locals: readonly number[]): void => {
    if ([...this.#tails.values()].some(({ isLong }) => isLong)) this.#tie(locals);
  };

  /**
   * The locals of sums that are due before a branch within the block, and of no later one: V8 would sink them below the
   * branch, and keep all that they are computed from across it, which are more values than the machine has registers.
   */
  beforeBranch(): readonly number[] {
    const due = [...this.#tails].filter(([register, { depth }]) => depth > this.#vectorsOf(register).length);
    const loads = due.reduce((sum, [, { depth }]) => sum + depth, 0);
    if (loads <= machineRegisters) return [];
    for (const [register, tail] of due) this.#tails.set(register, { ...tail, depth: 0 });
    return due.flatMap(([register]) => this.#vectorsOf(register));
  }

  /** Notes an instruction of the block, after it has been written. */
  written(instruction: Instruction): void {
    const { op } = instruction;
    const isLoad = op.kind === "load";
    // Before the first load nothing depends on loads.
    if (!isLoad && this.#loads === 0) return;
    let usesLoaded = false;
    let depth = 0;
    const used: Tail[] = [];
    readsOf(instruction, {
      register: (r) => {
        const isLoaded = this.#loaded.has(r);
        usesLoaded ||= isLoaded;
        if (isLoaded) depth += this.#locals(r).length;
        const tail = this.#tails.get(r);
        if (tail !== undefined) used.push(tail);
        depth += tail?.depth ?? 0;
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
        if (op.kind === "pure" && (usesLoaded || used.length > 0)) this.#computed(r, used, depth);
      }
    }
  }

  /**
   * Notes a value that depends on loads, directly or through the sums in `used`; adds anchors if more was loaded since
   * these. `depth`: see `Tail`.
   */
  #computed(register: number, used: readonly Tail[], depth: number): void {
    const vectors = this.#vectorsOf(register);
    if (vectors.length === 0) return;
    const last = Math.max(...used.map(({ loads }) => loads));
    const anchors = used.length === 0 ? 0 : Math.min(maxBetween, this.#loads - last - 1);
    const isLong = anchors > 0 || used.some((tail) => tail.isLong);
    this.#tails.set(register, { loads: this.#loads, isLong, depth });
    this.#anchorsLeft -= Math.max(0, anchors) * vectors.length;
    if (anchors <= 0 || this.#anchorsLeft < 0) return;
    this.#writer.assign(vectors.map((local) => ({ local, value: anchored(wasm.local("v128", local), anchors) })));
  }

  /** Makes each value depend on all of them. */
  #tie(locals: readonly number[]): void {
    if (locals.length < 2) return;
    const values = locals.map((local) => wasm.local("v128", local));
    const all = values.reduce(anchor);
    this.#writer.assign(locals.map((local, i) => ({ local, value: anchor(values[i]!, all) })));
  }

  #vectorsOf(register: number): readonly number[] {
    return this.#locals(register).filter((local) => this.#writer.typeOf(local) === "v128");
  }
}

/** A scheduling anchor: a shuffle whose value is `a`, and which also depends on `b`. */
const anchor = (a: Wasm, b: Wasm): Wasm => wasm.shuffle32(a, b, [0, 1, 2, 3]);

function anchored(value: Wasm, anchors: number): Wasm {
  let result = value;
  for (let i = 0; i < anchors; i++) result = anchor(result, result);
  return result;
}
