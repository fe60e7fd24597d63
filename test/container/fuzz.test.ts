import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ContainerError, isContainer, readContainer, readMachineCode } from "../../src/container/index.ts";
import { decodeLz4 } from "../../src/container/lz4.ts";
import { archiveOf, fixture } from "./fixtures.ts";
import { zebinOf } from "./zebin-of.ts";
import { zipOf } from "./zip-of.ts";

/** Files of each kind. */
const seeds: readonly Uint8Array[] = [
  ...[
    "sum-zstd.fatbin",
    "sum-lz4.fatbin",
    "sum-raw.fatbin",
    "fill.fatbin",
    "other.cubin",
    "two.exe",
    "fill.so",
    "sum-32bit.o",
  ].map(fixture),
  ...["fill.a", "linked-with-a-long-name.a", "scale.bin"].map(fixture),
  zebinOf({
    sections: { ".text.f": "code", ".data.const": new Uint8Array(32), ".visaasm": ".version 4.1\n" },
    symbols: { f: [".text.f", 0], table: [".data.const", 8] },
    addresses: [{ section: ".data.const", offset: 8, symbol: "f", type: 1 }],
  }),
  archiveOf([
    ["pad_0/", new Uint8Array(8)],
    ["64.9.0.9/", fixture("scale.bin")],
  ]),
  zipOf({ "a.visaasm": "text ".repeat(100), "b.bin": fixture("scale.bin") }, true),
  new TextEncoder().encode("\nFatbin ptx code:\n================\narch = sm_80\nidentifier = a.cu\n\n.version 9.0\n"),
];

/** Reads everything. Throws what no reader may throw. */
function readAll(bytes: Uint8Array): void {
  const attempt = <T>(read: () => T): T | null => {
    try {
      return read();
    } catch (error) {
      if (error instanceof ContainerError) return null;
      throw error;
    }
  };
  const container = attempt(() => readContainer(bytes, "x"));
  if (container === null) return;
  expect(isContainer(bytes)).toBe(true);
  for (const { images } of container.modules) {
    for (const image of images) {
      const read = attempt(() => image.read());
      if (read !== null) expect(read.length).toBeLessThanOrEqual(image.bytes);
      if (read !== null && image.kind === "machine code") attempt(() => readMachineCode(read));
    }
  }
  for (const file of container.files) attempt(() => file.read());
}

/** Offsets near the beginning are more likely, as headers are there. */
const offset = fc.oneof(fc.nat(160), fc.nat(20_000));
const edit = fc.record({
  at: offset,
  bytes: fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 8 }),
    fc
      .constantFrom(...[[0], [0xff], [0xff, 0xff, 0xff, 0xff], [0, 0, 0, 0], [0, 0, 0, 0x80], [0xff, 0xff, 0xff, 0x7f]])
      .map((bytes) => Uint8Array.from(bytes)),
  ),
});

describe("whatever the bytes, readers throw nothing but their own error, and end soon", () => {
  test("damaged files", () => {
    const damaged = fc
      .record({
        seed: fc.constantFrom(...seeds),
        edits: fc.array(edit, { minLength: 1, maxLength: 6 }),
        end: fc.option(offset),
      })
      .map(({ seed, edits, end }) => {
        const bytes = seed.slice(0, end ?? undefined);
        for (const { at, bytes: put } of edits)
          bytes.set(put.subarray(0, Math.max(0, bytes.length - (at % (bytes.length + 1)))), at % (bytes.length + 1));
        return bytes;
      });
    fc.assert(fc.property(damaged, readAll), { numRuns: 3000 });
  });

  test("noise after each beginning", () => {
    const beginnings = seeds.map((seed) => seed.slice(0, 24));
    const noise = fc
      .tuple(fc.constantFrom(...beginnings), fc.uint8Array({ maxLength: 300 }))
      .map(([begin, rest]) => Uint8Array.from([...begin, ...rest]));
    fc.assert(fc.property(noise, readAll), { numRuns: 2000 });
  });

  test("LZ4 of noise has the declared size, or is refused", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.nat(300), (bytes, size) => {
        try {
          expect(decodeLz4(bytes, size)).toHaveLength(size);
        } catch (error) {
          expect(error).toBeInstanceOf(ContainerError);
        }
      }),
      { numRuns: 5000 },
    );
  });
});
