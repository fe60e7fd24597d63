import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ContainerError } from "../../src/container/index.ts";
import { decodeZstd } from "../../src/container/zstd/decode-zstd.ts";
import { xxh64Low } from "../../src/container/zstd/xxh64.ts";
import { fixture, joined } from "./fixtures.ts";

/** 2000 numbers from 0 to 3, as `make.sh` has them. */
const digits = (): Uint8Array => {
  let x = 1;
  return Uint8Array.from({ length: 2000 }, () => ((x = (Math.imul(x, 1103515245) + 12345) >>> 0) >>> 16) & 3);
};

/** Files of `zstd`, what was put in, and what is special about them. */
const files: readonly (readonly [name: string, content: Uint8Array, what: string])[] = [
  ["sum-19", fixture("sum.ptx"), "the usual"],
  ["sum-small-window", fixture("sum.ptx"), "several blocks, which use tables of those before"],
  ["sum-fast", fixture("sum.ptx"), "no checksum"],
  ["sum-stream", fixture("sum.ptx"), "no size"],
  ["exe-9", fixture("two.exe"), "four streams of literals, no checksum"],
  ["scale-22-long", fixture("scale.bin"), "a window of 128 MiB"],
  ["scale-small-window", fixture("scale.bin"), "Huffman tables that are used again"],
  ["incompressible", fixture("sum-zstd.fatbin"), "literals as they are"],
  ["digits", digits(), "weights that are not compressed"],
  ["zeros", new Uint8Array(1_000_000), "blocks of one byte"],
  ["one", Uint8Array.of(0x78), "one byte"],
  ["empty", new Uint8Array(), "nothing"],
];
const compressed = (name: string): Uint8Array => fixture(`zstd/${name}.zst`);

test.each(files)("%s", (name, content) => {
  expect(Buffer.compare(decodeZstd(compressed(name), content.length), content)).toBe(0);
});

test("one frame after another, with frames in between that are to be skipped", () => {
  const skipped = Uint8Array.of(0x5f, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3);
  const data = joined(skipped, compressed("sum-19"), compressed("empty"), skipped, compressed("sum-stream"), skipped);
  const text = fixture("sum.ptx");
  expect(Buffer.compare(decodeZstd(data, 2 * text.length), joined(text, text))).toBe(0);
  expect(decodeZstd(skipped, 0)).toHaveLength(0);
});

// Origin: the checksums that zstd 1.5.4 writes for these texts.
test.each([
  ["", 0x51d8e999],
  ["a", 0xa98c6e5b],
  ["abc", 0xad770999],
])("the lower half of XXH64 of %j", (content, low) => {
  expect(xxh64Low(new TextEncoder().encode(content)).toString(16)).toBe(low.toString(16));
});

/** A frame with a window of 2 MiB and its size in four bytes. */
function frameOf(size: number, ...blocks: readonly Uint8Array[]): Uint8Array {
  const head = [0x28, 0xb5, 0x2f, 0xfd, 0x80, 0x58, size & 0xff, (size >> 8) & 0xff, (size >> 16) & 0xff, size >> 24];
  return joined(Uint8Array.from(head), ...blocks);
}
const [raw, repeated, packed, reserved] = [0, 1, 2, 3];

/** The last block of a frame; `size` is what the header says. */
function blockOf(type: number, content: readonly number[], size = content.length): Uint8Array {
  const header = 1 | (type << 1) | (size << 3);
  return Uint8Array.of(header & 0xff, (header >> 8) & 0xff, header >> 16, ...content);
}

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

