import fc from "fast-check";
import { expect, test } from "vitest";
import { Device, type SamplerOptions } from "../../src/runtime/index.ts";
import { usualEngines } from "../../src/runtime/launch/launch-options.ts";

/*
 * Random textures and coordinates, hostile ones among them: both engines give the same bits.
 */

const lanes = 64;
const words = [NaN, Infinity, -Infinity, -0, 0, 3e9, -3e9, 2 ** 31, 1e38, 1e-40, 16777217, -0.5, 0.5];
const coordinate = fc.oneof(
  fc.double({ min: -3, max: 3, noNaN: true }),
  fc.double({ min: -40, max: 40, noNaN: true }),
  fc.constantFrom(...words),
);
const mode = fc.constantFrom("wrap", "clamp", "mirror", "border");
const texel = fc.oneof(fc.double({ min: -9, max: 9, noNaN: true }), fc.constantFrom(NaN, Infinity, -0, 1e38, 1e-45));

/** How instructions see an image: the registers of its coordinates, a layer first, then those of x, y and z. */
const geometries = {
  "1d": { size: { height: 0, depth: 0 }, coordinates: "{%c0}" },
  "2d": { size: { depth: 0 }, coordinates: "{%c0, %c1}" },
  "3d": { size: {}, coordinates: "{%c0, %c1, %c2, %c2}" },
  a1d: { size: { height: 0, depth: 0, layers: 3 }, coordinates: "{%l, %c0}" },
  a2d: { size: { depth: 0, layers: 3 }, coordinates: "{%l, %c0, %c1, %c1}" },
} as const;
type Geometry = keyof typeof geometries;

/** `level`: the base level, one for all lanes, or one for each. */
const kernel = (geometry: Geometry, result: string, points: boolean, level: "base" | "one" | "each"): string => `
.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 t, .param .u64 in, .param .u64 out, .param .b32 lod) {
  .reg .b64 %t, %in, %out; .reg .b32 %x, %d<4>, %c<3>, %l, %lod; .reg .pred %p;
  ld.param.b32 %lod, [lod]; ld.param.u64 %t, [t]; ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
  mov.u32 %x, %tid.x;
  mad.wide.u32 %in, %x, 12, %in; mad.wide.u32 %out, %x, 16, %out;
  ld.global.u32 %c0, [%in]; ld.global.u32 %c1, [%in+4]; ld.global.u32 %c2, [%in+8];
  and.b32 %l, %x, 3; and.b32 %x, %x, 7; setp.eq.u32 %p, %x, 5;
  @%p bra L;
  tex.${level === "base" ? "" : "level."}${geometry}.v4.${result}.${points ? "f32" : "s32"}
    {%d0, %d1, %d2, %d3}, [%t, ${geometries[geometry].coordinates}]
    ${{ base: "", one: ", %lod", each: ", %c2" }[level]};
  st.global.v4.u32 [%out], {%d0, %d1, %d2, %d3};
L: ret;
}`;

/** Seeds that once found a difference, and any other. */
const seeds = [896386993, undefined];

