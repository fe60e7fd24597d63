import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { At } from "../../src/dwarf/constants.ts";
import { Entries, type Entry, numberOf, textOf } from "../../src/dwarf/entries.ts";
import { evaluateLocation, type LocationContext } from "../../src/dwarf/location.ts";
import { readDebugProgram, type SourceScope, type SourceVariable } from "../../src/dwarf/program.ts";
import { DwarfError } from "../../src/dwarf/reader.ts";
import type { DebugSection, DebugSections } from "../../src/dwarf/sections.ts";
import { plainType, sizeOfType, typeName } from "../../src/dwarf/types.ts";
import { Device } from "../../src/index.ts";
import { Random } from "../fuzz/random.ts";

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");

const sectionsOf = (name: string): DebugSections => {
  const { ir } = new Device().load({ path: name, text: read(`../../examples/cuda/${name}`) });
  return ir.functions.find(({ debug }) => debug !== undefined)!.debug!.sections;
};

const particles = sectionsOf("particles.ptx");
const program = readDebugProgram(particles);

/** An entry of readelf's list: its depth, its offset, and the attributes that the list was cut down to. */
function readelfEntries() {
  const entries: { depth: number; offset: number; attributes: Record<string, string> }[] = [];
  for (const line of read("particles.readelf.txt").split("\n")) {
    const entry = /^ <(\d+)><([0-9a-f]+)>/.exec(line);
    const attribute = /DW_AT_(\w+)\s*: (.*)$/.exec(line);
    if (entry) entries.push({ depth: Number(entry[1]), offset: Number.parseInt(entry[2]!, 16), attributes: {} });
    else if (attribute) entries.at(-1)!.attributes[attribute[1]!] = attribute[2]!;
  }
  return entries;
}

function* flat(entry: Entry, depth = 0): Generator<{ entry: Entry; depth: number }> {
  yield { entry, depth };
  for (const child of entry.children) yield* flat(child, depth + 1);
}

test("entries are those that readelf finds in the same sections", () => {
  const expected = readelfEntries();
  const found = new Entries(particles).units.flatMap((unit) => [...flat(unit)]);
  expect(expected.length).toBe(90);
  expect(found.map(({ entry, depth }) => [depth, entry.offset])).toEqual(
    expected.map(({ depth, offset }) => [depth, offset]),
  );
  for (const [i, { entry }] of found.entries()) {
    const { name, MIPS_linkage_name: linkage, byte_size: size, type } = expected[i]!.attributes;
    expect(textOf(entry, At.name)).toBe(name ?? null);
    expect(textOf(entry, At.mipsLinkageName)).toBe(linkage ?? null);
    expect(numberOf(entry, At.byteSize)).toBe(size === undefined ? null : Number(size));
    const target = entry.attributes.get(At.type);
    expect(target?.kind === "entry" ? `<0x${target.offset.toString(16)}>` : undefined).toBe(type);
  }
});

const move = program.functions.find(({ name }) => name === "move")!;

function* variablesIn(scope: SourceScope): Generator<SourceVariable> {
  yield* scope.variables;
  for (const inner of scope.scopes) yield* variablesIn(inner);
}

test("variables and types are those of the source", () => {
  const types = [...variablesIn(move)].map(({ name, type }) => `${name}: ${typeName(type)}`);
  expect(new Set(types)).toEqual(
    new Set([
      "all: Particle *",
      "out: float *",
      "count: int",
      "dt: double",
      "shared: float [4][2]",
      "i: int",
      "p: Particle",
      "word: Word",
      "big: u64",
      "small: signed char",
      "grid: int [2][3]",
      "target: float *",
      "place: const Vec &",
    ]),
  );
  expect(move.variables.filter((v) => v.isParameter).map(({ name }) => name)).toEqual(["all", "out", "count", "dt"]);
  // The inner `i` hides the outer one.
  expect([...variablesIn(move)].filter(({ name }) => name === "i")).toHaveLength(2);
  expect(program.variables.map(({ name }) => name)).toEqual(["steps", "scale"]);
});

