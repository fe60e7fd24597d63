import { deflateRawSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import {
  type Container,
  ContainerError,
  isContainer,
  readContainer,
  readMachineCode,
} from "../../src/container/index.ts";
import { archiveOf, fatBinaryOf, fixture, joined } from "./fixtures.ts";
import { zebinOf } from "./zebin-of.ts";
import { zipOf } from "./zip-of.ts";

const open = (name: string): Container => readContainer(fixture(name), name)!;
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
/** A line for each image, as short as it can be. */
const images = ({ modules }: Container): string[] =>
  modules.flatMap(({ name, relocatable, images: all }) =>
    all.map(({ kind, architecture, version, compression, storedBytes, bytes, options }) =>
      [name + (relocatable ? "+" : ""), kind, architecture, version, compression, storedBytes, bytes, options]
        .join(" ")
        .trim(),
    ),
  );

// Origin of the figures: a reader in Python of the layout, and readelf.
test.each<[string, string, readonly string[]]>([
  ["sum-zstd.fatbin", "fat binary", ["sum-zstd ptx sm_75 9.0 zstd 737 2159"]],
  ["sum-lz4.fatbin", "fat binary", ["sum-lz4 ptx sm_75 9.0 LZ4 1042 2159"]],
  ["sum-32bit.o", "ELF object", ["sum-32bit ptx sm_75 9.0 LZ4 1042 2159"]],
  ["sum-raw.fatbin", "fat binary", ["sum ptx sm_75 9.0 none 2432 2432 --generate-line-info"]],
  [
    "fill.fatbin",
    "fat binary",
    ["fill ptx sm_80 9.0 zstd 278 618", "fill ptx sm_90a 9.0 zstd 277 619", "fill machine code sm_90a  none 5200 5200"],
  ],
  ["other.cubin", "cubin", ["other machine code sm_80  none 3112 3112"]],
  ["two.exe", "ELF executable", ["fill ptx sm_75 9.0 zstd 278 618", "other ptx sm_75 9.0 zstd 193 264"]],
  ["two-stripped.exe", "ELF executable", ["1 ptx sm_75 9.0 zstd 278 618", "2 ptx sm_75 9.0 zstd 193 264"]],
  ["fill.so", "ELF shared object", ["1 ptx sm_75 9.0 zstd 278 618"]],
  ["fill.a", "archive", ["fill ptx sm_75 9.0 zstd 278 618"]],
  [
    "linked-with-a-long-name.a",
    "archive",
    [
      "linked-main+ ptx sm_75 9.0 zstd 352 610 --compile-only",
      "linked-twice+ ptx sm_75 9.0 zstd 184 267 --compile-only",
    ],
  ],
])("%s is read", (name, format, expected) => {
  const container = open(name);
  expect(container.format).toBe(format);
  expect(images(container)).toEqual(expected);
  expect(container.problems).toEqual([]);
});

test("every form of compression gives the same text", () => {
  const [zstd, lz4, raw] = ["zstd", "lz4", "raw"].map((how) =>
    text(open(`sum-${how}.fatbin`).modules[0]!.images[0]!.read()),
  );
  expect(lz4).toBe(zstd);
  // Fat binaries lack the comments, and have a blank where nvcc -ptx writes a tab.
  const instructions = (ptx: string): string[] =>
    ptx
      .split("\n")
      .map((line) =>
        line
          .replace(/\/\/.*/, "")
          .replaceAll(/\s+/g, " ")
          .trim(),
      )
      .filter((line) => line !== "");
  const expected = instructions(text(fixture("sum.ptx")));
  expect(instructions(zstd!)).toEqual(expected);
  const withoutLines = instructions(raw!).filter((line) => !/^\.(loc|file)|^\$L__func|^\.section/.test(line));
  expect(withoutLines.filter((line) => expected.includes(line)).length).toBeGreaterThanOrEqual(expected.length);
});

test("without a table of sections fat binaries are found by how they begin", () => {
  const bytes = fixture("two.exe");
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0x28, 0n, true);
  view.setUint16(0x3c, 0, true);
  const { modules } = readContainer(bytes, "two.exe")!;
  expect(modules.map(({ name }) => name)).toEqual(["1", "2"]);
  expect(text(modules[1]!.images[0]!.read())).toContain(".entry _Z3ownPi(");
});

test("in a program of Windows too", () => {
  const start = new Uint8Array(512);
  start.set([0x4d, 0x5a, 0x90, 0]);
  const { format, modules } = readContainer(joined(start, fixture("sum-lz4.fatbin")), "x.exe")!;
  expect([format, modules.map(({ name }) => name)]).toEqual(["Windows program", ["1"]]);
  expect(text(modules[0]!.images[0]!.read())).toContain(".entry _Z3sumPKfPfi(");
});

test("what machine code needs, as cuobjdump -res-usage counts it", () => {
  expect(readMachineCode(fixture("other.cubin"))).toEqual([{ name: "_Z3ownPi", registers: 8, sharedBytes: 0 }]);
  const [, , code] = open("fill.fatbin").modules[0]!.images;
  expect(readMachineCode(code!.read()).map(({ name, registers }) => `${name} ${registers}`)).toEqual([
    "_Z4fillPii 10",
    "_Z3ownPi 8",
  ]);
});