describe("blocks made by hand, after RFC 8878", () => {
  test.each<[string, number, readonly number[], string]>([
    ["one literal, repeated, in a header of 1 byte", 5, [(5 << 3) | 1, 0x61, 0], "aaaaa"],
    ["in a header of 2 bytes", 5, [(5 << 4) | 5, 0, 0x61, 0], "aaaaa"],
    ["in a header of 3 bytes", 5, [(5 << 4) | 13, 0, 0, 0x61, 0], "aaaaa"],
    ["literals as they are, in a header of 3 bytes", 2, [(2 << 4) | 12, 0, 0, 0x61, 0x62, 0], "ab"],
    // Each table has one code: 2 literals, a number of 4 and two bits, which is the distance 1, and the length 3.
    ["a copy", 5, [2 << 3, 0x61, 0x62, 1, 0x54, 2, 2, 0, 4], "abbbb"],
    // The number 2 stands for the second of the last distances, which is 4 at first.
    ["a distance from before", 7, [4 << 3, 0x61, 0x62, 0x63, 0x64, 1, 0x54, 4, 1, 0, 2], "abcdabc"],
  ])("%s", (_, size, content, expected) => {
    expect(text(decodeZstd(frameOf(size, blockOf(packed, content)), size))).toBe(expected);
  });

  test("32512 sequences in 12 bytes", () => {
    // No code needs bits: each sequence is a literal, and three copies of it by the last distance, 1.
    const literals = [((32512 & 15) << 4) | 13, (32512 >> 4) & 0xff, 32512 >> 12, 0x61];
    const block = blockOf(packed, [...literals, 255, 0, 0, 0x54, 1, 0, 0, 1]);
    expect(decodeZstd(frameOf(130048, block), 130048).every((byte) => byte === 0x61)).toBe(true);
  });
});

describe("what the format forbids is refused", () => {
  const sum = compressed("sum-19");
  /** Bytes with some of them changed. */
  const changed = (bytes: Uint8Array, at: number, ...put: readonly number[]): Uint8Array => {
    const copy = bytes.slice();
    copy.set(put, at);
    return copy;
  };
  const size = fixture("sum.ptx").length;
  const byHand = (content: readonly number[], room = 5): [Uint8Array, number] => [
    frameOf(room, blockOf(packed, content)),
    room,
  ];
  const copyOf = (...sequence: readonly number[]): [Uint8Array, number] => byHand([2 << 3, 0x61, 0x62, 1, ...sequence]);
  test.each<[string, Uint8Array, number, RegExp]>([
    ["text", new TextEncoder().encode(".version 9.0"), 5, /this should be the beginning of a frame of zstd/],
    ["nothing", new Uint8Array(), 0, /ends after 0 bytes/],
    [
      "a checksum that does not match",
      changed(sum, sum.length - 1, sum.at(-1)! ^ 1),
      size,
      /the checksum does not match/,
    ],
    ["bytes after the end", joined(sum, Uint8Array.of(1, 2, 3, 4)), size, /the beginning of a frame .*at byte 0x368/],
    ["a reserved flag", changed(sum, 4, sum[4]! | 8), size, /a frame has a flag that is reserved/],
    ["a dictionary", frameOf(1).fill(0x81, 4, 5).fill(7, 6, 7), 1, /it needs the dictionary 7; data with dictionaries/],
    ["less than was declared", sum, size + 1, /there are 2551 bytes where 2552 were declared/],
    ["more than was declared", sum, size - 1, /it says 2551 bytes where 2550 were declared/],
    ["more, and no size", compressed("sum-stream"), size - 1, /there is more than was declared|a block stands for/],
    ["a size that cannot be", frameOf(2 ** 27), 2 ** 27, /134217728 bytes cannot be in it/],
    ["less than the header says", frameOf(5, blockOf(raw, [1, 2])), 5, /a frame has 2 bytes, and its header says 5/],
    ["too long a block", frameOf(5, blockOf(repeated, [1], 6)), 5, /there is more than was declared/],
    ["a block of 128 KiB and 1", frameOf(0x20001, blockOf(repeated, [1], 0x20001)), 0x20001, /131072 are the most/],
    ["a reserved block", frameOf(5, blockOf(reserved, [])), 5, /there is no such kind of block/],
    ["an empty bitstream", ...copyOf(0x54, 2, 2, 0), /a bitstream is empty/],
    ["a bitstream of zeros", ...copyOf(0x54, 2, 2, 0, 0), /a bitstream does not say where it ends/],
    ["a bit too few", ...copyOf(0x54, 2, 2, 0, 2), /a bitstream ends too early/],
    ["a bit too many", ...copyOf(0x54, 2, 2, 0, 8), /1 bits of a bitstream are left over/],
    ["too far back", ...copyOf(0x54, 2, 2, 0, 7), /a distance points before the beginning/],
    // The number 3 after no literals: the last distance less 1, which is 0 at first.
    ["a distance of 0", ...copyOf(0x54, 0, 1, 0, 3), /a distance is 0/],
    ["too many literals wanted", ...copyOf(0x54, 3, 2, 0, 4), /there are fewer literals than sequences need/],
    ["too long a copy", ...copyOf(0x54, 2, 2, 1, 4), /a block stands for more than it may/],
    ["no such code", ...copyOf(0x54, 36, 2, 0, 4), /there is no code 36 for literals/],
    ["no table to use again", ...copyOf(0xd4, 2, 2, 0, 4), /a block needs a table of one before/],
    ["reserved flags of tables", ...copyOf(0x55, 2, 2, 0, 4), /a block has flags that are reserved/],
    [
      "no Huffman table to use again",
      ...byHand([0x53, 0x40, 0, 1, 0]),
      /a block needs the Huffman table of one before/,
    ],
    ["a block that goes on", ...byHand([5 << 3, 1, 2, 3, 4, 5, 0, 0]), /a block without sequences goes on/],
  ])("%s", (_, data, room, message) => {
    expect(() => decodeZstd(data, room)).toThrow(ContainerError);
    expect(() => decodeZstd(data, room)).toThrow(message);
  });

  test("a window that is smaller than a distance", () => {
    // The header of a stream: the smallest window, 1 KiB, and no size.
    const begin = Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0, 0);
    const block = Uint8Array.of(0, 0x20, 0, ...new Uint8Array(1024));
    // No literals; the number 2^11 + x for the distance 2^11 + x - 3.
    const copy = (bits: number): Uint8Array => blockOf(packed, [0, 1, 0x54, 0, 10, 0, bits & 0xff, 4 | (bits >> 8)]);
    expect(decodeZstd(joined(begin, block, block, copy(3)), 2051)).toHaveLength(2051);
    const far = joined(begin, block, block, copy(4));
    expect(() => decodeZstd(far, 2051)).toThrow(/a distance is larger than the window/);
  });

  test.each(files)("every beginning of %s", (name, content) => {
    const data = compressed(name);
    for (let end = 0; end < data.length; end++)
      expect(() => decodeZstd(data.subarray(0, end), content.length)).toThrow(ContainerError);
  });
});

