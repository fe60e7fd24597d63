import { stackOf } from "../../machine/faults/report-sink.ts";
import type { StackEntry } from "../../machine/reports/report.ts";
import type { Activation } from "../../machine/state/launch-state.ts";
import type { Site } from "../../machine/state/code.ts";

/** Where a value that was never written has been read first. */
export interface Origin {
  readonly site: Site;
  /** The place, as messages call it. */
  readonly place: string;
  /** At the first such read. */
  readonly stack: readonly StackEntry[];
}

const most = 0x3ffe;

/**
 * Numbers for origins, from 4 on. Bit 0 is set for bytes that may be the padding of something, or a part of it that has no
 * value yet: a program may copy these, even to where others see them. Bit 1 is set for what has been computed.
 */
export class Origins {
  readonly #list: Origin[] = [];
  readonly #bySite = new Map<Site, number>();

  number(site: Site, activation: Activation, place: () => string, maybePadding = false): number {
    let index = this.#bySite.get(site);
    if (index === undefined) {
      index = Math.min(this.#list.length, most);
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

/** The same origin for what has been computed: that is not padding. */
export const computed = (number: number): number => (number & ~1) | 2;

/** The same origin for bytes that may be padding, if they are no more than a copy. */
export const asPadding = (number: number): number => (isComputed(number) ? number : number | 1);

export const maybePadding = (number: number): boolean => (number & 1) !== 0;

export const isComputed = (number: number): boolean => (number & 2) !== 0;

/** The same number for all that has one origin. */
export const placeOf = (number: number): number => number >> 2;