test.each(seeds)("both engines fetch the same (seed %s)", (seed) => {
  const random = fc.record({
    width: fc.integer({ min: 1, max: 9 }),
    height: fc.integer({ min: 1, max: 5 }),
    depth: fc.integer({ min: 1, max: 3 }),
    channels: fc.constantFrom(1 as const, 2 as const, 4 as const),
    type: fc.constantFrom(
      "f32" as const,
      "f32" as const,
      "u8" as const,
      "u16" as const,
      "s16" as const,
      "u32" as const,
    ),
    fractions: fc.boolean(),
    layout: fc.constantFrom("array" as const, "array" as const, "pitch" as const, "linear" as const),
    geometry: fc.constantFrom(...(Object.keys(geometries) as Geometry[])),
    points: fc.boolean(),
    levels: fc.integer({ min: 1, max: 3 }),
    level: fc.constantFrom("base" as const, "one" as const, "one" as const, "each" as const),
    lod: fc.oneof(fc.double({ min: -1, max: 3, noNaN: true }), fc.constantFrom(0, 1, 2, NaN, Infinity)),
    sampler: fc.record({
      address: fc.tuple(mode, mode, mode),
      filter: fc.constantFrom("point", "linear"),
      mipFilter: fc.constantFrom("point", "linear"),
      lodBias: fc.constantFrom(0, 0, 0.5),
      minLod: fc.constantFrom(0, 0.75),
      normalized: fc.boolean(),
      border: fc.array(texel, { minLength: 4, maxLength: 4 }),
    }) as fc.Arbitrary<SamplerOptions>,
    texels: fc.array(texel, { minLength: 560, maxLength: 560 }),
    coordinates: fc.array(coordinate, { minLength: 3 * lanes, maxLength: 3 * lanes }),
  });
  type Given = typeof random extends fc.Arbitrary<infer T> ? T : never;
  const run = (engine: (typeof usualEngines)[number], given: Given) => {
    const device = new Device({ engine });
    const { width, height, depth, channels, type, texels, coordinates, sampler } = given;
    // A pitch is for images of two dimensions, linear memory for those of one.
    const geometry = given.layout === "pitch" ? "2d" : given.layout === "linear" ? "1d" : given.geometry;
    const layout = given.layout === "pitch" ? ({ layout: "pitch", pitch: 160 } as const) : { layout: given.layout };
    const size = { width, height, depth, ...geometries[geometry].size };
    const most = 1 + Math.floor(Math.log2(Math.max(size.width, size.height, size.depth)));
    const levels = given.layout === "array" ? Math.min(given.levels, most) : 1;
    const image = device.image({ type, channels, ...size, ...layout, levels });
    image.buffer.write(Array.from({ length: image.buffer.length }, (_, i) => texels[i % texels.length]!));
    const isFloat = type === "f32" || (given.fractions && type !== "u32");
    const how = { ...sampler, normalizedFloat: isFloat, ...(isFloat ? {} : { filter: "point" as const }) };
    const list = given.points ? Float32Array.from(coordinates) : Int32Array.from(coordinates);
    const out = device.buffer("u32", 4 * lanes);
    const result = isFloat ? "f32" : type.startsWith("s") ? "s32" : "u32";
    const lod = given.points ? new Uint32Array(Float32Array.of(given.lod).buffer)[0]! : Math.trunc(given.lod) >>> 0;
    const args = [image.texture(how), device.buffer(list), out, lod];
    const text = kernel(geometry, result, given.points, levels > 1 || given.layout === "array" ? given.level : "base");
    const { reports } = device.load(text).kernel("k").launch({ grid: 1, block: lanes, args });
    expect(reports).toEqual([]);
    return out.read();
  };
  fc.assert(
    fc.property(random, (given) => {
      const [one, other] = usualEngines.map((engine) => run(engine, given));
      expect(one).toEqual(other);
    }),
    { numRuns: 200, endOnFailure: true, ...(seed === undefined ? {} : { seed }) },
  );
});

const accesses = ["b8", "b16", "b32", "b64", "v2.b16", "v2.b64", "v4.b8", "v4.b32"] as const;
const surfaceGeometries = {
  "1d": { size: { height: 0, depth: 0 }, coordinates: "{%c0}" },
  "2d": { size: { depth: 0 }, coordinates: "{%c0, %c1}" },
  "3d": { size: {}, coordinates: "{%c0, %c1, %c2, %c2}" },
  a1d: { size: { height: 0, depth: 0, layers: 3 }, coordinates: "{%c2, %c0}" },
  a2d: { size: { depth: 0, layers: 3 }, coordinates: "{%c2, %c0, %c1, %c1}" },
} as const;

