import { errors, fail, require } from "../base/errors.ts";
import { type Advice, hostLocation, noLocation, PageAdvice } from "../state/advice.ts";
import { addressOf } from "../base/addresses.ts";
import type { Call, Handlers, Status } from "./call.ts";
import { memoryAround } from "./memory.ts";

/** A range of managed memory, and what was said of its pages. */
interface ManagedRange {
  readonly pages: PageAdvice;
  /** The first byte, from the beginning of the memory on. */
  readonly from: number;
  readonly bytes: number;
}

/** The range of managed memory that arguments `at` and the next name: allocated, or a variable. Throws for others. */
const rangeAt = (call: Call, at: number): ManagedRange => managedRange(call, call.target(at), call.size(at + 1));

function managedRange(call: Call, address: bigint, bytes: number): ManagedRange {
  void call.device;
  const found = memoryAround(call, address);
  require(found !== null && found.kind === "managed");
  const from = Number(address - addressOf(found.offset));
  require(bytes > 0 && from + bytes <= found.bytes);
  const { advice, machine } = call.process;
  const memory = machine.memory.find(found.offset)!;
  let pages = advice.get(memory);
  if (pages === undefined) advice.set(memory, (pages = new PageAdvice(found.bytes)));
  return { pages, from, bytes };
}

/** What was said of the pages of a range of managed memory, of which more is to be said. Throws for other memory. */
export function adviceOf(call: Call, address: bigint, bytes: number): readonly Advice[] {
  const { pages, from } = managedRange(call, address, bytes);
  return pages.ofPages(from, bytes);
}

/** Kinds of a cudaMemLocation: nowhere, a device, the host (three ways to say so). */
const place = { none: 0, device: 1, host: 2, last: 4 } as const;

/** A cudaMemLocation: its kind in the low half of a word, the number of a device in the high one. */
export function locationOf(call: Call, word: bigint): number {
  const kind = Number(BigInt.asUintN(32, word));
  const id = Number(BigInt.asIntN(32, word >> 32n));
  require(kind <= place.last);
  if (kind === place.none) return noLocation;
  if (kind !== place.device) return hostLocation;
  require(id >= 0 && id < call.process.deviceCount, errors.invalidDevice);
  return id;
}

/** Advices by number: each odd one is taken back by the next. */
const advices = { readMostly: 1, preferred: 3, accessedBy: 5, last: 6 } as const;

/** pointer, bytes, advice, location */
function advise(call: Call): Status {
  const all = adviceOf(call, call.target(0), call.size(1));
  const number = call.uint(2);
  require(number >= 1 && number <= advices.last);
  const isSet = number % 2 === 1;
  const kind = isSet ? number : number - 1;
  const needsPlace = kind === advices.accessedBy || (kind === advices.preferred && isSet);
  const location = needsPlace ? locationOf(call, call.address(3)) : noLocation;
  for (const known of all) {
    if (kind === advices.readMostly) known.isReadMostly = isSet;
    else if (kind === advices.preferred) known.preferred = location;
    else if (isSet) known.accessedBy.add(location);
    else known.accessedBy.delete(location);
  }
  return 0;
}

/** pointer, bytes, location, flags, stream */
function prefetch(call: Call): Status {
  const all = adviceOf(call, call.target(0), call.size(1));
  call.stream(4);
  const location = locationOf(call, call.address(2));
  require(location !== noLocation && call.uint(3) === 0);
  for (const known of all) known.prefetched = location;
  return 0;
}

/** Attributes of ranges by number. */
const attribute = {
  readMostly: 1,
  preferred: 2,
  accessedBy: 3,
  prefetched: 4,
  preferredKind: 5,
  preferredId: 6,
  prefetchedKind: 7,
  prefetchedId: 8,
} as const;

/** The kind of a location, as a cudaMemLocation has it. */
function kindOf(location: number): number {
  if (location === noLocation) return place.none;
  return location === hostLocation ? place.host : place.device;
}

/** The number within its kind: it says something for devices alone. */
const idOf = (location: number): number => Math.max(0, location);

/** The words of an attribute: what was said of all parts of a range. */
function wordsOf(all: readonly Advice[], id: number, count: number): readonly number[] {
  const place = (of: (known: Advice) => number): number =>
    all.every((known) => of(known) === of(all[0]!)) ? of(all[0]!) : noLocation;
  const [preferred, prefetched] = [place((known) => known.preferred), place((known) => known.prefetched)];
  const single: Readonly<Record<number, number>> = {
    [attribute.readMostly]: all.every(({ isReadMostly }) => isReadMostly) ? 1 : 0,
    [attribute.preferred]: preferred,
    [attribute.prefetched]: prefetched,
    [attribute.preferredKind]: kindOf(preferred),
    [attribute.preferredId]: idOf(preferred),
    [attribute.prefetchedKind]: kindOf(prefetched),
    [attribute.prefetchedId]: idOf(prefetched),
  };
  if (id !== attribute.accessedBy) return [single[id] ?? fail(errors.invalidValue)];
  const devices = [...all[0]!.accessedBy].filter((device) => all.every(({ accessedBy }) => accessedBy.has(device)));
  return Array.from({ length: count }, (_, i) => devices[i] ?? noLocation);
}

type Question = readonly [target: bigint, bytes: number, id: number];

function answer(call: Call, { pages, from, bytes: size }: ManagedRange, [target, bytes, id]: Question): void {
  require(target !== 0n && bytes > 0 && bytes % 4 === 0 && (id === attribute.accessedBy || bytes === 4));
  call.poke(target, new Uint8Array(Int32Array.from(wordsOf(pages.within(from, size), id, bytes / 4)).buffer));
}

export const adviceCalls: Handlers = {
  cudaMemAdvise: advise,
  cudaMemPrefetchAsync: prefetch,
  /** data, its size, attribute, pointer, bytes */
  cudaMemRangeGetAttribute(call) {
    answer(call, rangeAt(call, 3), [call.address(0), call.size(1), call.uint(2)]);
    return 0;
  },
  /** data, sizes, attributes, count, pointer, bytes: the first three are lists */
  cudaMemRangeGetAttributes(call) {
    const range = rangeAt(call, 4);
    const count = call.size(3);
    require(count > 0 && count <= 16);
    const [targets, sizes] = [call.host.words(call.target(0), count), call.host.words(call.target(1), count)];
    targets.forEach((target, i) => {
      answer(call, range, [target, Number(sizes[i]), call.host.u32(call.target(2) + BigInt(4 * i))]);
    });
    return 0;
  },
};
