import { stackOf } from "../../machine/faults/report-sink.ts";
import type { StackEntry } from "../../machine/reports/report.ts";
import type { Activation } from "../../machine/state/launch-state.ts";
import type { Site } from "../../machine/state/code.ts";

/** Where an undefined value comes from: the first read of an unwritten place, or an instruction that gives none. */
export interface Origin {
  readonly site: Site;
  /** The beginning of the message, which the role of the value ends. */
  readonly message: string;
  /** The report, if the value comes from an instruction whose result is unspecified. */
  readonly unspecified: string | null;
  /** The calls that led there. */
  readonly stack: readonly StackEntry[];
}

const maxOrigins = 0x3ffe;

/**
 * Numbers origins, from 4 on. Bit 0 is set for bytes that may be padding, or a part of an aggregate that has no value
 * yet: a program may copy these, even to memory that others see. Bit 1 is set for values that have been computed.
 */
export class Origins {
  readonly #list: Origin[] = [];
  readonly #reads = new Map<Site, number>();
  readonly #results = new Map<Site, number>();

  number(site: Site, activation: Activation, place: () => string, maybePadding = false): number {
    const index = this.#indexIn(this.#reads, site, () => ({
      site,
      message: `${place()} is read before it has been written, and the value is`,
      unspecified: null,
      stack: stackOf(site, activation),
    }));
    return 4 * (index + 1) + (maybePadding ? 1 : 0);
  }

  /** The number of the results of an instruction that leaves them unspecified. */
  ofResult(site: Site, activation: Activation, code: string, message: string): number {
    const stack = stackOf(site, activation);
    return computed(4 * (this.#indexIn(this.#results, site, () => ({ site, message, unspecified: code, stack })) + 1));
  }

  #indexIn(known: Map<Site, number>, site: Site, make: () => Origin): number {
    let index = known.get(site);
    if (index === undefined) {
      index = Math.min(this.#list.length, maxOrigins);
      if (index === this.#list.length) this.#list.push(make());
      known.set(site, index);
    }
    return index;
  }

  get(number: number): Origin {
    return this.#list[(number >> 2) - 1]!;
  }
}

/** The same origin, for a computed value: it is not padding. */
export const computed = (number: number): number => (number & ~1) | 2;

/** The same origin, for bytes that may be padding unless they have been computed. */
export const asPadding = (number: number): number => (isComputed(number) ? number : number | 1);

export const maybePadding = (number: number): boolean => (number & 1) !== 0;
export const isComputed = (number: number): boolean => (number & 2) !== 0;

/** The same number for all variants of an origin. */
export const placeOf = (number: number): number => number >> 2;
