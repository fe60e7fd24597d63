import { programsOf } from "../program-file.ts";

const one = 0x3f80_0000;

const bits = (value: number): number => new Uint32Array(new Float32Array([value]).buffer)[0]!;

/** The sum of two positive floats, rounded to the nearest or towards zero. */
function added(a: number, b: number, isTruncated: boolean): number {
  const nearest = Math.fround(a + b);
  if (!isTruncated || nearest <= a + b) return nearest;
  return new Float32Array(new Uint32Array([bits(nearest) - 1]).buffer)[0]!;
}

/** The bits of the half of a whole number from 2048 to 4095, of which every second is one. */
const half = (n: number): number => 0x6800 + (n - 2048) / 2;

/** What belongs to the thread. */
export const state = programsOf("state", {
  // 1 and 2^-30, rounded upwards: the next float after 1, and the next after that.
  "a rounding mode that is set on one way of a branch holds on the other, which comes later": (id) =>
    one + (id < 4 ? 2 : 1),
  "a rounding mode that a function sets for some lanes is there for all after it": () => one + 1,
  "the rounding mode changes in each round of a loop, for the lanes that are still there": (id) => {
    let sum = 1;
    const addend = new Float32Array(new Uint32Array([0x3f2a_aaab]).buffer)[0]!;
    for (let round = 0; round <= id; round++) sum = added(sum, addend, round % 2 === 0);
    return bits(sum);
  },
  // Half of the smallest normal number is computed before, a quarter of it afterwards.
  "subnormal results are flushed until the control register says otherwise, on whichever way that is": (id) =>
    id < 4 ? 0x0020_0000 : 0,
  "halves are rounded from floats as the control register says": (id) => {
    const value = 2048 + id;
    const [down, up] = [value - (value % 2), value + (value % 2)];
    const even = value % 2 === 0 ? value : value % 4 === 1 ? down : up;
    return half(even) ^ (half(down) << 8) ^ (half(up) << 16);
  },
  "addresses that only some lanes change, and that all read by": (id) => 50 + (id >= 3 && id < 8 ? 7 - id : id),
  // The even lanes come first and move the address; of the odd ones, those of the first four lanes store.
  "active lanes store by one address, in the region that begins there": (id) => {
    if (id === 2 || id === 4) return 100;
    return id % 2 === 0 ? id : 7;
  },
  "comparisons with what is no number, under a mask": (id) => {
    if (id < 4) return 8 + 16 * 5;
    return (id < 6 ? 1 : 2) + 4 + (id === 6 ? 0 : 8) + 16 * Math.min(id, 5);
  },
  "products of signed doublewords as quadwords, of which the halves are read": (id) => {
    const product = BigInt(id - 4) * 0x4000_0001n;
    const [low, high] = [product, product >> 32n].map((part) => Number(BigInt.asUintN(32, part)));
    return id < 8 ? low! + Number(BigInt.asUintN(32, BigInt(high!) * 3n)) : 0;
  },
  // P1 is true in lanes of 0, and in those of 2 and 3; P2 in lanes of 1 and 3.
  "the flag of the last comparison in a subroutine, after lanes have left it at two places": (id) =>
    (id % 4 === 1 ? 0 : 1) + (id % 2 === 1 ? 4 : 0),
});