test("a zebin has its texts, its .ze_info and its names", () => {
  const { format, files } = open("scale.bin");
  expect(format).toBe("OpenCL binary (zebin)");
  expect(files.map(({ path }) => path)).toEqual(["scale.visaasm", ".ze_info"]);
  expect(text(files[0]!.read())).toMatch(/^\.version 4\.1\n\.kernel "\w+"/);
  expect(text(files[1]!.read())).toContain("- name:            scale");
});

test("addresses in the data of a zebin, as readelf -r lists them", () => {
  const zebin = zebinOf({
    sections: { ".text.f": "code", ".data.const": new Uint8Array(32), ".visaasm": ".version 4.1\n" },
    symbols: { f: [".text.f", 0], table: [".data.const", 8] },
    addresses: [
      { section: ".data.const", offset: 8, symbol: "f", type: 1 },
      { section: ".data.const", offset: 16, symbol: "table", type: 2 },
      { section: ".data.const", offset: 24, symbol: "table", type: 3 },
      { section: ".text.f", offset: 0, symbol: "table", type: 1 },
    ],
  });
  const { symbols, relocations, problems } = readContainer(zebin, "x")!;
  const expected = [
    { section: ".data.const", offset: 8, symbol: "f", bytes: 8 },
    { section: ".data.const", offset: 16, symbol: "table", bytes: 4 },
  ];
  expect(relocations).toEqual(expected);
  expect(symbols).toEqual([{ name: "table", section: ".data.const", offset: 8 }]);
  expect(problems).toEqual(["the address of table at .data.const+24 is of type 3, which is not read"]);
  // Of several devices each has its own.
  const archive = readContainer(
    archiveOf([
      ["64.9.0.9/", zebin],
      ["64.12.0.0/", zebin],
    ]),
    "x",
  )!;
  expect(archive.relocations).toEqual(
    ["64.9.0.9", "64.12.0.0"].flatMap((device) =>
      expected.map((place) => ({ ...place, section: `${device}/.data.const` })),
    ),
  );
  expect(archive.files.map(({ path }) => path)).toContain("64.12.0.0/.data.const");
});

describe("archives", () => {
  const inner = fixture("sum-lz4.fatbin");
  test("of BSD, with the name before the contents", () => {
    const name = new TextEncoder().encode("a long name.o\0\0\0");
    const bytes = archiveOf([
      ["__.SYMDEF", new Uint8Array(3)],
      [`#1/${name.length}`, joined(name, inner)],
    ]);
    expect(images(readContainer(bytes, "x.a")!)).toEqual(["a long name ptx sm_75 9.0 LZ4 1042 2159"]);
  });
  test("of ocloc, for several devices", () => {
    const bin = fixture("scale.bin");
    const bytes = archiveOf([
      ["pad_0/", new Uint8Array(8)],
      ["64.9.0.9/", bin],
      ["64.12.0.0/", bin],
    ]);
    expect(readContainer(bytes, "x")!.files.map(({ path }) => path)).toEqual([
      ...["64.9.0.9/scale.visaasm", "64.9.0.9/.ze_info"],
      ...["64.12.0.0/scale.visaasm", "64.12.0.0/.ze_info"],
    ]);
  });
  test("that are thin have only names", () => {
    const thin = new TextEncoder().encode("!<thin>\nfill.o/                                       0         `\n");
    expect(() => readContainer(thin, "x.a")).toThrow("x.a: a thin archive has only the names of its objects");
  });
  test("a member that is damaged does not hide the others", () => {
    const bad = inner.slice(0, 300);
    const { modules, problems } = readContainer(
      archiveOf([
        ["bad.o/", bad],
        ["good.o/", inner],
      ]),
      "x.a",
    )!;
    expect(modules.map(({ name }) => name)).toEqual(["good"]);
    expect(problems).toEqual([expect.stringContaining("bad.o")]);
  });
});

describe("ZIP archives", () => {
  const files = { "a/b.visaasm": "text ".repeat(1000), "c.yaml": "kernels:" };
  test.each([true, false])("compressed: %s", (compressed) => {
    const { format, files: found } = readContainer(zipOf(files, compressed), "x.zip")!;
    expect(format).toBe("ZIP archive");
    expect(Object.fromEntries(found.map((file) => [file.path, text(file.read())]))).toEqual(files);
  });
  test("that are cut off", () => {
    expect(() => readContainer(zipOf(files, true).slice(0, -30), "x.zip")).toThrow(
      /the ZIP archive is missing|cut off/,
    );
  });
});

test("Node's own compressor is undone at every level, for texts and for noise", () => {
  const noise = Uint8Array.from({ length: 5000 }, (_, i) => (i * i * 7919 + (i >> 3)) & 255);
  for (const content of ["", "a", "abc".repeat(5000), fixture("two.exe"), noise]) {
    const raw = typeof content === "string" ? new TextEncoder().encode(content) : content;
    for (const level of [0, 1, 6, 9]) {
      for (const strategy of [0, 2, 4]) {
        const zip = zipOf({ x: raw }, (data) => deflateRawSync(data, { level, strategy }));
        expect(readContainer(zip, "x.zip")!.files[0]!.read()).toEqual(raw);
      }
    }
  }
});

