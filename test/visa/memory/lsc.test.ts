import { describe, expect, test } from "vitest";
import { dwords, type Kernel, qwords, Random, run } from "./machine.ts";
import { type Case, type Model, testCases } from "./model.ts";

const bufferBytes = 4096;

/** Bytes in memory, bytes of the slot in registers, and the element's offset in it. */
const sizes = {
  d8: [1, 1, 0],
  d16: [2, 2, 0],
  d32: [4, 4, 0],
  d64: [8, 8, 0],
  d8c32: [1, 4, 0],
  d8u32: [1, 4, 0],
  d16c32: [2, 4, 0],
  d16u32: [2, 4, 0],
  d16u32h: [2, 4, 2],
  d16c32h: [2, 4, 2],
} as const;
type Size = keyof typeof sizes;

interface AddressForm {
  readonly title: string;
  /** The text, with `A` for the register of addresses or offsets. */
  readonly text: string;
  readonly sfid: "ugm" | "ugml" | "slm";
  readonly kind: "address" | "offset" | "short-offset";
  /** From a lane's register to the byte in the surface, or the address. */
  readonly at: (base: bigint) => bigint;
}

const asInt = (value: number): bigint => BigInt(value);
const addressForms: readonly AddressForm[] = [
  { title: "flat", text: "flat[A]:a64", sfid: "ugm", kind: "address", at: (a) => a },
  { title: "flat with an offset", text: "flat[A-0x20]:a64", sfid: "ugml", kind: "address", at: (a) => a - 32n },
  { title: "bti", text: "bti(0x7)[A]:a32", sfid: "ugm", kind: "offset", at: (a) => a },
  { title: "bti in a register", text: "bti(B(0,1))[A+0x10]:a32", sfid: "ugm", kind: "offset", at: (a) => a + 16n },
  { title: "bss, scaled", text: "bss(B.1)[0x2*A-0x8]:a32", sfid: "ugm", kind: "offset", at: (a) => 2n * a - 8n },
  { title: "ss", text: "ss(B.1)[A]:a32", sfid: "ugm", kind: "offset", at: (a) => a },
  { title: "16-bit offsets", text: "bti(7)[A]:a16", sfid: "ugm", kind: "short-offset", at: (a) => a },
];

interface Shape {
  readonly exec: string;
  readonly size: number;
  readonly first: number;
  readonly width: 8 | 16 | 32;
  readonly items: number;
  readonly grfBytes: 32 | 64;
}
const shapes: readonly Shape[] = [
  { exec: "(M1, 16)", size: 16, first: 0, width: 16, items: 13, grfBytes: 64 },
  { exec: "(M1, 32)", size: 32, first: 0, width: 32, items: 30, grfBytes: 64 },
  { exec: "(M3, 8)", size: 8, first: 8, width: 16, items: 12, grfBytes: 32 },
];

interface Access {
  readonly title: string;
  readonly mnemonic: string;
  readonly data: string;
  readonly address: AddressForm;
  readonly shape: Shape;
  readonly size: Size;
  /** Elements of a vector, or some of four. */
  readonly elements: readonly number[];
}

const one: AddressForm = addressForms[0]!;
const plain = (size: Size, vector: number, address: AddressForm, shape: Shape): Access => ({
  title: `${size}x${vector}, ${address.title}, ${shape.exec}`,
  mnemonic: "",
  data: vector === 1 ? size : `${size}x${vector}`,
  address,
  shape,
  size,
  elements: Array.from({ length: vector }, (_, i) => i),
});
const quad = (size: Size, channels: string, shape: Shape): Access => ({
  ...plain(size, 1, addressForms[2]!, shape),
  title: `${size}.${channels}, ${shape.exec}`,
  mnemonic: "_quad",
  data: `${size}.${channels}`,
  elements: [...channels].map((c) => "xyzw".indexOf(c)),
});

const accesses: readonly Access[] = [
  ...(Object.keys(sizes) as Size[]).flatMap((size) => [
    plain(size, 1, one, shapes[0]!),
    plain(size, 3, addressForms[2]!, shapes[1]!),
    plain(size, 2, addressForms[4]!, shapes[2]!),
  ]),
  ...[1, 2, 3, 4, 8].map((vector) => plain("d32", vector, one, shapes[2]!)),
  ...addressForms.flatMap((address) => shapes.map((shape) => plain("d32", 2, address, shape))),
  ...["x", "y", "xz", "yw", "xyz", "xyzw"].flatMap((channels) => shapes.map((shape) => quad("d32", channels, shape))),
  quad("d64", "yw", shapes[0]!),
];

