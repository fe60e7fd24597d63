import { describe, expect, test } from "vitest";
import { chunkAddress, layoutOf, uncutDescriptor } from "../../src/ir/index.ts";
import { multiplyElements } from "../../src/program/warpgroup-product.ts";
import { keptWordsBytes, warpgroupArea, warpgroupFunctions, warpgroupTileOf } from "../../src/tiles/index.ts";
import { boundsFunction, linesFunction } from "../../src/tiles/shared-lines.ts";
import { writtenOnce } from "../../src/tiles/tile.ts";
import { machineFeatures, ModuleWriter } from "../../src/wasm/index.ts";
import { randomWords } from "../random-words.ts";
import { moderate, productOf } from "./warpgroup-product.ts";

/*
 * Rows of tiles out of shared memory, against `chunkAddress` and against products that are computed element by element.
 */

type Exports = Readonly<Record<string, (...args: (number | bigint)[]) => unknown>>;

const pages = 40;
const sharedBytes = 1 << 20;

/** The exported functions of a module, and its memory as words. */
function instance(write: (module: ModuleWriter) => readonly string[]): { exports: Exports; words: Int32Array } {
  const module = new ModuleWriter(machineFeatures());
  module.importMemory({ initial: pages, maximum: pages, shared: false });
  for (const name of write(module)) module.export(name);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module.finish()), { env: { memory } });
  return { exports: exports as Exports, words: new Int32Array(memory.buffer) };
}

/** Any descriptor of a matrix that ends within the first MiB; some as programs write them that do not cut addresses. */
function descriptorOf(next: () => number): { readonly low: number; readonly high: number; readonly word: bigint } {
  const pick = (count: number): number => (next() >>> 8) % count;
  const start = [0, 64, 8, 65, 1 + pick(500)][pick(5)]!;
  const leading = [1, 8, 64, 128, pick(1024)][pick(5)]!;
  const stride = [8, 16, 32, 64, pick(512)][pick(5)]!;
  const fields = start | (leading << 16);
  const { bits } = uncutDescriptor;
  const low = [fields, fields, fields | bits, fields + bits][pick(4)]! | 0;
  const high = stride | (pick(4) << 30) | (pick(3) === 0 ? pick(8) << 17 : 0);
  return { low, high, word: BigInt.asIntN(64, (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0)) };
}

describe.each([true, false])("lines, k fastest: %s", (kMajor) => {
  const order = { kMajor, chunks: 2 };
  let names: readonly string[] = [];
  const { exports, words } = instance((module) => {
    const once = writtenOnce(module);
    names = [linesFunction(once, order, 1), linesFunction(once, order, 2), boundsFunction(once, order, 4)];
    return names;
  });
  const [lines, spaced, bounds] = names as [string, string, string];
  const next = randomWords(5);
  for (let i = 0; i < sharedBytes / 4; i++) words[i] = next();
  const halves = new Uint16Array(words.buffer);

  test("registers hold what the chunks of eight lines do, and bounds have all of these", () => {
    for (let round = 0; round < 400; round++) {
      const { low, high, word } = descriptorOf(next);
      const layout = layoutOf(low, high);
      const first = round % 5;
      const [from, last] = exports[bounds]!(word, first) as [number, number];
      for (let group = first; group < first + 4; group++) {
        const spacing = 1 + (round % 2);
        const copy = (): unknown => exports[spacing === 1 ? lines : spaced]!(0, word, group, sharedBytes);
        copy();
        words[sharedBytes / 4 + (round % 32)]! ^= 1 << (round % 31);
        const [changed, again] = [copy(), copy()];
        expect([changed, again]).toEqual([1, 0]);
        for (let chunk = 0; chunk < order.chunks; chunk++) {
          for (let line = 0; line < 8; line++) {
            const own = 8 * group + line;
            const at = chunkAddress(layout, kMajor, kMajor ? own : 8 * chunk + line, kMajor ? chunk : group);
            expect(at).toBeGreaterThanOrEqual(from);
            expect(at + 15).toBeLessThanOrEqual(last);
            for (let e = 0; e < 8; e++) {
              // Of an MN-major matrix a chunk has the eight lines at one k.
              const [l, k] = kMajor ? [line, e] : [e, line];
              const found = halves[(sharedBytes + 128 * spacing * chunk + 16 * l + 2 * k) / 2];
              if (found !== halves[at / 2 + e]) expect([round, group, chunk, line, e, found]).toBe(halves[at / 2 + e]);
            }
          }
        }
      }
    }
  });
});