test("members have the places that the C++ ABI of the Itanium documents gives them", () => {
  const p = [...variablesIn(move)].find(({ name }) => name === "p")!;
  const type = plainType(p.type);
  if (type.kind !== "struct") throw new Error(type.kind);
  expect(type.members().map(({ name, offset }) => [name, offset])).toEqual([
    ["at", 0],
    ["mass", 16],
    ["kind", 24],
    ["flag", 28],
    ["alive", 29],
    ["tag", 30],
    ["history", 32],
    ["next", 40],
  ]);
  expect(sizeOfType(type)).toBe(48);
  const kind = plainType(type.members()[2]!.type);
  expect(kind).toMatchObject({
    name: "physics::Kind",
    values: [
      { name: "physics::Rest", value: 0n },
      { name: "physics::Moving", value: 3n },
    ],
  });
  const next = plainType(type.members()[7]!.type);
  expect(typeName(next)).toBe("const Particle *");
});

const expression = (...bytes: number[]) => {
  const section: DebugSection = { bytes: Uint8Array.from(bytes), references: new Map() };
  return { section, start: 0, end: bytes.length };
};

const machine: LocationContext = {
  addressSize: 8,
  register: (name) => (name === "%rd1" ? 0x1000n : null),
  symbol: () => null,
  frameBase: () => 0x2000n,
  memory: (address) => address + 1n,
};

test("registers have their names as numbers", () => {
  // nvcc writes this for %r3: readelf calls it DW_OP_regx 2454067, which is 0x257233.
  expect(evaluateLocation(expression(0x90, 0xb3, 0xe4, 0x95, 0x01), machine)).toEqual({
    kind: "register",
    name: "%r3",
  });
});

test("expressions compute as the standard says", () => {
  const address = (...bytes: number[]) => {
    const place = evaluateLocation(expression(...bytes), machine);
    return place.kind === "memory" ? place.address : place;
  };
  // DW_OP_fbreg 16; fbreg -8; breg with an offset; lit3 lit5 minus; const1s -1; plus_uconst; dup mul; deref.
  expect(address(0x91, 0x10)).toBe(0x2010n);
  expect(address(0x91, 0x78)).toBe(0x1ff8n);
  expect(address(0x92, 0xb1, 0xc8, 0xc9, 0xab, 0x2, 0x04)).toBe(0x1004n);
  expect(address(0x35, 0x33, 0x1c)).toBe(2n);
  expect(address(0x09, 0xff)).toBe(0xffff_ffff_ffff_ffffn);
  expect(address(0x31, 0x23, 0x80, 0x01)).toBe(129n);
  expect(address(0x37, 0x12, 0x1e)).toBe(49n);
  expect(address(0x34, 0x06)).toBe(5n);
  expect(evaluateLocation(expression(0x3a, 0x9f), machine)).toMatchObject({ kind: "value" });
  expect(evaluateLocation(expression(), machine)).toEqual({ kind: "nowhere", why: "it is optimized out" });
  expect(evaluateLocation(expression(0x50, 0x93, 0x04), machine)).toMatchObject({ kind: "nowhere" });
});

test("malformed expressions are nowhere, with a reason", () => {
  for (const bytes of [[0x22], [0x06], [0x90], [0x10, 0x80], [0xff], [0x03, 1], [0x92, 0x05, 0x00]]) {
    expect(evaluateLocation(expression(...bytes), machine)).toMatchObject({ kind: "nowhere", why: expect.any(String) });
  }
});

/** The sections with some bytes changed, or cut off. */
function damaged(sections: DebugSections, random: Random): DebugSections {
  return {
    section: (name) => {
      const found = sections.section(name);
      if (found === null || random.below(4) === 0) return found;
      const bytes = found.bytes.slice(0, random.below(8) === 0 ? random.below(found.bytes.length + 1) : undefined);
      for (let n = random.below(6); n > 0 && bytes.length > 0; n--)
        bytes[random.below(bytes.length)] = random.below(256);
      return { bytes, references: found.references };
    },
  };
}

test("whatever the bytes are, the reader ends, with a result or an error of its own", () => {
  const random = new Random(15);
  let failed = 0;
  for (let n = 0; n < 3000; n++) {
    try {
      const { functions } = readDebugProgram(damaged(particles, random));
      for (const variable of functions.flatMap((f) => [...variablesIn(f)])) {
        typeName(variable.type);
        sizeOfType(variable.type);
        const type = plainType(variable.type);
        if (type.kind === "struct") type.members().map((m) => sizeOfType(m.type));
        for (const { block } of variable.locations) evaluateLocation(block, machine);
      }
    } catch (error) {
      expect(error).toBeInstanceOf(DwarfError);
      failed++;
    }
  }
  expect(failed).toBeGreaterThan(100);
  expect(failed).toBeLessThan(2900);
});