/** The surface 7 is the end of the buffer's second half, less a few bytes. */
const surface = [2048, 1501] as const;

function register({ address, elements, size }: Access, base: bigint): { type: "uq" | "ud" | "uw"; bytes: Uint8Array } {
  const random = new Random(11);
  const reach = 2 ** Math.ceil(Math.log2(8 * Math.max(...elements.map((e) => e + 1)) * sizes[size][0]));
  const step = Math.min(64, Math.max(8, reach));
  const inside = random.distinct(32, 4096 - 1024, step).map((at) => BigInt(at + 512));
  if (address.kind === "address") return { type: "uq", bytes: qwords(...inside.map((at) => base + at)) };
  const offsets = random.distinct(32, address.text.includes("*") ? 1024 : 2048, 8).map(asInt);
  // Stores of different lanes must not overlap: each has its own 64 bytes, some of them beyond the end.
  const apart = offsets.map((_, i) => BigInt(64 * ((i * 13) % 32) + 8));
  const chosen = address.text.includes("*") ? apart.map((at) => at / 2n) : apart;
  if (address.kind === "short-offset")
    return { type: "uw", bytes: new Uint8Array(Uint16Array.from(chosen, Number).buffer) };
  return { type: "ud", bytes: dwords(...chosen) };
}

const accessCases = accesses.flatMap((access): Case[] => {
  const { shape, address, size, elements } = access;
  const [bytes, slot, within] = sizes[size];
  const kernel = (text: string): Kernel => ({
    text: `    ${text}`,
    width: shape.width,
    items: shape.items,
    grfBytes: shape.grfBytes,
    buffer: new Random(5).bytes(bufferBytes),
    surfaces: { 7: surface },
    registers: (base) => ({
      A: register(access, base),
      B: { type: "ud", bytes: dwords(3, 7) },
      V: { type: "ub", bytes: new Random(6).bytes(4096) },
    }),
  });
  const addressBytes = { address: 8, offset: 4, "short-offset": 2 }[address.kind];
  const row = Math.ceil((shape.size * slot) / shape.grfBytes) * shape.grfBytes;
  // LSC_UNTYPED.md: DstData[v].elems[n] is element v of lane n; of _quad, the m-th enabled one.
  const each = (m: Model, active: (lane: number) => boolean, visit: (at: number, from: bigint) => void): void => {
    for (let n = 0; n < shape.size; n++) {
      if (!active(shape.first + n)) continue;
      const from = address.at(m.get("A", n * addressBytes, addressBytes));
      elements.forEach((element, v) => {
        visit(v * row + n * slot, from + BigInt(element * bytes));
      });
    }
  };
  const flat = address.kind === "address";
  const exec = shape.exec;
  return [
    {
      title: `lsc_load${access.mnemonic} ${access.title}`,
      kernel: kernel(`lsc_load${access.mnemonic}.${address.sfid}.ca.ca ${exec} V:${access.data} ${address.text}`),
      expected: (m, active) =>
        each(m, active, (at, from) => {
          const value = flat ? m.load(from, bytes) : m.surfaceLoad(7, from, bytes);
          m.put("V", at, slot, value << BigInt(8 * within));
        }),
    },
    {
      title: `lsc_store${access.mnemonic} ${access.title}`,
      kernel: kernel(`lsc_store${access.mnemonic}.${address.sfid} ${exec} ${address.text} V:${access.data}`),
      expected: (m, active) =>
        each(m, active, (at, from) => {
          const value = m.get("V", at + within, bytes);
          if (flat) m.store(from, bytes, value);
          else m.surfaceStore(7, from, bytes, value);
        }),
    },
  ];
});
describe("lsc_load and lsc_store", () => testCases(accessCases));

