import fc from "fast-check";
import { expect, test } from "vitest";
import { channelTypes } from "../../src/numeric/texel.ts";
import { type ChannelType, Device, type ImageOptions, type TextureOptions } from "../../src/runtime/index.ts";
import { usualEngines } from "../../src/runtime/launch/launch-options.ts";

/*
 * Texels that are stored in the format of a surface, reductions, and fetches whose results need more than a texel: both
 * engines give the same bits, and report the same.
 */

const types = channelTypes.filter((type) => !type.includes("norm"));
const geometries = {
  "1d": { size: { height: 0, depth: 0 }, at: "{%c0}" },
  "2d": { size: { depth: 0 }, at: "{%c0, %c1}" },
  "3d": { size: {}, at: "{%c0, %c1, %c2, %c2}" },
} as const;
type Geometry = keyof typeof geometries;

const head = (registers: string): string => `.version 8.6
.target sm_90
.address_size 64
.entry k(.param .u64 to, .param .u64 in, .param .u64 data) {
  .reg .b64 %to, %in, %data, %w; .reg .b32 %x, %c<3>, %e<4>; .reg .pred %p; ${registers}
  ld.param.u64 %to, [to]; ld.param.u64 %in, [in]; ld.param.u64 %data, [data];
  mov.u32 %x, %tid.x; mad.wide.u32 %in, %x, 12, %in; mad.wide.u32 %data, %x, 16, %data;
  ld.global.u32 %c0, [%in]; ld.global.u32 %c1, [%in+4]; ld.global.u32 %c2, [%in+8];
  ld.global.v4.u32 {%e0, %e1, %e2, %e3}, [%data]; ld.global.u64 %w, [%data];
  setp.eq.u32 %p, %x, 3; @%p bra L;
`;
const vectors = { 1: "%e0", 2: "{%e0, %e1}", 4: "{%e0, %e1, %e2, %e3}" } as const;
const place = fc.oneof(fc.integer({ min: -2, max: 12 }), fc.constantFrom(2 ** 31 - 1, -(2 ** 31)));
const floats = [NaN, -NaN, Infinity, -0, 0.5, 65519.9, 65520, 1e-7, 2 ** -25, 1.5 * 2 ** -25, -3.25, 1e9];
const word = fc.oneof(
  fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  fc.integer({ min: -300, max: 300 }),
  fc.constantFrom(...floats, 0.3).map((value) => new Int32Array(Float32Array.of(value).buffer)[0]!),
  fc.double({ min: -1e5, max: 1e5, noNaN: true }).map((value) => new Int32Array(Float32Array.of(value).buffer)[0]!),
);
const surfaces = {
  width: fc.integer({ min: 1, max: 9 }),
  height: fc.integer({ min: 1, max: 4 }),
  depth: fc.integer({ min: 1, max: 3 }),
  geometry: fc.constantFrom(...(Object.keys(geometries) as Geometry[])),
  bounds: fc.constantFrom("zero", "clamp", "trap"),
  places: fc.array(place, { minLength: 96, maxLength: 96 }),
  words: fc.array(word, { minLength: 128, maxLength: 128 }),
  /** Whether places are mostly inside. */
  isTame: fc.boolean(),
};

interface Surface {
  readonly options: ImageOptions;
  readonly places: readonly number[];
  readonly words: readonly number[];
}

function run(engine: (typeof usualEngines)[number], text: string, { options, places, words }: Surface) {
  const device = new Device({ engine });
  const to = device.image(options);
  to.buffer.writeBytes(Uint8Array.from({ length: to.buffer.byteLength }, (_, i) => i * 7 + 1));
  const args = [to.surface(), device.buffer(Int32Array.from(places)), device.buffer(Int32Array.from(words))];
  const { reports } = device.load(text).kernel("k").launch({ grid: 1, block: 32, args });
  const said = reports.map(({ code, threads, message }) => [code, threads.length, message]);
  return { said, bytes: reports.length > 0 ? null : to.buffer.readBytes() };
}

const same = (text: string, surface: Surface): void => {
  const [one, other] = usualEngines.map((engine) => run(engine, text, surface));
  expect(one).toEqual(other);
};

