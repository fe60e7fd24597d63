import { describe, expect, test } from "vitest";
import { dwords, type Kernel, Random, run } from "./machine.ts";
import { type Case, type Model, testCases } from "./model.ts";

const bufferBytes = 2048;
/** The surface 5 is the middle of the buffer, and not a multiple of 4 bytes. */
const surfaces = { 5: [512, 1021] } as const;
/** Offsets into it: some lanes are across its end or beyond it, one far beyond. */
const spread = (random: Random, step: number): bigint[] => [
  ...random.distinct(13, 960, step).map(BigInt),
  BigInt(1021 - (1021 % step)),
  BigInt(1200 - (1200 % step)),
  0xffff_fff8n,
];

type Visit = (i: number, j: number, at: number) => void;

interface Family {
  readonly load: string;
  readonly store: string;
  readonly title: string;
  readonly exec: string;
  readonly size: number;
  readonly grfBytes?: 32 | 64;
  /** Bytes of an element. */
  readonly bytes: number;
  /** The offset of element `j` of lane `i`, in bytes. */
  readonly offset: (m: Model, i: number, j: number) => bigint;
  readonly elements: (size: number, grfBytes: number, visit: Visit) => void;
  /** The text between surface and data. */
  readonly operands: string;
  /** The lanes' offsets are multiples of this. */
  readonly step: number;
  readonly unit?: number;
}

const u32 = (m: Model, i: number): bigint => m.get("O", 4 * i, 4);
const global = (m: Model): bigint => m.get("S", 4, 4);

const simple: Family["elements"] = (size, _, visit) => {
  for (let i = 0; i < size; i++) visit(i, 0, 4 * i);
};

const families: Family[] = [];
for (const [exec, size] of [
  ["(M1, 8)", 8],
  ["(M1, 16)", 16],
  ["(M1_NM, 1)", 1],
] as const) {
  for (const bytes of [1, 2, 4]) {
    families.push({
      // GATHER.md: both offsets are "in the unit of element size".
      load: `gather.${bytes}`,
      store: `scatter.${bytes}`,
      title: `elements of ${bytes} bytes`,
      exec,
      size,
      bytes,
      step: bytes,
      unit: bytes,
      operands: "S(0,1)<0;1,0> O.0",
      offset: (m, i) => BigInt(bytes) * (global(m) + u32(m, i)),
      elements: simple,
    });
    families.push({
      // GATHER_SCALED.md: "For each channel <num_blocks> bytes are read".
      load: `gather_scaled.${bytes}`,
      store: `scatter_scaled.${bytes}`,
      title: "at any byte",
      exec,
      size,
      bytes,
      step: 5,
      operands: "S(0,1)<0;1,0> O.0",
      offset: (m, i) => global(m) + u32(m, i),
      elements: simple,
    });
  }
}
for (const grfBytes of [32, 64] as const) {
  for (const enabled of ["R", "B", "RG", "GA", "RGB", "RGBA"]) {
    for (const size of [1, 8, 16]) {
      families.push({
        // GATHER4_SCALED.md: the pseudo-code; "This field is ignored and scale is always zero".
        load: `gather4_scaled.${enabled}`,
        store: `scatter4_scaled.${enabled}`,
        title: `registers of ${grfBytes}`,
        exec: size === 1 ? "(M1_NM, 1)" : `(M1, ${size})`,
        size,
        grfBytes,
        bytes: 4,
        step: 16,
        operands: "0x4:ud O.0",
        offset: (m, i, c) => 4n + u32(m, i) + BigInt(4 * c),
        elements: (n, grf, visit) => {
          let position = 0;
          for (let c = 0; c < 4; c++) {
            if (!enabled.includes("RGBA"[c]!)) continue;
            for (let i = 0; i < n; i++) visit(i, c, 4 * (position * Math.max(n, grf / 4) + i));
            position++;
          }
        },
      });
    }
  }
}
for (const count of [1, 2, 4]) {
  for (const size of [8, 16]) {
    families.push({
      // QW_GATHER.md: the pseudo-code; "the byte offsets into the surface".
      load: `qw_gather.${count}`,
      store: `qw_scatter.${count}`,
      title: "qwords",
      exec: `(M1, ${size})`,
      size,
      bytes: 8,
      step: 32,
      operands: "O.0",
      offset: (m, i, j) => u32(m, i) + BigInt(8 * j),
      elements: (n, _, visit) => {
        for (let j = 0; j < count; j++) for (let i = 0; i < n; i++) visit(i, j, 8 * (j * n + i));
      },
    });
  }
}

