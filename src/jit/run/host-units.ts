import { unitOpOf } from "../../ir/index.ts";
import type { Place } from "../../machine/faults/locate.ts";
import type { AddressParts } from "../../machine/memory/address-space.ts";
import type { CallFrame, Cta, Grid } from "../../machine/state/launch-state.ts";
import type { Site } from "../../machine/state/code.ts";
import { endUnits, performUnit } from "../../program/units/index.ts";
import { findRange, type Range, type RangeRequest, type UnitCall } from "../../program/units/unit-call.ts";
import type { CompiledKernel } from "../abi/compiled-kernel.ts";
import type { ShownLaunch } from "./shown-launch.ts";

/** Where the operands or results of an instruction lie: by number, in words from the first, and how wide they are. */
interface Layout {
  readonly at: readonly number[];
  readonly isWide: readonly boolean[];
}

const isWideType = (ty: string): boolean => ty === "i64" || ty === "f64";

function layout(isWide: readonly (boolean | null)[], lanes: number): Layout {
  const at: number[] = [];
  let next = 0;
  for (const wide of isWide) {
    at.push(wide === null ? -1 : next);
    if (wide !== null) next += lanes * (wide ? 2 : 1);
  }
  return { at, isWide: isWide.map((wide) => wide === true) };
}

/**
 * Shows the runs of operands or results of 32 lanes and 32 bits that lie one after the other, of `count` from the n-th
 * on: the first, where it lies, and how many there are. What has no place is left out.
 */
function eachRun(
  { at }: Layout,
  n: number,
  count: number,
  show: (first: number, at: number, length: number) => void,
): void {
  for (let first = 0; first < count; ) {
    const from = at[n + first] ?? -1;
    let length = 1;
    while (first + length < count && from >= 0 && at[n + first + length] === from + 32 * length) length++;
    if (from >= 0) show(first, from, length);
    first += length;
  }
}

/** A chunk at an instruction that a unit of the machine performs. */
export interface UnitPlace {
  readonly context: number;
  readonly x: CallFrame;
  readonly site: Site;
  /** The lanes of the warp, as bits, and the number of the chunk's first. */
  readonly lanes: number;
  readonly first: number;
}

/** The operands and results of an instruction. */
interface Layouts {
  readonly operands: Layout;
  readonly results: Layout;
}

/**
 * The lanes of a chunk, as units see them: operands lie in memory. Results lie where operands do, so that they are kept
 * until all of these have been read.
 */
class ChunkCall implements UnitCall {
  readonly x: CallFrame;
  readonly site: Site;
  readonly lanes: number;
  readonly #memory: Grid["memory"];
  readonly #layouts: Layouts;
  readonly #start: number;
  readonly #first: number;
  readonly #bytesOf: (place: Place) => number;
  readonly #shown: ShownLaunch | null;
  /** Words of results and where they go: two each. */
  #given: Int32Array;
  #count = 0;
  readonly #words: { readonly at: number; readonly from: Int32Array }[] = [];

  /** `start`: the word of memory at which operands and results begin. `given`: room for results, which may grow. */
  constructor(
    { x, site, lanes, first }: UnitPlace,
    memory: Grid["memory"],
    layouts: Layouts,
    { start, given }: { readonly start: number; readonly given: Int32Array },
    bytesOf: (place: Place) => number,
    shown: ShownLaunch | null,
  ) {
    this.#shown = shown;
    this.x = x;
    this.site = site;
    this.lanes = lanes;
    this.#memory = memory;
    this.#layouts = layouts;
    this.#start = start;
    this.#first = first;
    this.#given = given;
    this.#bytesOf = bytesOf;
  }