const tamed = (places: readonly number[], isTame: boolean): readonly number[] =>
  isTame ? places.map((n) => (n < 0 || n > 12 ? 0 : n % 4)) : places;

test("both engines store the same texels in all formats", () => {
  const random = fc.record({
    ...surfaces,
    type: fc.constantFrom(...types),
    channels: fc.constantFrom(1 as const, 2 as const, 4 as const),
    count: fc.constantFrom(1 as const, 2 as const, 4 as const),
  });
  fc.assert(
    fc.property(random, ({ geometry, bounds, places, words, isTame, type, channels, count, ...size }) => {
      const { at } = geometries[geometry];
      const vector = count === 1 ? "" : `.v${count}`;
      const text = `${head("")}  sust.p.${geometry}${vector}.b32.${bounds} [%to, ${at}], ${vectors[count]};\nL: ret;\n}`;
      const options = { type, channels, ...size, ...geometries[geometry].size } as ImageOptions;
      same(text, { options, places: tamed(places, isTame), words });
    }),
    { numRuns: 200, endOnFailure: true },
  );
});

test("both engines reduce the same elements", () => {
  const [compared, bits] = [["u32", "s32", "u64", "s64"], ["b32"]];
  const rawTypes = { add: ["u32", "s32", "u64"], min: compared, max: compared, and: bits, or: bits } as const;
  const formattedTypes = { add: bits, min: ["b32", "b64"], max: ["b32", "b64"], and: bits, or: bits } as const;
  const random = fc.record({
    ...surfaces,
    op: fc.constantFrom("add" as const, "min" as const, "max" as const, "and" as const, "or" as const),
    formatted: fc.boolean(),
    kind: fc.nat(),
    format: fc.constantFrom<[ChannelType, 1 | 2 | 4]>(
      ["u32", 1],
      ["s32", 1],
      ["u32", 2],
      ["s32", 2],
      ["u8", 1],
      ["f32", 1],
    ),
  });
  fc.assert(
    fc.property(random, ({ geometry, bounds, places, words, isTame, op, formatted, kind, format, ...size }) => {
      const own = formatted ? formattedTypes[op] : rawTypes[op];
      const type = own[kind % own.length]!;
      const isWide = type.endsWith("64");
      const { at } = geometries[geometry];
      const value = isWide ? "%w" : "%e0";
      const opcode = `sured.${formatted ? "p" : "b"}.${op}.${geometry}.${type}.${bounds}`;
      const text = `${head("")}  ${opcode} [%to, ${at}], ${value};\nL: ret;\n}`;
      const options = { type: format[0], channels: format[1], ...size, ...geometries[geometry].size } as ImageOptions;
      const unit = formatted || !isTame ? 1 : isWide ? 8 : 4;
      const moved = tamed(places, isTame).map((n, i) => (i % 3 === 0 ? n * unit : n));
      same(text, { options, places: moved, words });
    }),
    { numRuns: 250, endOnFailure: true },
  );
});

test("reductions of several blocks on several host threads lose nothing", () => {
  const device = new Device({ hostThreads: 2 });
  const image = device.image({ type: "u32", channels: 1, width: 1 });
  const text = `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 to) { .reg .b64 %to; .reg .b32 %x; ld.param.u64 %to, [to]; mov.u32 %x, 0;
  sured.b.add.1d.u32.trap [%to, {%x}], 1; ret; }`;
  const result = device
    .load(text)
    .kernel("k")
    .launch({ grid: 512, block: 64, args: [image.surface()] });
  expect(result.reports).toEqual([]);
  expect(image.buffer.read()[0]).toBe(512 * 64);
});

interface Fetch {
  readonly image: ImageOptions;
  readonly texture: TextureOptions;
  readonly opcode: string;
  readonly results: string;
  readonly coordinates: string;
}