const cases = families.flatMap((family): Case[] => {
  const { exec, size, bytes, step, unit = 1, operands, grfBytes = 32 } = family;
  const width = size === 16 ? 16 : 8;
  const noMask = exec.includes("NM");
  const kernel = (mnemonic: string): Kernel => ({
    text: `    ${mnemonic} ${exec} T6 ${operands} V.0`,
    width,
    items: width - 2,
    grfBytes,
    buffer: new Random(1).bytes(bufferBytes),
    surfaces,
    surfaceVariables: { T6: 5 },
    registers: () => ({
      S: { type: "ud", bytes: dwords(99, 2) },
      O: { type: "ud", bytes: dwords(...spread(new Random(step), step).map((at) => at / BigInt(unit))) },
      V: { type: "ub", bytes: new Random(2).bytes(1024) },
    }),
  });
  const each = (m: Model, active: (lane: number) => boolean, visit: (at: number, offset: bigint) => void): void =>
    family.elements(size, grfBytes, (i, j, at) => {
      if (noMask || active(i)) visit(at, family.offset(m, i, j));
    });
  return [
    {
      title: `${family.load} ${exec}, ${family.title}`,
      kernel: kernel(family.load),
      expected: (m, active) => each(m, active, (at, offset) => m.put("V", at, bytes, m.surfaceLoad(5, offset, bytes))),
    },
    {
      title: `${family.store} ${exec}, ${family.title}`,
      kernel: kernel(family.store),
      expected: (m, active) => each(m, active, (at, offset) => m.surfaceStore(5, offset, bytes, m.get("V", at, bytes))),
    },
  ];
});
describe("accesses to surfaces, with one offset per lane", () => testCases(cases));

describe("blocks of surfaces", () => {
  const blocks = [1, 2, 4, 8, 16].flatMap((owords) =>
    // OWORD_LD.md: the offset "in units of owords"; OWORD_LD_UNALIGNED.md: "in bytes". The last ones cross the
    // surface's end.
    [
      { load: "oword_ld", store: "oword_st", unit: 16, offset: 3 },
      { load: "oword_ld", store: "oword_st", unit: 16, offset: 62 },
      { load: "oword_ld.mod", store: null, unit: 16, offset: 1 },
      { load: "oword_ld_unaligned", store: null, unit: 1, offset: 44 },
      { load: "oword_ld_unaligned", store: null, unit: 1, offset: 1000 },
    ].flatMap(({ load, store, unit, offset }): Case[] => {
      const kernel = (mnemonic: string): Kernel => ({
        text: `    ${mnemonic} (${owords}) T6 S(0,0)<0;1,0> V.16`,
        width: 8,
        items: 1,
        buffer: new Random(3).bytes(bufferBytes),
        surfaces: { 0: [512, 1024] },
        surfaceVariables: { T6: 0 },
        registers: () => ({
          S: { type: "ud", bytes: dwords(offset) },
          V: { type: "ud", bytes: new Random(4).bytes(512) },
        }),
      });
      const each = (visit: (at: number, from: bigint) => void): void => {
        for (let i = 0; i < owords * 4; i++) visit(16 + 4 * i, BigInt(offset * unit + 4 * i));
      };
      return [
        {
          title: `${load} (${owords}) at ${offset}`,
          kernel: kernel(load),
          expected: (m) => each((at, from) => m.put("V", at, 4, m.surfaceLoad(0, from, 4))),
        },
        ...(store === null
          ? []
          : [
              {
                title: `${store} (${owords}) at ${offset}`,
                kernel: kernel(store),
                expected: (m: Model) => each((at, from) => m.surfaceStore(0, from, 4, m.get("V", at, 4))),
              },
            ]),
      ];
    }),
  );
  testCases(blocks);
});

describe("shared local memory as a surface", () => {
  const slm = (text: string, slmBytes = 1024) =>
    run({
      text,
      slmBytes,
      registers: () => ({
        O: { type: "ud", bytes: dwords(...Array.from({ length: 16 }, (_, i) => 64 - 4 * i)) },
        // Some kernels set bit 28 of offsets.
        F: { type: "ud", bytes: dwords(...Array.from({ length: 16 }, (_, i) => 0x1000_0000 + 64 - 4 * i)) },
        V: { type: "ud", bytes: dwords(...Array.from({ length: 16 }, (_, i) => 100 + i)) },
        W: { type: "ud", bytes: new Uint8Array(64) },
      }),
    });

  test.each([
    ["T0", "%slm"],
    ["%slm", "T0"],
  ])("a value written to %s is read from %s", (to, from) => {
    const { registers, reports } = slm(`    scatter4_scaled.R (M1, 16) ${to} 0x10:ud F.0 V.0
    gather4_scaled.R (M1, 16) ${from} 0x10:ud O.0 W.0`);
    expect(reports).toEqual([]);
    expect(registers.W).toEqual(registers.V);
  });

  test("an access beyond its end is reported", () => {
    expect(slm("    scatter4_scaled.R (M1, 16) T0 0x1:ud O.0 V.0").reports[0]).toMatch(/^misaligned-access/);
    expect(slm("    scatter4_scaled.R (M1, 16) T0 0x0:ud O.0 V.0", 64).reports[0]).toMatch(/^shared-out-of-bounds/);
    expect(slm("    gather4_scaled.R (M1, 16) T0 0x400:ud O.0 V.0", 64).reports[0]).toMatch(/^shared-out-of-bounds/);
  });
});
