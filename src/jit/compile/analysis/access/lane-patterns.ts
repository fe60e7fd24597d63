import type { Dim3 } from "../../../../machine/reports/report.ts";
import type { Bindings } from "../../../../semantics/bind.ts";
import type { Expr } from "../../../../semantics/index.ts";
import type { PreparedCode } from "../code/prepared-code.ts";
import { type ThreadFacts, threadFactsOf } from "./reaching-threads.ts";

/** How the addresses of a chunk's lanes lie to each other: the same in each chunk of a block. */
export interface LanePattern {
  /** By lane, the lane whose address is known, and how many bytes beyond it this lane's is: none is below 0. */
  readonly anchors: readonly number[];
  readonly distances: readonly number[];
  /** Where one lane is the anchor of all, and its address grows evenly from chunk to chunk. */
  readonly places: ChunkPlaces | null;
}

/** Addresses of anchors: that of the block's first chunk, and the step from chunk to chunk. */
export interface ChunkPlaces {
  readonly start: number;
  readonly step: number;
  /** Threads from the beginning of a chunk to that of the next: code for its first lanes has fewer. */
  readonly threads: number;
}

/** Blocks and threads for which values are computed thread by thread, at most: their product is. */
const maxValues = 1 << 20;

/** Distances are immediates of instructions. */
const maxDistance = 1 << 20;

/**
 * Lane patterns: how addresses that are not affine, as those of padded rows, trees and butterflies, lie to each other,
 * where they follow from thread numbers alone. They are computed for each thread of a block of known size.
 */
export class LanePatterns {
  readonly #find: () => ThreadFacts | null;
  #facts: ThreadFacts | null | undefined;
  readonly #lanes: number;
  readonly #patterns = new Map<string, LanePattern | null>();
  readonly #keys = new Map<Expr, number>();

  /** `block`: null where it is not known, or has chunks that are not full. `lanes`: those of a chunk. */
  constructor(code: PreparedCode, block: Dim3 | null, bindings: Bindings, lanes: number) {
    this.#lanes = lanes;
    this.#find = () => {
      if (block === null || code.instructions.length * block[0] * block[1] * block[2] > maxValues) return null;
      return threadFactsOf({ ...code.ir, instructions: code.instructions }, block, bindings);
    };
  }

  /** The pattern of the first `lanes` lanes of each chunk. */
  of(address: Expr, lanes: number): LanePattern | null {
    let key = this.#keys.get(address);
    if (key === undefined) this.#keys.set(address, (key = this.#keys.size));
    const name = `${key} ${lanes}`;
    let found = this.#patterns.get(name);
    if (found === undefined) {
      const starts = this.#valuesOf(address);
      this.#patterns.set(name, (found = starts === null ? null : this.#patternOf(starts, lanes)));
    }
    return found;
  }

  /**
   * Whether each thread that may execute one of some instructions (null: each thread) has an aligned address there,
   * from the `start` of one of some places up to its `end`.
   */
  isWithin(
    address: Expr,
    instructions: readonly number[] | null,
    places: readonly { readonly start: number; readonly end: number }[],
    align: number,
  ): boolean {
    const values = this.#valuesOf(address);
    if (values === null) return false;
    const sets = instructions?.map((i) => this.#facts!.at(i)) ?? [];
    return values.every(
      (value, t) =>
        (value % align === 0 && places.some(({ start, end }) => value >= start && value <= end)) ||
        (instructions !== null && sets.every((set) => !set.has(t))),
    );
  }

  /** The least and the greatest address of a thread, and a power of two by which all are divisible; null if unknown. */
  rangeOf(address: Expr): { readonly min: number; readonly max: number; readonly align: number } | null {
    const values = this.#valuesOf(address);
    if (values === null) return null;
    const bits = values.reduce((a, b) => a | b, 0);
    const [min, max] = [Math.min(...values), Math.max(...values)];
    return { min, max, align: bits === 0 ? 2 ** 31 : (bits & -bits) >>> 0 };
  }

  #valuesOf(address: Expr): readonly number[] | null {
    if (this.#facts === undefined) this.#facts = this.#find();
    return this.#facts?.values?.of(address) ?? null;
  }

  #patternOf(starts: readonly number[], lanes: number): LanePattern | null {
    return this.#anchored(starts, lanes, lanes) ?? this.#anchored(starts, lanes, 4);
  }

  /** The pattern with an anchor for as many lanes as `together`; null where chunks differ. */
  #anchored(starts: readonly number[], lanes: number, together: number): LanePattern | null {
    const anchors: number[] = [];
    const distances: number[] = [];
    for (let from = 0; from < lanes; from += together) {
      const own = starts.slice(from, from + together);
      const anchor = own.indexOf(Math.min(...own));
      for (const start of own) {
        const distance = start - own[anchor]!;
        if (distance > maxDistance) return null;
        anchors.push(from + anchor);
        distances.push(distance);
      }
    }
    for (let first = 0; first < starts.length; first += this.#lanes) {
      for (let lane = 0; lane < lanes; lane++) {
        if (starts[first + lane]! - starts[first + anchors[lane]!]! !== distances[lane]) return null;
      }
    }
    return { anchors, distances, places: together === lanes ? this.#placesOf(starts, anchors[0]!) : null };
  }

  #placesOf(starts: readonly number[], anchor: number): ChunkPlaces | null {
    const start = starts[anchor]!;
    const step = starts.length > this.#lanes ? starts[this.#lanes + anchor]! - start : 0;
    for (let chunk = 0; chunk * this.#lanes < starts.length; chunk++) {
      if (starts[chunk * this.#lanes + anchor]! !== start + chunk * step) return null;
    }
    return { start, step, threads: this.#lanes };
  }
}