/** Fetches at 256 places of one row; the results are four words for each. */
function fetched(engine: (typeof usualEngines)[number], { image: options, texture, ...text }: Fetch) {
  const device = new Device({ engine });
  const image = device.image(options);
  const count = image.buffer.length;
  const values = Array.from({ length: count }, (_, n) =>
    options.type === "u8"
      ? n % 256
      : n % 5 === 0
        ? floats[(n / 5) % floats.length]!
        : Math.sin(n) * 2 ** ((n % 44) - 27),
  );
  image.buffer.write(values);
  const out = device.buffer("u32", 4 * 256);
  const kernel = device
    .load(
      `.version 8.6
.target sm_90
.address_size 64
.entry k(.param .u64 t, .param .u64 out) {
  .reg .b64 %t, %out; .reg .b32 %i, %s, %r<4>; .reg .b16 %h<4>; .reg .f32 %x, %y;
  ld.param.u64 %t, [t]; ld.param.u64 %out, [out];
  mov.u32 %i, %tid.x; and.b32 %s, %i, 7; mad.wide.u32 %out, %i, 16, %out;
  cvt.rn.f32.u32 %x, %i; fma.rn.f32 %x, %x, 0f3B800000, 0f3B000000; mul.f32 %y, %x, 0f40000000;
  mov.u32 %r2, 0; mov.u32 %r3, 0;
  ${text.opcode} ${text.results}, [%t, ${text.coordinates};
  ${text.results.includes("%h") ? "mov.b32 %r0, {%h0, %h1}; mov.b32 %r1, {%h2, %h3};" : ""}
  st.global.v4.u32 [%out], {%r0, %r1, %r2, %r3}; ret;
}`,
    )
    .kernel("k");
  const { reports } = kernel.launch({ grid: 1, block: 256, args: [image.texture(texture), out] });
  expect(reports).toEqual([]);
  return out.read();
}

const flat = { type: "f32", channels: 4, width: 256, height: 3 } as const;
const halves = { results: "{%h0, %h1, %h2, %h3}", coordinates: "{%x, %y}]" };
const texels = { results: "{%r0, %r1, %r2, %r3}", coordinates: "{%x, %y}]" };
const normalized = { normalized: true, address: "wrap" } as const;
const sRGB = { ...normalized, normalizedFloat: true, sRGB: true } as const;
const multi = { ...flat, samples: 4 } as const;
const forms: Readonly<Record<string, Fetch>> = {
  "halves of texels": { image: flat, texture: normalized, opcode: "tex.2d.v4.f16.f32", ...halves },
  "halves of sums": {
    image: flat,
    texture: { ...normalized, filter: "linear" },
    opcode: "tex.2d.v4.f16.f32",
    ...halves,
  },
  "pairs of halves": {
    ...{ image: { ...flat, channels: 2 }, texture: { ...normalized, filter: "linear" } },
    ...{ opcode: "tex.2d.v2.f16x2.f32", results: "{%r0, %r1}", coordinates: "{%x, %y}]" },
  },
  "halves of levels": {
    ...{ image: { ...flat, levels: 5 }, texture: { ...normalized, filter: "linear", mipFilter: "linear" } },
    ...{ opcode: "tex.level.2d.v4.f16.f32", results: halves.results, coordinates: "{%x, %y}], %y" },
  },
  "all bytes of sRGB": {
    ...{ image: { ...flat, type: "u8", height: 1 }, texture: sRGB, opcode: "tex.2d.v4.f32.f32", ...texels },
  },
  "one channel of sRGB": {
    ...{
      image: { ...flat, type: "u8", channels: 1, height: 1 },
      texture: sRGB,
      opcode: "tex.2d.v4.f32.f32",
      ...texels,
    },
  },
  "sums of sRGB": {
    image: { ...flat, type: "u8" },
    texture: { ...sRGB, filter: "linear" },
    opcode: "tex.2d.v4.f32.f32",
    ...texels,
  },
  samples: { image: multi, texture: {}, opcode: "tex.2dms.v4.f32.s32", ...texels, coordinates: "{%s, %i, %s, %s}]" },
  "samples of layers": {
    ...{ image: { ...multi, layers: 3 }, texture: {}, opcode: "tex.a2dms.v4.f32.s32" },
    ...{ results: texels.results, coordinates: "{%s, %s, %i, %s}]" },
  },
};

test.each(Object.keys(forms))("both engines fetch the same: %s", (name) => {
  const [one, other] = usualEngines.map((engine) => fetched(engine, forms[name]!));
  expect(one).toEqual(other);
  expect(new Set(one!).size).toBeGreaterThan(32);
});
