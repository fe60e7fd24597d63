import { expect, test } from "vitest";
import { DeviceMemory } from "../../../src/machine/memory/memory.ts";
import { LaunchMemory } from "../../../src/runtime/visa/launch-memory.ts";
import { openPrintfBuffer, readPrintfBuffer } from "../../../src/runtime/visa/printf-buffer.ts";

/** A part of a record: a tag or an int, or what a tag says. */
type Part = number | { readonly f32: number } | { readonly f64: number } | { readonly u64: bigint };

const bytesOf = (part: Part): Uint8Array => {
  if (typeof part === "number") return new Uint8Array(Int32Array.of(part).buffer);
  if ("f32" in part) return new Uint8Array(Float32Array.of(part.f32).buffer);
  if ("f64" in part) return new Uint8Array(Float64Array.of(part.f64).buffer);
  return new Uint8Array(BigUint64Array.of(part.u64).buffer);
};

function printed(records: readonly (readonly [format: string, parts: readonly (Part | string)[]])[]): string {
  const memory = new LaunchMemory(new DeviceMemory());
  const string = (text: string): Part => {
    const place = memory.alloc(text.length + 1, "a string");
    memory.write(
      place,
      Uint8Array.from(text, (c) => c.charCodeAt(0)),
    );
    return { u64: place.address };
  };
  const buffer = openPrintfBuffer(memory);
  const parts = records.flatMap(([format, rest]) => [string(format), ...rest]);
  const bytes = parts.flatMap((part) => [...bytesOf(typeof part === "string" ? string(part) : part)]);
  memory.write({ ...buffer, address: buffer.address + 4n }, Uint8Array.from(bytes));
  memory.write(buffer, bytesOf(4 + bytes.length));
  return readPrintfBuffer(buffer, memory);
}

test("nothing was printed", () => expect(printed([])).toBe(""));

// The record of shared cases: the address of the format, and 3 before each int.
test("ints, one record after the other", () => {
  expect(printed([["i=%d a=%d\n", [3, 3, 3, 509]]])).toBe("i=3 a=509\n");
  expect(
    printed([
      ["%x;", [3, -1]],
      ["plain;", []],
      ["%5d%%", [3, 7]],
    ]),
  ).toBe("ffffffff;plain;    7%");
});

// The tags are those of OpenCL's runtime: 4 float, 5 string, 6 long, 8 double, 9 to 14 vectors of 8, 16, 32, 64 bits,
// floats, doubles.
test.each<[string, readonly (Part | string)[], string]>([
  ["%.2f", [4, { f32: 1.5 }], "1.50"],
  ["%g", [8, { f64: 0.1 }], "0.1"],
  ["%ld", [6, { u64: 0xffff_ffff_ffff_fffen }], "-2"],
  ["<%s>", [5, "word"], "<word>"],
  ["%v4d", [11, 4, 1, 2, 3, -4], "1,2,3,-4"],
  // Values are converted to what the length says before they are printed (OpenCL C 3.0, 6.15.14.2).
  ["%v2hhx", [9, 2, 0x10ff, 0, 0], "ff,10"],
  ["%v2hx|%v2hd", [10, 2, -2, 0, 10, 2, -2, 0], "fffe,ffff|-2,-1"],
  ["%v2lx", [12, 2, { u64: 0xffff_ffff_ffff_ffffn }, { u64: 1n }], "ffffffffffffffff,1"],
  ["%v2hlx", [11, 2, -1, 1], "ffffffff,1"],
  ["%.1v2hlf|%d", [13, 2, { f32: 0.5 }, { f32: 2.5 }, 3, 9], "0.5,2.5|9"],
])("%s", (format, parts, text) => expect(printed([[format, parts]])).toBe(text));

test("a truncated record is not an error", () => expect(printed([["%d %s", []]])).toBe("0 "));
