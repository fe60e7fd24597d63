import type { Dim3 } from "../../../../machine/reports/report.ts";
import { mapIn } from "./noted.ts";
import type { AddressAges } from "./address-ages.ts";
import { added, commonMultiple, type Sum, sumText } from "./address-sums.ts";
import type { ThreadSet } from "./reaching-threads.ts";

/**
 * What lanes of a warp, or of a hardware thread, find of each other's plain accesses between two barriers. `order`: a
 * lane may load what another has stored or, in memory that they share, overwrite what another loads or has stored:
 * programs that know of no other schedule rely on the lanes of a warp going together. `overwrites`: only what is loaded
 * before it is overwritten in global memory may depend on it. `none`: nothing that the code shows.
 */
export type WarpConflicts = "none" | "overwrites" | "order";

/** More than the accesses of so many instructions have patterns. */
const mostPatterns = 2 ** 20;

/** Lanes that execute an instruction together, and what is promised of what they store. */
export interface LaneGroup {
  readonly lanes: number;
  /** Whether their stores to global memory take effect in the order of the instructions, too. */
  readonly ordersStores: boolean;
  /** So many of them, one after the other, go together anyhow; absent: each goes alone. */
  readonly together?: number;
}

/** Lanes of a warp (PTX): which of several that store to a place in global memory comes last is undefined. */
export const warp: LaneGroup = { lanes: 32, ordersStores: false };

/** Lanes of a hardware thread (vISA), of which each instruction is one message to memory. */
export const hardwareThread = (lanes: number): LaneGroup => ({ lanes, ordersStores: true });

/** The address of each thread of a block. */
export interface Places {
  readonly id: number;
  readonly starts: readonly number[];
  /** By group, the lowest and the highest address. */
  readonly least: readonly number[];
  readonly most: readonly number[];
}

/** Addresses of threads in groups of so many lanes, each list of them once. */
export function placesIn(lanes: number): (starts: readonly number[]) => Places {
  const known = new Map<readonly number[], Places>();
  return (starts) => {
    let places = known.get(starts);
    if (places === undefined) {
      const [least, most]: [number[], number[]] = [[], []];
      for (let first = 0; first < starts.length; first += lanes) {
        const group = starts.slice(first, first + lanes);
        least.push(Math.min(...group));
        most.push(Math.max(...group));
      }
      known.set(starts, (places = { id: known.size, starts, least, most }));
    }
    return places;
  };
}

/** An access as far as it matters which others it meets. */
export interface Touch {
  /** The variables and pointers from which its address is computed: none for any of shared memory. */
  readonly objects: ReadonlySet<string>;
  readonly isShared: boolean;
  readonly writes: boolean;
  /**
   * The address: bytes from one thread to the next in x, y and z, a constant, an unknown multiple of a number, which
   * may differ from lane to lane and from one access to the next (0: none), and the other terms, also as a text.
   */
  readonly steps: readonly number[];
  readonly constant: number;
  readonly multiple: number;
  readonly terms: Sum;
  readonly rest: string;
  /** The registers of these terms that may hold one value after the other. */
  readonly changing: readonly number[];
  readonly bytes: number;
  /** The threads that may be there. */
  readonly threads: ThreadSet;
  /** The address of each thread of the block, in shared memory; null where it depends on more than their numbers. */
  readonly places: Places | null;
  /** A number for its steps, bytes and threads. */
  readonly pattern: number;
  /** A text that is another one for accesses which differ in anything. */
  readonly key: string;
}

export const changingOf = (terms: Sum, ages: AddressAges): readonly number[] =>
  [...terms.keys()].flatMap((term) => ages.changingIn(term));

/** An access as it is compared once a register that its address may be computed from is written. */
export function aged(touch: Touch, register: number, ages: AddressAges): Touch {
  if (!touch.changing.includes(register)) return touch;
  const old = [...touch.terms].filter(([term]) => ages.changingIn(term).includes(register));
  const terms = new Map(touch.terms);
  for (const [term] of old) terms.delete(term);
  const multiple = Number(commonMultiple([BigInt(touch.multiple), ...old.map(([, factor]) => factor)]));
  const older = { ...touch, multiple, terms, rest: sumText(terms), changing: changingOf(terms, ages) };
  return { ...older, key: keyOf(older) };
}

/** Which accesses of different lanes of a group may have a byte in common. */
export class Meetings {
  readonly #block: Dim3;
  readonly #group: LaneGroup;
  readonly #together: number;
  /** By two patterns, and by a multiple: whether accesses meet at a distance. */
  readonly #known = new Map<number, Map<number, Map<number, boolean>>>();
  /** By two rests, what their difference is a multiple of. */
  readonly #rests = new Map<string, Map<string, number>>();

  constructor(block: Dim3, group: LaneGroup) {
    this.#block = block;
    this.#group = group;
    this.#together = group.together ?? 1;
  }