  #wordAt({ at, isWide }: Layout, n: number, lane: number): number {
    const index = lane - this.#first;
    return this.#start + at[n]! + (isWide[n]! ? 2 * index : index);
  }

  word(n: number, lane: number): number {
    return this.#memory.views.i32[this.#wordAt(this.#layouts.operands, n, lane)]!;
  }

  address(n: number, lane: number): AddressParts {
    const { operands } = this.#layouts;
    const at = this.#wordAt(operands, n, lane);
    const { i32 } = this.#memory.views;
    return { low: i32[at]! >>> 0, high: operands.isWide[n]! ? i32[at + 1]! >>> 0 : 0 };
  }

  give(n: number, lane: number, low: number, high = 0): void {
    const { results } = this.#layouts;
    if ((results.at[n] ?? -1) < 0) return;
    const to = this.#wordAt(results, n, lane);
    this.#keep(to, low);
    if (results.isWide[n]!) this.#keep(to + 1, high);
  }

  #keep(at: number, value: number): void {
    if (this.#count === this.#given.length) {
      const larger = new Int32Array(2 * this.#count);
      larger.set(this.#given);
      this.#given = larger;
    }
    this.#given[this.#count++] = at;
    this.#given[this.#count++] = value;
  }

  words(n: number, count: number, into: Int32Array): void {
    const { i32 } = this.#memory.views;
    const start = this.#start;
    eachRun(this.#layouts.operands, n, count, (first, at, length) => {
      into.set(i32.subarray(start + at, start + at + 32 * length), 32 * first);
    });
  }

  giveWords(n: number, count: number, from: Int32Array): void {
    eachRun(this.#layouts.results, n, count, (first, at, length) => {
      this.#words.push({ at: this.#start + at, from: from.subarray(32 * first, 32 * (first + length)) });
    });
  }

  range(request: RangeRequest): Range {
    const { views } = this.#memory;
    const bytesOf = (place: Place): Range => ({ views, at: this.#bytesOf(place) });
    const found = findRange(this.x, this.site, request, bytesOf);
    this.#shown?.range(this, request, (place) => bytesOf(place).at);
    return found;
  }

  /** Launches in which anyone watches tensor memory run in the interpreter. */
  touch(): void {}

  kept(): never {
    throw new Error("compiled code performs asynchronous operations where they are issued");
  }

  /** Writes the results to memory. Returns the room that they took. */
  end(): Int32Array {
    const { i32 } = this.#memory.views;
    const given = this.#given;
    for (let i = 0; i < this.#count; i += 2) i32[given[i]!] = given[i + 1]!;
    for (const { at, from } of this.#words) i32.set(from, at);
    return given;
  }
}

/** The launcher's side of operations that units of the machine perform. */
export class HostUnits {
  readonly #grid: Grid;
  readonly #kernel: CompiledKernel;
  readonly #byteOf: (context: number, place: Place) => number;
  readonly #layouts = new Map<Site, Layouts>();
  readonly #shown: ShownLaunch | null;
  #given: Int32Array = new Int32Array(512);

  constructor(
    grid: Grid,
    kernel: CompiledKernel,
    byteOf: (context: number, place: Place) => number,
    shown: ShownLaunch | null,
  ) {
    this.#shown = shown;
    this.#grid = grid;
    this.#kernel = kernel;
    this.#byteOf = byteOf;
  }

  perform(place: UnitPlace): void {
    const { context, site } = place;
    const op = unitOpOf(site.instruction.op);
    if (op === null) throw new Error(`${site.instruction.op.kind} is performed by no unit`);
    const room = { start: (context + this.#kernel.layout.fragments) >>> 2, given: this.#given };
    const bytesOf = (found: Place): number => this.#byteOf(context, found);
    const call = new ChunkCall(place, this.#grid.memory, this.#layoutsOf(site), room, bytesOf, this.#shown);
    if (op.unit.op === "observe") {
      this.#shown!.show(op.unit, call, place.first, bytesOf);
      return;
    }
    this.#shown?.unit(call);
    performUnit(op.unit, call);
    this.#given = call.end();
  }

  /**
   * A block ends.
   *
   * @throws Fault if it has not given back what it had to
   */
  end(cta: Cta): void {
    endUnits(cta.units);
  }

  #layoutsOf(site: Site): Layouts {
    let found = this.#layouts.get(site);
    if (found === undefined) {
      const { dst } = site.instruction;
      const { registers } = site.code.ir;
      const operands = (unitOpOf(site.instruction.op)?.operands ?? []).map(({ ty }) => isWideType(ty));
      const results = dst.map((to) => {
        if (to === null) return null;
        return typeof to === "number" ? registers[to]!.class === "b64" : to.bits === 64;
      });
      const { lanes } = this.#kernel;
      found = { operands: layout(operands, lanes), results: layout(results, lanes) };
      this.#layouts.set(site, found);
    }
    return found;
  }
}
