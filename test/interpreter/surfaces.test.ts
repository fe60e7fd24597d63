import { describe, expect, test } from "vitest";
import { atAddress, type Place, surfaceIndex } from "../../src/ir/index.ts";
import type { Surface } from "../../src/machine/state/thread-model.ts";
import { type Expr, kit } from "../../src/semantics/index.ts";
import { access, old } from "./builder.ts";
import { engines, lineOf, range } from "./harness.ts";
import {
  channels,
  flat,
  freeAt,
  idAt,
  into,
  kernel,
  one,
  outAddress,
  put,
  read,
  region,
  runThreads,
} from "./threads.ts";

const all = channels(16);
const ids = read(flat(idAt));

const inSurface = (surface: Expr, offset: Expr): Place => ({ kind: "surface", offset, surface });

const scaled = (n: number): Expr => kit.mul(ids, kit.i32(n));

describe.each(engines)("surfaces, with $name", ({ generate }) => {
  // The second half of a buffer of 32 words, but for its last one.
  const surfaces = new Map<number, Surface>([[3, { address: outAddress + 64n, bytes: 60 }]]);
  const input = Int32Array.from(range(32, (i) => 100 + i));
  const options = { generate, surfaces, input, sharedBytes: 64 };

  test("an offset is from where the surface begins; after its end loads give 0 and stores do nothing", () => {
    const { m, k } = kernel(64);
    put(k, flat(freeAt), kit.i32(-1), all);
    k.emit(
      { kind: "load", access: access("global"), place: inSurface(kit.i32(3), scaled(4)) },
      { dst: [into(flat(freeAt))], lanes: all },
    );
    for (const at of [0, -4]) {
      k.emit(
        {
          kind: "store",
          access: access("global"),
          place: inSurface(kit.i32(3), kit.add(scaled(4), kit.i32(at))),
          values: [kit.add(read(flat(freeAt)), kit.i32(1000))],
        },
        { lanes: all },
      );
    }
    k.exit();
    const { reports, out } = runThreads(m, options);
    expect(reports).toEqual([]);
    expect([...out]).toEqual([...range(16, (i) => 100 + i), ...range(14, (i) => 1117 + i), 1000, 131]);
  });

  test("of a vector the elements after the end are dropped, one by one", () => {
    const { m, k } = kernel(256);
    const pair = access("global", 32, { count: 4, align: 4 });
    const at = (e: number) => flat(freeAt + 64 * e);
    k.emit(
      { kind: "load", access: pair, place: inSurface(kit.i32(3), kit.add(scaled(4), kit.i32(40))) },
      { dst: range(4, (e) => into(at(e))), lanes: channels(4) },
    );
    const sum = [0, 1, 2, 3].reduce(
      (total: Expr, e) => kit.add(total, kit.select(kit.ne(read(at(e)), kit.i32(0)), kit.i32(1 << e), kit.i32(0))),
      kit.i32(0),
    );
    k.emit(
      { kind: "store", access: access("global"), place: inSurface(kit.i32(3), scaled(4)), values: [sum] },
      { lanes: channels(4) },
    );
    k.exit();
    expect([...runThreads(m, options).out].slice(16, 20)).toEqual([0b1111, 0b1111, 0b0111, 0b0011]);
  });

  test("atomic operations; the results may take the place of the offsets", () => {
    const { m, k } = kernel(64);
    put(k, flat(freeAt), kit.and(scaled(4), kit.i32(0x44)), all);
    k.emit(
      {
        kind: "atomic",
        access: access("global"),
        place: inSurface(kit.i32(3), read(flat(freeAt))),
        combine: [kit.add(old(0), kit.i32(1))],
      },
      { dst: [into(flat(freeAt))], lanes: all },
    );
    k.emit(
      {
        kind: "store",
        access: access("global"),
        place: inSurface(kit.i32(3), scaled(4)),
        values: [read(flat(freeAt))],
      },
      { lanes: all },
    );
    k.exit();
    // Lanes whose offset is 0 count one after the other, those with offset 4 too.
    const { out } = runThreads(m, options);
    expect([...out].slice(16, 31)).toEqual(range(15, (i) => [116, 117][i & 1]! + (i >> 1)));
  });

  test("shared local memory is a surface too, and unaligned elements may be allowed", () => {
    const { m, k } = kernel(64);
    const slm = kit.i32(surfaceIndex.slm);
    const loose = access("global", 32, { align: 1 });
    const four = channels(4);
    k.emit(
      { kind: "store", access: loose, place: inSurface(slm, scaled(5)), values: [kit.add(ids, kit.i32(7))] },
      { lanes: four },
    );
    k.emit(
      { kind: "load", access: loose, place: inSurface(slm, scaled(5)) },
      { dst: [into(flat(freeAt))], lanes: four },
    );
    k.emit(
      { kind: "store", access: loose, place: inSurface(kit.i32(3), scaled(4)), values: [read(flat(freeAt))] },
      { lanes: four },
    );
    k.exit();
    const { reports, out } = runThreads(m, options);
    expect(reports).toEqual([]);
    expect([...out].slice(16, 20)).toEqual([7, 8, 9, 10]);
  });

  test("an instruction may access another surface each time", () => {
    const { m, k } = kernel(64);
    k.emit(
      {
        kind: "store",
        access: access("global"),
        place: inSurface(
          kit.and(kit.shr(read(one(idAt)), kit.i32(4), false), kit.i32(1)),
          kit.shl(kit.and(ids, kit.i32(15)), kit.i32(2)),
        ),
        values: [ids],
      },
      { lanes: all },
    );
    k.exit();
    const both = new Map<number, Surface>([
      [0, { address: outAddress, bytes: 16 }],
      [1, { address: outAddress + 64n, bytes: 60 }],
    ]);
    const { out } = runThreads(m, { ...options, surfaces: both, grid: [4, 1, 1] });
    // Groups of even numbers write to the first surface, the others to the second one, the later ones over the earlier.
    const left = range(12, (i) => 104 + i);
    expect([...out]).toEqual([...range(4, (i) => 32 + i), ...left, ...range(15, (i) => 48 + i), 131]);
  });

  test("an index that is not bound", () => {
    const { m, k } = kernel(64);
    k.emit({ kind: "load", access: access("global"), place: inSurface(kit.i32(9), ids) }, { dst: [null], lanes: all });
    k.exit();
    const { reports } = runThreads(m, options);
    expect(reports.map((r) => [r.code, r.message, lineOf(r), r.count])).toEqual([
      ["surface-unbound", "no surface is bound to index 9", 0, 16],
    ]);
  });

  test("what a load brings goes to any region, also over its own addresses", () => {
    const { m, k } = kernel(160);
    // Addresses of 64 bits, over which bytes are spread at every second place, in reverse.
    k.emit(
      { kind: "pure", values: [kit.add(read(one(idAt + 128), 64), kit.widen(scaled(4), false))] },
      { dst: [into(flat(freeAt), 64)], lanes: all },
    );
    const spread = region(freeAt + 30, [2, 1, 0]);
    k.emit(
      { kind: "load", access: access("global"), place: atAddress(read(flat(freeAt), 64)) },
      { dst: [{ kind: "region", bits: 8, region: spread }], lanes: all },
    );
    k.emit(
      {
        kind: "store",
        access: access("global"),
        place: inSurface(kit.i32(3), scaled(4)),
        values: [read(spread, 8, false)],
      },
      { lanes: all },
    );
    k.exit();
    expect([...runThreads(m, options).out].slice(16, 31)).toEqual(range(15, (i) => 100 + i));
  });
});

test.each([
  [0n, "null-dereference: stores 4 bytes (global) at 0x0, near null"],
  [1n, "global-out-of-bounds: stores 4 bytes (global) at 0x1, where nothing is"],
  [0x12_3456_7890n, "global-out-of-bounds: stores 4 bytes (global) at 0x1234567890, where nothing is"],
])("device memory that is not there: %s", (address, expected) => {
  const { m, k } = kernel(64);
  k.store(access("global"), kit.i64(address), ids, { lanes: channels(1, 0, { noMask: true }) });
  k.exit();
  const { reports } = runThreads(m);
  expect(reports.map((r) => `${r.code}: ${r.message}`)).toEqual([expected]);
});

test("a fault names the lanes, and the thread of those that exist", () => {
  const { m, k } = kernel(64);
  k.store(access("global"), kit.add(kit.i64(16n), kit.widen(scaled(8), false)), ids, {
    lanes: channels(16, 0, { noMask: true }),
  });
  k.exit();
  const { reports } = runThreads(m, { width: 16, block: [5, 1, 1] });
  expect(reports.map((r) => [r.code, r.threads.map((t) => t.thread[0])])).toEqual([
    ["global-out-of-bounds", range(5, (i) => i)],
  ]);
});