  /** Whether two threads of a group execute each instruction together, whatever the others do. */
  #goTogether(t: number, u: number): boolean {
    return Math.floor(t / this.#together) === Math.floor(u / this.#together);
  }

  /** What is found where an access meets an earlier one, of which at least one is a store. */
  between(earlier: Touch, later: Touch): WarpConflicts {
    if (later.isShared || this.#group.ordersStores || !later.writes) return "order";
    return earlier.writes ? "none" : "overwrites";
  }

  mayMeet(a: Touch, b: Touch): boolean {
    if (a.isShared !== b.isShared) return false;
    if (a.objects.size > 0 && b.objects.size > 0 && !haveCommon(a.objects, b.objects)) return false;
    if (a.places !== null && b.places !== null) return this.#overlapAt(a, a.places, b, b.places);
    const multiple = commonPower(commonPower(a.multiple, b.multiple), this.#restBetween(a, b));
    const byMultiple = mapIn(this.#known, a.pattern * mostPatterns + b.pattern);
    const byDistance = mapIn(byMultiple, multiple);
    const distance = b.constant - a.constant;
    let known = byDistance.get(distance);
    if (known === undefined) byDistance.set(distance, (known = this.#overlap(a, b, multiple)));
    return known;
  }

  /** The largest power of two by a multiple of which the terms of two accesses differ; 0 if they are equal. */
  #restBetween(a: Touch, b: Touch): number {
    if (a.rest === b.rest) return 0;
    const byOther = mapIn(this.#rests, a.rest);
    let power = byOther.get(b.rest);
    if (power === undefined)
      byOther.set(b.rest, (power = Number(commonMultiple([...added(a.terms, b.terms, -1n).values()]))));
    return power;
  }

  /** The same where the address of each thread is known. */
  #overlapAt(a: Touch, { starts, least, most }: Places, b: Touch, other: Places): boolean {
    const [x, y, z] = this.#block;
    const count = x * y * z;
    const { lanes } = this.#group;
    const { starts: others } = other;
    for (let first = 0; first < count; first += lanes) {
      const group = first / lanes;
      if (least[group]! >= other.most[group]! + b.bytes || other.least[group]! >= most[group]! + a.bytes) continue;
      const end = Math.min(count, first + lanes);
      for (let t = first; t < end; t++) {
        if (!b.threads.has(t)) continue;
        const at = others[t]!;
        for (let u = first; u < end; u++) {
          const meets = starts[u]! < at + b.bytes && at < starts[u]! + a.bytes;
          if (meets && a.threads.has(u) && !this.#goTogether(t, u)) return true;
        }
      }
    }
    return false;
  }

  #overlap(a: Touch, b: Touch, multiple: number): boolean {
    const [x, y, z] = this.#block;
    const count = x * y * z;
    const perGroup = this.#group.lanes;
    const startOf = ({ steps, constant }: Touch, t: number): number =>
      constant + (t % x) * steps[0]! + (Math.floor(t / x) % y) * steps[1]! + Math.floor(t / (x * y)) * steps[2]!;
    const others: number[] = [];
    const starts: number[] = [];
    for (let first = 0; first < count; first += perGroup) {
      const end = Math.min(count, first + perGroup);
      others.length = starts.length = 0;
      for (let t = first; t < end; t++) {
        if (!b.threads.has(t)) continue;
        others.push(t);
        starts.push(startOf(b, t));
      }
      for (let t = first; t < end; t++) {
        if (!a.threads.has(t)) continue;
        const from = startOf(a, t);
        for (let i = 0; i < others.length; i++) {
          if (overlaps(starts[i]! - from, a.bytes, b.bytes, multiple) && !this.#goTogether(others[i]!, t)) return true;
        }
      }
      // All other groups are like the first.
      if (a.threads.isWhole && b.threads.isWhole && (x % perGroup === 0 || perGroup % x === 0)) break;
    }
    return false;
  }
}

/** Of two powers of two, of which 0 stands for none, the one that divides both. */
export const commonPower = (a: number, b: number): number => Math.min(a || b, b || a);

function haveCommon(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  for (const object of a) if (b.has(object)) return true;
  return false;
}

/** Whether bytes meet others that begin at a distance, give or take a multiple of a number. */
function overlaps(distance: number, bytes: number, otherBytes: number, multiple: number): boolean {
  if (multiple === 0) return distance < bytes && distance > -otherBytes;
  const least = ((distance % multiple) + multiple) % multiple;
  return least < bytes || least - multiple > -otherBytes;
}

export const keyOf = ({
  objects,
  writes,
  steps,
  constant,
  multiple,
  bytes,
  rest,
  threads,
  places,
}: Omit<Touch, "pattern" | "key">): string =>
  `${writes} ${constant} ${multiple} ${bytes} ${steps.join()} ${rest} ${[...objects].join()} ${threads.name} ${places?.id ?? ""}`;