describe("transposed", () => {
  const cases = (
    [
      ["d32", 1],
      ["d32", 3],
      ["d32", 16],
      ["d32", 64],
      ["d64", 8],
      ["d64", 64],
    ] as const
  ).flatMap(([size, vector]): Case[] => {
    const [bytes] = sizes[size];
    const data = `V.64:${size}${vector === 1 ? "" : `x${vector}`}t`;
    const kernel = (text: string): Kernel => ({
      text: `    ${text}`,
      width: 16,
      items: 4,
      grfBytes: 64,
      buffer: new Random(8).bytes(bufferBytes),
      surfaces: { 7: [1024, 324] },
      registers: (base) => ({
        A: { type: "uq", bytes: qwords(base + 80n) },
        O: { type: "ud", bytes: dwords(192) },
        V: { type: "ub", bytes: new Random(9).bytes(1024) },
      }),
    });
    const block = vector * bytes;
    const behind = (visit: (at: number, from: bigint) => void): void => {
      for (let v = 0; v < vector; v++) visit(64 + v * bytes, BigInt(192 + v * bytes));
    };
    return [
      {
        title: `lsc_load :${size}x${vector}t, flat`,
        kernel: kernel(`lsc_load.ugm (M1_NM, 1) ${data} flat[A]:a64`),
        expected: (m) => m.put("V", 64, block, m.load(m.base + 80n, block)),
      },
      {
        title: `lsc_store :${size}x${vector}t, flat`,
        kernel: kernel(`lsc_store.ugm.wb.wb (M1_NM, 1) flat[A]:a64 ${data}`),
        expected: (m) => m.store(m.base + 80n, block, m.get("V", 64, block)),
      },
      {
        title: `lsc_load :${size}x${vector}t across the end of a surface`,
        kernel: kernel(`lsc_load.ugm (M1_NM, 1) ${data} bti(7)[O]:a32`),
        expected: (m) => behind((at, from) => m.put("V", at, bytes, m.surfaceLoad(7, from, bytes))),
      },
      {
        title: `lsc_store :${size}x${vector}t across the end of a surface`,
        kernel: kernel(`lsc_store.ugm (M1_NM, 1) bti(7)[O]:a32 ${data}`),
        expected: (m) => behind((at, from) => m.surfaceStore(7, from, bytes, m.get("V", at, bytes))),
      },
    ];
  });
  testCases(cases);
});

describe("strided", () => {
  const cases = (
    [
      { data: "d32", vector: 1, pitch: null },
      { data: "d32x2", vector: 2, pitch: null },
      { data: "d32", vector: 1, pitch: 12 },
      { data: "d32", vector: 1, pitch: 0 },
    ] as const
  ).flatMap(({ data, vector, pitch }): Case[] =>
    ["(M1, 16)", "(M3, 8)"].flatMap((exec): Case[] => {
      const first = exec === "(M3, 8)" ? 8 : 0;
      const size = first === 8 ? 8 : 16;
      const kernel = (text: string): Kernel => ({
        text: `    ${text}`,
        width: 16,
        items: 14,
        grfBytes: 32,
        buffer: new Random(8).bytes(1024),
        surfaces: { 7: [512, 500] },
        registers: (base) => ({
          A: { type: "uq", bytes: qwords(base + 80n) },
          O: { type: "ud", bytes: dwords(24) },
          S: { type: "ud", bytes: dwords(0, pitch ?? 0) },
          V: { type: "ub", bytes: new Random(9).bytes(1024) },
        }),
      });
      const row = size * 4;
      const step = pitch ?? 4 * vector;
      const each = (active: (lane: number) => boolean, visit: (at: number, from: bigint) => void): void => {
        for (let n = 0; n < size; n++) {
          if (!active(first + n)) continue;
          for (let v = 0; v < vector; v++) visit(v * row + n * 4, BigInt(n * step + v * 4));
        }
      };
      const written = pitch === null ? "" : ", S(0,1)";
      return [
        {
          title: `lsc_load_strided ${exec} :${data}, ${pitch ?? "no"} pitch`,
          kernel: kernel(`lsc_load_strided.ugm ${exec} V:${data} flat[A+0x8${written}]:a64`),
          expected: (m, active) => each(active, (at, from) => m.put("V", at, 4, m.load(m.base + 88n + from, 4))),
        },
        {
          title: `lsc_store_strided ${exec} :${data}, ${pitch ?? "no"} pitch`,
          kernel: kernel(`lsc_store_strided.ugm ${exec} bti(7)[O-0x8${written}]:a32 V:${data}`),
          expected: (m, active) =>
            // In ascending order of lanes: with a pitch of 0 the last lane's value stays.
            each(active, (at, from) => m.surfaceStore(7, 16n + from, 4, m.get("V", at, 4))),
        },
      ];
    }),
  );
  testCases(cases);
});

