import type { Random } from "./seeds.ts";

/** Takes bytes and others to borrow from, and returns them damaged in one place. */
type Mutation = (bytes: Uint8Array, random: Random, others: readonly Uint8Array[]) => Uint8Array;

const joined = (...parts: readonly Uint8Array[]): Uint8Array => Uint8Array.from(Buffer.concat(parts));

/** Changes bytes in place from a place on. */
type Edit = (bytes: Uint8Array, at: number, random: Random) => void;
const edit =
  (change: Edit): Mutation =>
  (bytes, random) => {
    const copy = bytes.slice();
    change(copy, random(copy.length), random);
    return copy;
  };

const flipBit = edit((bytes, at, random) => void (bytes[at]! ^= 1 << random(8)));
const another = edit((bytes, at, random) => void (bytes[at] = random(256)));
const extreme = edit((bytes, at, random) => void bytes.fill([0, 0x7f, 0xff][random(3)]!, at, at + 2 ** random(3)));
const copied = edit((bytes, at, random) => void bytes.copyWithin(at, random(bytes.length), random(bytes.length)));

const drop: Mutation = (bytes, random) => {
  const at = random(bytes.length);
  return joined(bytes.subarray(0, at), bytes.subarray(at + 1 + random(8)));
};
const insert: Mutation = (bytes, random) => {
  const at = random(bytes.length);
  const from = random(bytes.length);
  return joined(bytes.subarray(0, at), bytes.subarray(from, from + random(32)), bytes.subarray(at));
};
const cut: Mutation = (bytes, random) => bytes.slice(0, random(bytes.length));
const splice: Mutation = (bytes, random, others) => {
  const other = others[random(others.length)]!;
  return joined(bytes.subarray(0, random(bytes.length)), other.subarray(random(other.length)));
};

const mutations: readonly Mutation[] = [flipBit, another, extreme, copied, drop, insert, cut, splice];

/** Bytes with one to three places damaged. */
export function mutateBytes(bytes: Uint8Array, random: Random, others: readonly Uint8Array[]): Uint8Array {
  let result = bytes;
  for (let times = 1 + random(3); times > 0; times--) {
    if (result.length > 0) result = mutations[random(mutations.length)]!(result, random, others);
  }
  return result;
}
