import { errors, fail, require } from "../base/errors.ts";
import { Advice, hostLocation, noLocation } from "../state/advice.ts";
import { addressOf } from "../base/addresses.ts";
import type { Call, Handlers, Status } from "./call.ts";

/**
 * What is known of managed memory, all of which arguments 0 and 1 (or `at` and the next) name. Throws for other memory.
 */
function adviceAt(call: Call, at: number): Advice {
  void call.device;
  const { allocations, advice } = call.process;
  const found = allocations.find(call.target(at));
  require(found !== null && found.kind === "managed");
  const end = Number(call.address(at) - addressOf(found.offset)) + call.size(at + 1);
  require(call.size(at + 1) > 0 && end <= found.bytes);
  let known = advice.get(found);
  if (known === undefined) advice.set(found, (known = new Advice()));
  return known;
}

/** Kinds of a cudaMemLocation: nowhere, a device, the host (three ways to say so). */
const place = { none: 0, device: 1, last: 4 } as const;

/** A cudaMemLocation by value. */
function locationAt(call: Call, i: number): number {
  const kind = call.uint(i);
  const id = Number(BigInt.asIntN(32, call.address(i) >> 32n));
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
  else if (kind === advices.preferred) known.preferred = isSet ? locationAt(call, 3) : noLocation;
  else if (isSet) known.accessedBy.add(locationAt(call, 3));
  else known.accessedBy.delete(locationAt(call, 3));
  return 0;
}

/** pointer, bytes, location, flags, stream */
function prefetch(call: Call): Status {
  const known = adviceAt(call, 0);
  call.stream(4);
  const location = locationAt(call, 2);
  require(location !== noLocation && call.uint(3) === 0);
  known.prefetched = location;
  return 0;
}

/** Attributes of ranges by number. */
const attribute = { readMostly: 1, preferred: 2, accessedBy: 3, prefetched: 4 } as const;

/** The words of an attribute. */
function wordsOf(known: Advice, id: number, count: number): readonly number[] {
  const devices = [...known.accessedBy];
  const single: Readonly<Record<number, number>> = {
    [attribute.readMostly]: known.isReadMostly ? 1 : 0,
    [attribute.preferred]: known.preferred,
    [attribute.prefetched]: known.prefetched,
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