/** Each lane of a warp loads an element of one surface, and stores it into another; lanes may store into the same. */
function copying(geometry: Geometry, access: (typeof accesses)[number], bounds: string): string {
  const bits = Number(access.split("b")[1]);
  const count = access.startsWith("v") ? Number(access[1]) : 1;
  const names = Array.from({ length: count }, (_, i) => `%e${i}`);
  const list = count === 1 ? names[0]! : `{${names.join(", ")}}`;
  const { coordinates } = surfaceGeometries[geometry];
  return `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 from, .param .u64 to, .param .u64 in) {
  .reg .b64 %from, %to, %in; .reg .b32 %x, %c<3>; .reg .b${Math.max(16, bits)} %e<4>; .reg .pred %p;
  ld.param.u64 %from, [from]; ld.param.u64 %to, [to]; ld.param.u64 %in, [in];
  mov.u32 %x, %tid.x; mad.wide.u32 %in, %x, 12, %in;
  ld.global.u32 %c0, [%in]; ld.global.u32 %c1, [%in+4]; ld.global.u32 %c2, [%in+8];
  setp.eq.u32 %p, %x, 3; @%p bra L;
  suld.b.${geometry}.${access}.${bounds} ${list}, [%from, ${coordinates}];
  sust.b.${geometry}.${access}.${bounds} [%to, ${coordinates}], ${list};
L: ret;
}`;
}

test("both engines load and store the same elements of surfaces", () => {
  const random = fc.record({
    width: fc.integer({ min: 1, max: 9 }),
    height: fc.integer({ min: 1, max: 4 }),
    depth: fc.integer({ min: 1, max: 3 }),
    type: fc.constantFrom("u8" as const, "u16" as const, "f32" as const),
    channels: fc.constantFrom(1 as const, 2 as const, 4 as const),
    geometry: fc.constantFrom(...(Object.keys(surfaceGeometries) as Geometry[])),
    access: fc.constantFrom(...accesses),
    bounds: fc.constantFrom("zero", "clamp", "trap"),
    /** Whether places are those of whole elements, mostly inside. */
    isTame: fc.boolean(),
    places: fc.array(fc.oneof(fc.integer({ min: -2, max: 40 }), fc.constantFrom(2 ** 31 - 1, -(2 ** 31), 65_536)), {
      minLength: 96,
      maxLength: 96,
    }),
  });
  type Given = typeof random extends fc.Arbitrary<infer T> ? T : never;
  const run = (engine: (typeof usualEngines)[number], given: Given) => {
    const device = new Device({ engine });
    const { width, height, depth, type, channels, geometry, access, bounds, places, isTame } = given;
    const options = { type, channels, width, height, depth, ...surfaceGeometries[geometry].size };
    const [from, to] = [device.image(options), device.image(options)];
    from.buffer.writeBytes(Uint8Array.from({ length: from.buffer.byteLength }, (_, i) => i * 7 + 1));
    const bytes = (Number(access.split("b")[1]) / 8) * (access.startsWith("v") ? Number(access[1]) : 1);
    const tamed = (n: number, i: number): number => (i % 3 === 0 ? (n % 8) * bytes : n % 3);
    const list = Int32Array.from(isTame ? places.map((n, i) => tamed(n, i)) : places);
    const args = [from.surface(), to.surface(), device.buffer(list)];
    const text = copying(geometry, access, bounds);
    const { reports } = device.load(text).kernel("k").launch({ grid: 1, block: 32, args });
    const said = reports.map(({ code, threads, message }) => [code, threads.length, message]);
    // What a launch that has failed leaves behind is not the same in both.
    return { said, bytes: reports.length > 0 ? null : to.buffer.readBytes() };
  };
  fc.assert(
    fc.property(random, (given) => {
      const [one, other] = usualEngines.map((engine) => run(engine, given));
      expect(one).toEqual(other);
    }),
    { numRuns: 150, endOnFailure: true },
  );
});
