import { stackOf } from "../../machine/faults/report-sink.ts";
import type { StackEntry } from "../../machine/reports/report.ts";
import type { Activation } from "../../machine/state/launch-state.ts";
import type { Site } from "../../machine/state/code.ts";

/** The place where an unwritten value was first read. */
export interface Origin {
  readonly site: Site;
  /** The name of the place in messages. */
  readonly place: string;
  /** The calls that led to the first read. */
  readonly stack: readonly StackEntry[];
}

const maxOrigins = 0x3ffe;

/**
 * Numbers origins, from 4 on. Bit 0 is set for bytes that may be padding, or a part of an aggregate that has no value
 * yet: a program may copy these, even to memory that others see. Bit 1 is set for values that have been computed.
 */
export class Origins {
  readonly #list: Origin[] = [];
  readonly #bySite = new Map<Site, number>();

  number(site: Site, activation: Activation, place: () => string, maybePadding = false): number {
    let index = this.#bySite.get(site);
    if (index === undefined) {
      index = Math.min(this.#list.length, maxOrigins);
      if (index === this.#list.length) {
        this.#list.push({ site, place: place(), stack: stackOf(site, activation) });
      }
      this.#bySite.set(site, index);
    }
    return 4 * (index + 1) + (maybePadding ? 1 : 0);
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