describe("cuobjdump", () => {
  const entry = (arch: string, identifier: string, body: string): string =>
    `\nFatbin ptx code:\n================\narch = ${arch}\ncode version = [9,0]\nhost = linux\ncompile_size = 64bit\n${identifier}compressed\nptxasOptions = --generate-line-info \n\n\n\n\n\n\n${body}\n`;
  const ptx = (n: number, arch: string): string =>
    `.version 9.0\n.target ${arch}\n.address_size 64\n.visible .entry k${n}() { ret; }\n`;
  const elf =
    "\nFatbin elf code:\n================\narch = sm_80\ncode version = [1,8]\nhost = linux\ncompile_size = 64bit\n";
  test.each(["\n", "\r\n"])("its text is read, lines end in %j", (end) => {
    const all = [
      ...[
        elf,
        entry("sm_80", "identifier = a.cu\n", ptx(1, "sm_80")),
        entry("sm_90", "identifier = a.cu\n", ptx(2, "sm_90a")),
      ],
      entry("sm_80", "identifier = src/b.cu\n", ptx(3, "sm_80")),
    ]
      .join("")
      .replaceAll("\n", end);
    const bytes = new TextEncoder().encode(all);
    expect(isContainer(bytes)).toBe(true);
    const { format, modules } = readContainer(bytes, "dump.txt")!;
    expect(format).toBe("text of cuobjdump");
    expect(modules.map(({ name, images: own }) => [name, own.map((i) => i.architecture)])).toEqual([
      ["a", ["sm_80", "sm_90"]],
      ["b", ["sm_80"]],
    ]);
    expect(text(modules[0]!.images[1]!.read()).trim()).toBe(ptx(2, "sm_90a").replaceAll("\n", end).trim());
  });
  test("of archives, with lines that name the objects", () => {
    const all = `member x.a:a.o:\n${entry("sm_80", "", ptx(1, "sm_80"))}\nmember x.a:b.o:\n${entry("sm_80", "", ptx(2, "sm_80"))}`;
    const { modules } = readContainer(new TextEncoder().encode(all), "dump.txt")!;
    expect(modules.map(({ images: [first] }) => text(first!.read()).trim())).toEqual(
      [ptx(1, "sm_80"), ptx(2, "sm_80")].map((each) => each.trim()),
    );
  });
  test("sources without names are told apart by their architectures", () => {
    const all =
      entry("sm_80", "", ptx(1, "sm_80")) + entry("sm_90", "", ptx(2, "sm_90")) + entry("sm_80", "", ptx(3, "sm_80"));
    const { modules } = readContainer(new TextEncoder().encode(all), "dump.txt")!;
    expect(modules.map(({ name, images: own }) => [name, own.length])).toEqual([
      ["1", 2],
      ["2", 1],
    ]);
  });
});

describe("damage is reported with its place", () => {
  const reads = (bytes: Uint8Array) => (): unknown => readContainer(bytes, "x")!.modules[0]!.images[0]!.read();
  test("LZ4", () => {
    const bytes = fixture("sum-lz4.fatbin");
    bytes.fill(0xff, 400, 500);
    expect(reads(bytes)).toThrow(ContainerError);
    expect(reads(bytes)).toThrow(/^the entry of a fat binary at byte 0x10: the LZ4 data is damaged: /);
  });
  test("zstd", () => {
    const bytes = fixture("sum-zstd.fatbin");
    bytes.fill(0xff, 100, 200);
    expect(reads(bytes)).toThrow(/^the entry of a fat binary at byte 0x10: the zstd data is damaged: /);
  });
  test("a declared size that no file has", () => {
    const huge = readContainer(fatBinaryOf(new Uint8Array(8), { flags: 0x2000, size: 2 ** 40 }), "x.fatbin")!;
    expect(huge.modules).toEqual([]);
    expect(huge.problems).toEqual([
      "x.fatbin: an entry of a fat binary says that it has 1099511627776 bytes (at byte 0x48)",
    ]);
  });
  test("a size that the data does not have", () => {
    for (const flags of [0x2000, 0x8000]) {
      const [image] = open(flags === 0x2000 ? "sum-lz4.fatbin" : "sum-zstd.fatbin").modules[0]!.images;
      const payload = fixture(flags === 0x2000 ? "sum-lz4.fatbin" : "sum-zstd.fatbin").subarray(
        96,
        96 + image!.storedBytes,
      );
      expect(reads(fatBinaryOf(payload, { flags, size: 2158 }))).toThrow(ContainerError);
      expect(reads(fatBinaryOf(payload, { flags, size: 2160 }))).toThrow(ContainerError);
    }
  });
});

test("assembly is no container", () => {
  for (const bytes of ["", ".version 9.0", "CISA", "\u007fEL"])
    expect(isContainer(new TextEncoder().encode(bytes))).toBe(false);
  expect(readContainer(new TextEncoder().encode(".version 9.0"), "x.ptx")).toBeNull();
});