describe("damage", () => {
  const damage = fc.record({
    file: fc.constantFrom(...files.filter(([name]) => name !== "zeros")),
    edits: fc.array(fc.tuple(fc.oneof(fc.nat(24), fc.nat(5000)), fc.integer({ min: 1, max: 255 })), {
      minLength: 1,
      maxLength: 4,
    }),
  });
  /** Null if the data is refused. */
  const decodeOrRefuse = (data: Uint8Array, size: number): Uint8Array | null => {
    try {
      return decodeZstd(data, size);
    } catch (error) {
      expect(error).toBeInstanceOf(ContainerError);
      return null;
    }
  };

  test("is found, or changes nothing where there is a checksum", () => {
    const property = fc.property(damage, ({ file: [name, content], edits }) => {
      const data = compressed(name);
      for (const [at, change] of edits) data[at % data.length]! ^= change;
      const found = decodeOrRefuse(data, content.length);
      if (found === null) return;
      expect(found).toHaveLength(content.length);
      if (name !== "sum-fast" && name !== "exe-9") expect(Buffer.compare(found, content)).toBe(0);
    });
    fc.assert(property, { numRuns: 5000 });
  });

  test("of blocks without a checksum ends soon, whatever they say", () => {
    const block = fc.uint8Array({ minLength: 2, maxLength: 60 }).map((bytes) => blockOf(packed, [...bytes]));
    const property = fc.property(block, fc.nat(0x2_0000), (bytes, size) => {
      decodeOrRefuse(frameOf(size, bytes), size);
    });
    fc.assert(property, { numRuns: 5000 });
  });
});
