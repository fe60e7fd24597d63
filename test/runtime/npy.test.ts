import { describe, expect, test } from "vitest";
import { type ElementType, elementTypes, toTypedArray } from "../../src/runtime/data/element.ts";
import { asType, readNumpy, writeNumpy } from "../../src/runtime/data/npy.ts";

const hex = (text: string) => Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
const ascii = (text: string) => [...text].map((c) => c.charCodeAt(0).toString(16).padStart(2, "0")).join("");

/** A file as numpy 2.4 lays it out (`np.save`); the header's text and the data are what it wrote. */
function saved(dictionary: string, data: string, version: 1 | 2 | 3 = 1): Uint8Array {
  const begin = version === 1 ? 10 : 12;
  const end = Math.max(128, Math.ceil((begin + dictionary.length + 1) / 64) * 64);
  const header = `${dictionary.padEnd(end - begin - 1)}\n`;
  const length = Buffer.alloc(begin - 8);
  length.writeUIntLE(header.length, 0, length.length);
  return hex(`934e554d50590${version}00${length.toString("hex")}${ascii(header)}${data}`);
}

const dictionary = (descr: string, shape: string, fortran = "False") =>
  `{'descr': '${descr}', 'fortran_order': ${fortran}, 'shape': ${shape}, }`;

describe("files that numpy wrote", () => {
  test.each([
    ["<f4", "(2, 3)", "000000000000803f0000004000004040000080400000a040", 1, "f32", [2, 3], [0, 1, 2, 3, 4, 5]],
    [">i2", "(3,)", "0001fffe012c", 1, "s16", [3], [1, -2, 300]],
    ["|b1", "(2,)", "0100", 1, "u8", [2], [1, 0]],
    ["<f2", "()", "003e", 1, "f16", [], [1.5]],
    ["<u8", "(1,)", "ffffffffffffffff", 1, "u64", [1], [0xffff_ffff_ffff_ffffn]],
    ["<f8", "(0, 4)", "", 1, "f64", [0, 4], []],
    ["<u4", "(2,)", "0700000008000000", 2, "u32", [2], [7, 8]],
    ["<i8", "(1,)", "f9ffffffffffffff", 3, "s64", [1], [-7n]],
  ] as const)("%s %s", (descr, shape, data, version, type, dimensions, values) => {
    const array = readNumpy(saved(dictionary(descr, shape), data, version));
    expect(array.type).toBe(type);
    expect(array.shape).toEqual(dimensions);
    expect([...toTypedArray(array.type, array.bytes)]).toEqual(values);
  });

  test.each([
    [dictionary("<f8", "(2, 2)", "True"), "the array is in Fortran order; save it with numpy.ascontiguousarray"],
    [dictionary("<c16", "(1,)"), 'arrays of "<c16" have no type that a kernel knows'],
    [dictionary("|O", "(1,)"), 'arrays of "|O" have no type that a kernel knows'],
    [
      "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }",
      'arrays of "records" have no type that a kernel knows',
    ],
    [dictionary("<f8", "(9,)"), "the header promises 72 bytes of data, the file has 8"],
    [dictionary("<f8", "(-1,)"), "the header has an entry that is not understood"],
    // As numpy.lib.format reads them: a literal of Python with exactly these three keys.
    [dictionary("<f8", "(1 2,)"), "the header has an entry that is not understood"],
    [dictionary("<f8", "(1)"), "the header has a shape that is no tuple of lengths"],
    [dictionary("<f8", "(,)"), "the header has an entry that is not understood"],
    [dictionary("<f8", "(01,)"), "the header has an entry that is not understood"],
    [dictionary("<f8", `(${"9".repeat(400)},)`), "the header has a length that no array has"],
    [dictionary("<f8", "(9007199254740991, 9007199254740991)"), "bytes of data; 2 GiB can be read"],
    [dictionary("<f8", `(${"1,".repeat(65)})`), "the header has 65 dimensions; NumPy has at most 64"],
    ["{'descr': '<f8', 'fortran_order': False}", "the header has no shape"],
    ["{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'more': (1,)}", "entries that a .npy file does not have"],
    ["{'descr': '<f8', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "the header has two entries descr"],
    ["{'descr': '<f8' 'fortran_order': False, 'shape': (1,)}", "the header has no comma between two entries"],
    ["('descr', '<f8')", "the header is no dictionary"],
    ["{'descr': True, 'fortran_order': False, 'shape': (1,)}", "the header has a descr that is no type"],
    ["{'descr': '<f8', 'fortran_order': '<f8', 'shape': (1,)}", "the header has a fortran_order"],
  ])("refused: %s", (header, message) => {
    expect(() => readNumpy(saved(header, "0000000000000000"))).toThrow(message);
  });

  test("invalid files of every length", () => {
    const file = saved(dictionary("<u4", "(2,)"), "0700000008000000");
    for (let end = 0; end < file.length; end++) expect(() => readNumpy(file.slice(0, end))).toThrow();
    for (let end = 6; end < 64; end++) {
      expect(() => readNumpy(file.slice(0, end))).toThrow("the file ends within its header");
    }
    expect(() => readNumpy(hex("934e554d50590900000000000000"))).toThrow(".npy version 9 is not known");
  });
});

test("writes the bytes that numpy writes", () => {
  const bytes = hex("000000000000803f0000004000004040000080400000a040");
  expect(writeNumpy({ type: "f32", shape: [2, 3], bytes })).toEqual(
    saved(dictionary("<f4", "(2, 3)"), "000000000000803f0000004000004040000080400000a040"),
  );
  expect(writeNumpy({ type: "u8", shape: [2], bytes: hex("0100") })).toEqual(saved(dictionary("|u1", "(2,)"), "0100"));
  expect(writeNumpy({ type: "f16", shape: [], bytes: hex("003e") })).toEqual(saved(dictionary("<f2", "()"), "003e"));
});

test.each(elementTypes.filter((type) => type !== "bf16"))("%s survives a round trip", (type: ElementType) => {
  const array = { type, shape: [2, 3], bytes: Uint8Array.from({ length: 48 }, (_, i) => (i * 37) & 0xff) };
  const size = toTypedArray(type, array.bytes).length;
  const whole = { ...array, shape: [size] };
  expect(readNumpy(writeNumpy(whole))).toEqual(whole);
});

test("conversion is exact or rejected", () => {
  const of = (type: ElementType, data: string) => ({ type, shape: [1], bytes: hex(data) });
  expect(asType(of("u16", "803f"), "bf16")).toEqual(hex("803f"));
  expect(asType(of("s64", "feffffffffffffff"), "s32")).toEqual(hex("feffffff"));
  expect(asType(of("f64", "000000000000f83f"), "f32")).toEqual(hex("0000c03f"));
  expect(() => asType(of("s64", "0000000001000000"), "s32")).toThrow("element 0 is 4294967296, which does not fit s32");
  expect(() => asType(of("f64", "000000000000f83f"), "s32")).toThrow("element 0 is 1.5, which s32 cannot hold");
});