test("shared local memory", () => {
  const { registers, reports } = run({
    text: `    lsc_store.slm (M1, 16) flat[A]:a32 V:d32x4
    lsc_load.slm (M1, 16) W:d32x4 flat[B+0x10]:a32
    lsc_load.slm (M1_NM, 1) X:d32x4t flat[B+0x20]:a32`,
    width: 16,
    slmBytes: 512,
    registers: () => ({
      A: { type: "ud", bytes: dwords(...Array.from({ length: 16 }, (_, i) => 0x1000_0000 + 16 * (15 - i))) },
      B: { type: "ud", bytes: dwords(...Array.from({ length: 16 }, (_, i) => 16 * (15 - i) - 16)) },
      V: { type: "ud", bytes: dwords(...Array.from({ length: 64 }, (_, i) => i + 1)) },
      W: { type: "ud", bytes: new Uint8Array(256) },
      X: { type: "ud", bytes: new Uint8Array(16) },
    }),
  });
  expect(reports).toEqual([]);
  expect(registers.W).toEqual(registers.V);
  // Lane 0 reads beyond its own four, where nothing was written.
  expect(registers.X).toEqual(dwords(0, 0, 0, 0));
});

test("an uncompressed store stores", () => {
  const { buffer, reports } = run({
    text: "    lsc_store_uncompressed.ugm (M1, 8) flat[A+0x4]:a64 V:d32",
    width: 8,
    buffer: new Uint8Array(36),
    registers: (base) => ({
      A: { type: "uq", bytes: qwords(...Array.from({ length: 8 }, (_, i) => base + BigInt(28 - 4 * i))) },
      V: { type: "ud", bytes: dwords(1, 2, 3, 4, 5, 6, 7, 8) },
    }),
  });
  expect(reports).toEqual([]);
  expect(buffer).toEqual(dwords(0, 8, 7, 6, 5, 4, 3, 2, 1));
});

test("a load to %null is a prefetch: any address will do", () => {
  const { reports } = run({
    text: "    lsc_load.ugm (M1, 16) %null:d32 flat[A]:a64",
    registers: () => ({ A: { type: "uq", bytes: new Uint8Array(128) } }),
  });
  expect(reports).toEqual([]);
});

test("lanes access elements at any byte, as IGC merges less aligned neighbours; a transposed block is aligned", () => {
  const report = (data: string, at: bigint): string | undefined =>
    run({
      text: `    lsc_load.ugm (M1_NM, 1) V:${data} flat[A]:a64`,
      buffer: new Uint8Array(64),
      registers: (base) => ({
        A: { type: "uq", bytes: qwords(base + at) },
        V: { type: "ud", bytes: new Uint8Array(64) },
      }),
    }).reports[0]?.split(":")[0];
  expect(report("d32", 2n)).toBeUndefined();
  expect(report("d64", 4n)).toBeUndefined();
  expect(report("d32x4", 49n)).toBe("global-out-of-bounds");
  expect(report("d32x2t", 2n)).toBe("misaligned-access");
  expect(report("d64t", 4n)).toBe("misaligned-access");
  expect(report("d16u32", 2n)).toBeUndefined();
  expect(report("d8u32", 1n)).toBeUndefined();
  expect(report("d32x4t", 52n)).toBe("global-out-of-bounds");
});

describe("what is not modelled is refused before anything runs", () => {
  test.each([
    ["lsc_load.ugm (M1, 16) V:d32 arg[O]:a32", "the address model arg is not modelled"],
    ["lsc_load.ugm (M1, 16) V:d32 surf(S(0,0))[O]:a32", "the address model surf is not modelled"],
    ["lsc_load.ugm (M1, 16) V:d32 bss(S(0,0), 0x3)[O]:a32", "indices into arrays of surface states are not modelled"],
    ["lsc_load.ugm (M1, 16) V:d32x4t bti(1)[O]:a32", "only one lane can access transposed data"],
    ["lsc_load_block2d.slm (M1_NM, 1) V:d8.1x8x8nn flat[A,S,S,S,S,S]", "shared local memory has no blocks"],
  ])("%s", (text, reason) => {
    const { reports } = run({
      text: `    ${text}`,
      grfBytes: 64,
      registers: () => ({
        A: { type: "uq", bytes: new Uint8Array(8) },
        S: { type: "ud", bytes: new Uint8Array(64) },
        O: { type: "ud", bytes: new Uint8Array(64) },
        V: { type: "ud", bytes: new Uint8Array(512) },
      }),
    });
    expect(reports[0]).toMatch(/^not-executable/);
    expect(reports[0]).toContain(reason);
  });
});