const products = [
  productOf("f16", 64, {}),
  productOf("f16", 24, { left: { kind: "registers" }, right: { kMajor: false } }),
  productOf("bf16", 40, { left: { kind: "shared", kMajor: false }, negate: { a: true, b: false } }),
  productOf("tf32", 32, { left: { kind: "registers" }, negate: { a: false, b: true } }),
  productOf("e4m3", 16, {}),
  productOf("e5m2", 8, { negate: { a: true, b: true } }),
  productOf("s8", 128, {}),
  productOf("u8", 16, { left: { kind: "registers" } }),
];

test("products that share their memory, of matrices that change in part or not at all", () => {
  const tiles = products.map((product) => warpgroupTileOf(product)!);
  const area = warpgroupArea(tiles);
  let names: readonly string[] = [];
  const { exports, words } = instance((module) => {
    names = tiles.map((tile) => warpgroupFunctions(module, tile, area).multiply);
    return names;
  });
  const memory = sharedBytes;
  const kept = memory + Math.ceil(area.bytes / 64) * 64;
  const registers = {
    a: kept + keptWordsBytes,
    c: kept + keptWordsBytes + 512,
    d: kept + keptWordsBytes + 512 + 16384,
  };
  expect(registers.d + 16384).toBeLessThanOrEqual(pages * 65536);
  // What a context has had before means nothing.
  words.fill(-1, memory / 4, kept / 4);
  const next = randomWords(11);
  const taken = products.map(() => 0);
  for (let round = 0; round < 1200; round++) {
    const which = (next() >>> 8) % products.length;
    const product = products[which]!;
    const { tile, left } = product;
    const [fixed, free] = moderate[tile.a] ?? [0, -1];
    const draw = (): number => (next() & free) | fixed;
    // Two matrices B, and one A after them, each in 32 KiB: all new, one word new, or as the last product left them.
    const [at, atA] = [((next() >>> 9) % 2) * 32768, 65536];
    if (round % 3 === 0) for (let i = 0; i < 32768; i++) words[i] = draw();
    else if (round % 3 === 1) words[(at >> 2) + ((next() >>> 9) % (2 * tile.n))] = draw();
    const layout = (start: number): { low: number; high: number } => ({ low: (start >> 4) | (64 << 16), high: 8 });
    const [a, b] = [layout(atA), layout(at)];
    const word = ({ low, high }: { low: number; high: number }): bigint => (BigInt(high) << 32n) | BigInt(low);
    const ofA = Int32Array.from({ length: 128 }, draw);
    const c = Int32Array.from({ length: 16 * tile.n }, () => (next() & 0x81ff_ffff) | 0x3e00_0000);
    words.set(ofA, registers.a / 4);
    words.set(c, registers.c / 4);
    const inRegisters = left.kind === "registers";
    const warp = round % 4;
    const first = inRegisters ? BigInt(registers.a) : word(a);
    const failed = exports[names[which]!]!(0, memory, kept, first, word(b), 2 * warp, registers.c, registers.d);
    if (failed !== 0) continue;
    taken[which]!++;
    const expected = new Int32Array(16 * tile.n);
    const inputs = {
      warp,
      a: inRegisters ? ofA : layoutOf(a.low, a.high),
      b: layoutOf(b.low, b.high),
      metadata: null,
      c,
    };
    multiplyElements(
      product,
      inputs,
      (addresses, count, into) => {
        for (let i = 0; i < count; i++) into.set(words.subarray(addresses[i]! >> 2, (addresses[i]! >> 2) + 4), 4 * i);
      },
      expected,
    );
    expect(words.slice(registers.d / 4, registers.d / 4 + expected.length)).toEqual(expected);
  }
  expect(Math.min(...taken)).toBeGreaterThan(15);
});
