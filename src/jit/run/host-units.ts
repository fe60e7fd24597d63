import { unitOpOf } from "../../ir/index.ts";
import type { Place } from "../../machine/faults/locate.ts";
import type { AddressParts } from "../../machine/memory/address-space.ts";
import type { CallFrame, Cta, Grid } from "../../machine/state/launch-state.ts";
import type { Site } from "../../machine/state/code.ts";
import { endUnits, performUnit } from "../../program/units/index.ts";
import { findRange, type Range, type RangeRequest, type UnitCall } from "../../program/units/unit-call.ts";
import type { CompiledKernel } from "../abi/compiled-kernel.ts";

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

/** Observed launches run in the interpreter, and so do those in which operations take effect late. */
const nobodyObserves = (): void => {};
const nothingIsLate = (): never => {
  throw new Error("compiled code performs asynchronous operations where they are issued");
};

/** The launcher's side of operations that units of the machine perform. */
export class HostUnits {
  readonly #grid: Grid;
  readonly #kernel: CompiledKernel;
  readonly #byteOf: (context: number, place: Place) => number;
  readonly #layouts = new Map<Site, { readonly operands: Layout; readonly results: Layout }>();

  constructor(grid: Grid, kernel: CompiledKernel, byteOf: (context: number, place: Place) => number) {
    this.#grid = grid;
    this.#kernel = kernel;
    this.#byteOf = byteOf;
  }

  perform({ context, x, site, lanes, first }: UnitPlace): void {
    const op = unitOpOf(site.instruction.op);
    if (op === null) throw new Error(`${site.instruction.op.kind} is performed by no unit`);
    const { operands, results } = this.#layoutsOf(site);
    const start = (context + this.#kernel.layout.fragments) >>> 2;
    const { memory } = this.#grid;
    const word = (n: number, lane: number): number =>
      memory.views.i32[start + operands.at[n]! + (lane - first) * (operands.isWide[n]! ? 2 : 1)]!;
    // Results lie where operands do: they are written when all of these have been read.
    const given: { readonly at: number; readonly value: number }[] = [];
    const words: { readonly at: number; readonly from: Int32Array }[] = [];
    const call: UnitCall = {
      ...{ x, site, lanes, word },
      address(n, lane): AddressParts {
        const at = start + operands.at[n]! + (lane - first) * (operands.isWide[n]! ? 2 : 1);
        return { low: memory.views.i32[at]! >>> 0, high: operands.isWide[n]! ? memory.views.i32[at + 1]! >>> 0 : 0 };
      },
      give(n, lane, low, high = 0): void {
        const at = results.at[n] ?? -1;
        if (at < 0) return;
        const to = start + at + (lane - first) * (results.isWide[n]! ? 2 : 1);
        given.push({ at: to, value: low });
        if (results.isWide[n]!) given.push({ at: to + 1, value: high });
      },
      words(n, count, into): void {
        const { i32 } = memory.views;
        eachRun(operands, n, count, (first, at, length) => {
          into.set(i32.subarray(start + at, start + at + 32 * length), 32 * first);
        });
      },
      giveWords(n, count, from): void {
        eachRun(results, n, count, (first, at, length) => {
          words.push({ at: start + at, from: from.subarray(32 * first, 32 * (first + length)) });
        });
      },
      range: (request: RangeRequest): Range =>
        findRange(x, site, request, (place) => ({ views: memory.views, at: this.#byteOf(context, place) })),
      touch: nobodyObserves,
      kept: nothingIsLate,
    };
    performUnit(op.unit, call);
    for (const { at, value } of given) memory.views.i32[at] = value;
    for (const { at, from } of words) memory.views.i32.set(from, at);
  }

  /**
   * A block ends.
   *
   * @throws Fault if it has not given back what it had to
   */
  end(cta: Cta): void {
    endUnits(cta.units);
  }

  #layoutsOf(site: Site) {
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
