import { describe, expect, test } from "vitest";
import { Request } from "../../src/profiler/request.ts";

/** Builds a request of the lanes for which `address` returns one. */
function request(bytes: number, address: (lane: number) => number | null): Request {
  const r = new Request();
  r.bytes = bytes;
  for (let lane = 0; lane < 32; lane++) {
    const at = address(lane);
    if (at === null) continue;
    r.mask |= 1 << lane;
    r.addresses[lane] = at;
  }
  return r;
}

describe("sectors of 32 bytes, counted by hand", () => {
  test.each<[string, number, (lane: number) => number | null, number, number]>([
    // 32 lanes x 4 bytes = 128 bytes.
    ["neighbouring words", 4, (l) => 256 + 4 * l, 4, 4],
    ["the same, shifted by a word: five are touched", 4, (l) => 260 + 4 * l, 5, 4],
    ["every second word: 256 bytes are touched", 4, (l) => 256 + 8 * l, 8, 4],
    ["every eighth word: each lane has its own", 4, (l) => 256 + 32 * l, 32, 4],
    ["backwards", 4, (l) => 1024 - 4 * l - 4, 4, 4],
    ["all at one word", 4, () => 260, 1, 1],
    ["bytes", 1, (l) => 512 + l, 1, 1],
    // 32 x 16 bytes = 512 bytes.
    ["vectors of four words", 16, (l) => 16 * l, 16, 16],
    ["one lane across a boundary", 8, (l) => (l === 3 ? 28 : null), 2, 1],
    // Lanes 0 to 15 ask for 64 bytes.
    ["half of the lanes", 4, (l) => (l < 16 ? 128 + 4 * l : null), 2, 2],
    ["pairs of lanes at one word", 4, (l) => 4 * (l >> 1), 2, 2],
  ])("%s", (_, bytes, address, sectors, least) => {
    expect(request(bytes, address).traffic()).toEqual({ sectors, least });
  });

  test("the words of stacks are interleaved by lane, so equal addresses are neighbours", () => {
    expect(request(4, () => 64).interleavedTraffic()).toEqual({ sectors: 4, least: 4 });
    expect(request(8, () => 64).interleavedTraffic()).toEqual({ sectors: 8, least: 8 });
    // Each lane asks for a different word: 32 words apart, plus the lane's own place.
    expect(request(4, (l) => 4 * l).interleavedTraffic()).toEqual({ sectors: 32, least: 4 });
  });

  test("random addresses agree with sets of bytes and sectors", () => {
    let state = 7;
    const random = (n: number): number => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) % n;
    for (let i = 0; i < 300; i++) {
      const bytes = 1 << random(5);
      const range = 32 << random(6);
      const places = Array.from({ length: 32 }, () => (random(5) === 0 ? null : random(range)));
      const touched = new Set<number>();
      for (const at of places) if (at !== null) for (let b = 0; b < bytes; b++) touched.add(at + b);
      const sectors = new Set([...touched].map((b) => b >> 5)).size;
      const found = request(bytes, (l) => places[l]!).traffic();
      expect(found).toEqual({ sectors, least: Math.ceil(touched.size / 32) });
    }
  });
});

describe("passes over 32 banks of 4 bytes, counted by hand", () => {
  test.each<[string, number, (lane: number) => number | null, number, number]>([
    ["neighbouring words: each its own bank", 4, (l) => 4 * l, 1, 1],
    ["every second word: two to a bank", 4, (l) => 8 * l, 2, 1],
    ["every third word: 3 and 32 have no common factor", 4, (l) => 12 * l, 1, 1],
    ["a column of 32 words: all in one bank", 4, (l) => 128 * l, 32, 1],
    ["a column of 33 words: each its own bank", 4, (l) => 132 * l, 1, 1],
    ["one word for all: a broadcast", 4, () => 400, 1, 1],
    ["two words of one bank, each for half of the lanes", 4, (l) => (l & 1) * 128, 2, 1],
    ["bytes of the same words", 1, (l) => l, 1, 1],
    // Half a warp at a time: 16 lanes x 8 bytes = all banks once.
    ["neighbouring double words", 8, (l) => 8 * l, 2, 2],
    // 16 lanes, 16 bytes apart: word 4l and 4l+1, banks 0, 1, 4, 5, ... twice.
    ["every second double word", 8, (l) => 16 * l, 4, 2],
    // A quarter at a time: 8 lanes x 16 bytes = all banks once.
    ["neighbouring quadruple words", 16, (l) => 16 * l, 4, 4],
    // 8 lanes, 32 bytes apart: lanes l and l + 4 share banks.
    ["every second quadruple word", 16, (l) => 32 * l, 8, 4],
    ["one quadruple word for all", 16, () => 64, 4, 4],
    ["only the last quarter", 16, (l) => (l < 24 ? null : 16 * l), 1, 1],
  ])("%s", (_, bytes, address, passes, least) => {
    expect(request(bytes, address).passes()).toEqual({ passes, least });
  });
});

test("contention: how many addresses, and how many lanes at the most frequent", () => {
  expect(request(4, () => 8).contention()).toEqual({ addresses: 1, most: 32 });
  expect(request(4, (l) => 4 * l).contention()).toEqual({ addresses: 32, most: 1 });
  expect(request(4, (l) => 4 * (l % 5)).contention()).toEqual({ addresses: 5, most: 7 });
});
