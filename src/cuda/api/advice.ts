import { errors, fail, require } from "../base/errors.ts";
import { Advice, hostLocation, noLocation } from "../state/advice.ts";
import { addressOf } from "../base/addresses.ts";
import type { Call, Handlers, Status } from "./call.ts";

/** What is known of managed memory, all of which arguments `at` and the next name. Throws for other memory. */
const adviceAt = (call: Call, at: number): Advice => adviceOf(call, call.target(at), call.size(at + 1));

/** What is known of a range of managed memory. Throws for other memory. */
export function adviceOf(call: Call, address: bigint, bytes: number): Advice {
  void call.device;
  const { allocations, advice } = call.process;
  const found = allocations.find(address);
  require(found !== null && found.kind === "managed");
  require(bytes > 0 && Number(address - addressOf(found.offset)) + bytes <= found.bytes);
  let known = advice.get(found);
  if (known === undefined) advice.set(found, (known = new Advice()));
  return known;
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
  const known = adviceAt(call, 0);
  const number = call.uint(2);
  require(number >= 1 && number <= advices.last);
  const isSet = number % 2 === 1;
  const kind = isSet ? number : number - 1;
  if (kind === advices.readMostly) known.isReadMostly = isSet;
  else if (kind === advices.preferred) known.preferred = isSet ? locationOf(call, call.address(3)) : noLocation;
  else if (isSet) known.accessedBy.add(locationOf(call, call.address(3)));
  else known.accessedBy.delete(locationOf(call, call.address(3)));
  return 0;
}

/** pointer, bytes, location, flags, stream */
function prefetch(call: Call): Status {
  const known = adviceAt(call, 0);
  call.stream(4);
  const location = locationOf(call, call.address(2));
  require(location !== noLocation && call.uint(3) === 0);
  known.prefetched = location;
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

/** The words of an attribute. */
function wordsOf(known: Advice, id: number, count: number): readonly number[] {
  const devices = [...known.accessedBy];
  const single: Readonly<Record<number, number>> = {
    [attribute.readMostly]: known.isReadMostly ? 1 : 0,
    [attribute.preferred]: known.preferred,
    [attribute.prefetched]: known.prefetched,
    [attribute.preferredKind]: kindOf(known.preferred),
    [attribute.preferredId]: idOf(known.preferred),
    [attribute.prefetchedKind]: kindOf(known.prefetched),
    [attribute.prefetchedId]: idOf(known.prefetched),
  };
  if (id === attribute.accessedBy) return Array.from({ length: count }, (_, i) => devices[i] ?? noLocation);
  return [single[id] ?? fail(errors.invalidValue)];
}

function answer(call: Call, known: Advice, [target, bytes, id]: readonly [bigint, number, number]): void {
  require(target !== 0n && bytes > 0 && bytes % 4 === 0 && (id === attribute.accessedBy || bytes === 4));
  call.poke(target, new Uint8Array(Int32Array.from(wordsOf(known, id, bytes / 4)).buffer));
}

export const adviceCalls: Handlers = {
  cudaMemAdvise: advise,
  cudaMemPrefetchAsync: prefetch,
  /** data, its size, attribute, pointer, bytes */
  cudaMemRangeGetAttribute(call) {
    answer(call, adviceAt(call, 3), [call.address(0), call.size(1), call.uint(2)]);
    return 0;
  },
  /** data, sizes, attributes, count, pointer, bytes: the first three are lists */
  cudaMemRangeGetAttributes(call) {
    const known = adviceAt(call, 4);
    const count = call.size(3);
    require(count > 0 && count <= 16);
    const [targets, sizes] = [call.host.words(call.target(0), count), call.host.words(call.target(1), count)];
    targets.forEach((target, i) => {
      answer(call, known, [target, Number(sizes[i]), call.host.u32(call.target(2) + BigInt(4 * i))]);
    });
    return 0;
  },
};
