import { expect, test } from "vitest";
import { readDebugProgram } from "../../src/dwarf/program.ts";
import { DwarfError } from "../../src/dwarf/reader.ts";
import type { DebugSection, DebugSections, SymbolReference } from "../../src/dwarf/sections.ts";

/*
 * Lists of ranges and locations as DWARF 5 has them (sections 2.6.2, 2.17.3, 7.7.3 and 7.25), and as the versions
 * before have them, of one function with one variable. Addresses are labels, as in PTX.
 */
type Part = number | string | { readonly u32: number } | { readonly label: string };

/** Bytes, texts that end with a zero, numbers of four bytes, and addresses of eight. */
function section(...parts: readonly Part[]): DebugSection {
  const bytes: number[] = [];
  const references = new Map<number, SymbolReference>();
  for (const part of parts) {
    if (typeof part === "number") bytes.push(part);
    else if (typeof part === "string") bytes.push(...new TextEncoder().encode(part), 0);
    else if ("u32" in part) bytes.push(...[0, 8, 16, 24].map((shift) => (part.u32 >>> shift) & 0xff));
    else {
      references.set(bytes.length, { symbol: part.label, addend: 0 });
      bytes.push(0, 0, 0, 0, 0, 0, 0, 0);
    }
  }
  return { bytes: Uint8Array.from(bytes), references };
}

const label = (name: string): Part => ({ label: name });

/** DW_TAG_compile_unit (name, low_pc), DW_TAG_subprogram (name, ranges), DW_TAG_variable (name, location). */
const abbreviations = (offset: number): DebugSection =>
  section(
    ...[1, 0x11, 1, 0x03, 0x08, 0x11, 0x01, 0, 0],
    ...[2, 0x2e, 1, 0x03, 0x08, 0x55, offset, 0, 0],
    ...[3, 0x34, 0, 0x03, 0x08, 0x02, offset, 0, 0],
    0,
  );

const entries = (ranges: number, locations: number): readonly Part[] => [
  ...[1, "a.cu", label("unit")],
  ...[2, "k", { u32: ranges }],
  ...[3, "v", { u32: locations }],
  ...[0, 0],
];

function programOf(sections: Readonly<Record<string, DebugSection>>) {
  const found: DebugSections = { section: (name) => sections[name] ?? null };
  const [f] = readDebugProgram(found).functions;
  const [v] = f!.variables;
  const bytesOf = ({ section: of, start, end }: { section: DebugSection; start: number; end: number }) => [
    ...of.bytes.subarray(start, end),
  ];
  return { ranges: f!.ranges, locations: v!.locations.map(({ range, block }) => ({ range, bytes: bytesOf(block) })) };
}

const at = (symbol: string, addend = 0) => ({ symbol, addend });

/** A unit of version 5: the length 0, which compilers for PTX leave to the assembler. */
const version5 = (ranges: readonly Part[], locations: readonly Part[]) => ({
  debug_abbrev: abbreviations(0x17),
  debug_info: section({ u32: 0 }, 5, 0, 1, 8, { u32: 0 }, ...entries(1, 1)),
  // A byte before each list, so that the offset counts.
  debug_rnglists: section(0xff, ...ranges),
  debug_loclists: section(0xff, ...locations),
});

test("lists of DWARF 5", () => {
  const { ranges, locations } = programOf(
    version5(
      // offset_pair; base_address, offset_pair (300 is two bytes of LEB128); start_end; start_length; end_of_list
      [4, 2, 8, 5, label("L1"), 4, 0, 0xac, 0x02, 6, label("L2"), label("L3"), 7, label("L4"), 16, 0],
      // default_location first; offset_pair; base_address, offset_pair; start_end; start_length; end_of_list
      [
        ...[5, 1, 0x9c, 4, 0, 4, 2, 0x90, 7, 6, label("L1"), 4, 4, 8, 1, 0x30],
        ...[7, label("L2"), label("L3"), 1, 0x31, 8, label("L4"), 16, 1, 0x32, 0],
      ],
    ),
  );
  expect(ranges).toEqual([
    { from: at("unit", 2), to: at("unit", 8) },
    { from: at("L1"), to: at("L1", 300) },
    { from: at("L2"), to: at("L3") },
    { from: at("L4"), to: at("L4", 16) },
  ]);
  // The default location is for what no range has, so it comes last.
  expect(locations).toEqual([
    { range: { from: at("unit"), to: at("unit", 4) }, bytes: [0x90, 7] },
    { range: { from: at("L1", 4), to: at("L1", 8) }, bytes: [0x30] },
    { range: { from: at("L2"), to: at("L3") }, bytes: [0x31] },
    { range: { from: at("L4"), to: at("L4", 16) }, bytes: [0x32] },
    { range: null, bytes: [0x9c] },
  ]);
});

test("what refers to other sections, or ends within an entry, is an error with a reason", () => {
  expect(() => programOf(version5([1, 0], [0]))).toThrow(DwarfError);
  expect(() => programOf(version5([1, 0], [0]))).toThrow("entries of the kind 1 in lists are not supported");
  expect(() => programOf(version5([4, 2], [0]))).toThrow("the data ends within a value");
});

test("lists of DWARF 2 to 4", () => {
  const zero = [0, 0, 0, 0, 0, 0, 0, 0];
  const { ranges, locations } = programOf({
    debug_abbrev: abbreviations(0x06),
    debug_info: section({ u32: 0 }, 2, 0, { u32: 0 }, 8, ...entries(0, 0)),
    debug_ranges: section(label("L1"), label("L2"), ...zero, ...zero),
    debug_loc: section(label("L1"), label("L2"), 2, 0, 0x90, 7, ...zero, ...zero),
  });
  expect(ranges).toEqual([{ from: at("L1"), to: at("L2") }]);
  expect(locations).toEqual([{ range: { from: at("L1"), to: at("L2") }, bytes: [0x90, 7] }]);
});
