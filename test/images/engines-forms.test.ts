import fc from "fast-check";
import { expect, test } from "vitest";
import { Device, type ImageOptions, type TextureOptions } from "../../src/runtime/index.ts";
import { usualEngines } from "../../src/runtime/launch/launch-options.ts";

/*
 * Random textures of all formats, fetched with offsets, comparisons, samplers of their own, as gathers and by
 * directions, from hostile places too: both engines give the same bits.
 */

const lanes = 64;
const hostile = [NaN, Infinity, -Infinity, -0, 0, 3e9, -3e9, 1e38, 1e-40, 0.999, -0.999];
const coordinate = fc.oneof(
  fc.double({ min: -2, max: 2, noNaN: true }),
  fc.double({ min: -12, max: 12, noNaN: true }),
  fc.constantFrom(1, -1, 0.5),
  fc.constantFrom(...hostile),
);
const mode = fc.constantFrom("wrap", "clamp", "mirror", "border");
const texel = fc.oneof(fc.double({ min: -9, max: 9, noNaN: true }), fc.constantFrom(NaN, Infinity, -0, 7e4, 1e-7));
const types = ["f32", "f16", "f16", "u8", "s8", "u16", "s16", "s32"] as const;

/** How instructions see an image: the registers of its coordinates, a layer first, and those of offsets. */
const geometries = {
  "1d": { size: { height: 0, depth: 0 }, at: "{%c0}", offset: "{%o0}" },
  "2d": { size: { depth: 0 }, at: "{%c0, %c1}", offset: "{%o0, %o1}" },
  "3d": { size: {}, at: "{%c0, %c1, %c2, %c2}", offset: "{%o0, %o1, %o2, %o2}" },
  a2d: { size: { depth: 0, layers: 3 }, at: "{%l, %c0, %c1, %c1}", offset: "{%o0, %o1}" },
  cube: { size: { depth: 0, cube: true }, at: "{%c0, %c1, %c2, %c2}", offset: null },
  acube: { size: { depth: 0, cube: true, layers: 2 }, at: "{%l, %c0, %c1, %c2}", offset: null },
} as const;
type Geometry = keyof typeof geometries;

interface Form {
  readonly geometry: Geometry;
  readonly result: "f32" | "u32" | "s32";
  readonly component: "r" | "g" | "b" | "a" | null;
  readonly hasOffset: boolean;
  readonly compares: boolean;
  readonly hasSampler: boolean;
}

function kernel({ geometry, result, component, hasOffset, compares, hasSampler }: Form): string {
  const { at, offset } = geometries[geometry];
  const isFlat = geometry !== "1d" && geometry !== "3d";
  const gathers = component !== null && isFlat;
  const opcode = gathers ? `tld4.${component}` : "tex";
  const moved = hasOffset && offset !== null ? `, ${offset}` : "";
  const depth = compares && result === "f32" && geometry !== "3d" ? ", %r" : "";
  return `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 t, .param .u64 s, .param .u64 in, .param .u64 out) {
  .reg .b64 %t, %s, %in, %out; .reg .b32 %x, %d<4>, %l, %o<3>; .reg .f32 %c<3>, %r; .reg .pred %p;
  ld.param.u64 %t, [t]; ld.param.u64 %s, [s]; ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
  mov.u32 %x, %tid.x;
  mad.wide.u32 %in, %x, 16, %in; mad.wide.u32 %out, %x, 16, %out;
  ld.global.v4.f32 {%c0, %c1, %c2, %r}, [%in];
  and.b32 %l, %x, 3; and.b32 %o0, %x, 7; sub.s32 %o0, %o0, 3; mov.u32 %o1, 1; mov.u32 %o2, -1;
  and.b32 %x, %x, 7; setp.eq.u32 %p, %x, 5;
  @%p bra L;
  ${opcode}.${geometry}.v4.${result}.f32 {%d0, %d1, %d2, %d3}, [%t, ${hasSampler ? "%s, " : ""}${at}]${moved}${depth};
  st.global.v4.u32 [%out], {%d0, %d1, %d2, %d3};
L: ret;
}`;
}

test("both engines fetch the same in all forms", () => {
  const random = fc.record({
    width: fc.integer({ min: 1, max: 9 }),
    height: fc.integer({ min: 1, max: 5 }),
    depth: fc.integer({ min: 1, max: 3 }),
    channels: fc.constantFrom(1 as const, 2 as const, 4 as const),
    type: fc.constantFrom(...types),
    fractions: fc.boolean(),
    geometry: fc.constantFrom(...(Object.keys(geometries) as Geometry[])),
    component: fc.constantFrom(null, null, "r" as const, "g" as const, "b" as const, "a" as const),
    hasOffset: fc.boolean(),
    compares: fc.boolean(),
    hasSampler: fc.boolean(),
    sampler: fc.record({
      address: fc.tuple(mode, mode, mode),
      filter: fc.constantFrom("point", "linear", "linear"),
      normalized: fc.boolean(),
      border: fc.array(texel, { minLength: 4, maxLength: 4 }),
      seamless: fc.boolean(),
      compare: fc.constantFrom("never", "lt", "eq", "le", "gt", "ne", "ge", "always"),
    }) as fc.Arbitrary<TextureOptions>,
    texels: fc.array(texel, { minLength: 560, maxLength: 560 }),
    coordinates: fc.array(coordinate, { minLength: 4 * lanes, maxLength: 4 * lanes }),
  });
  type Given = typeof random extends fc.Arbitrary<infer T> ? T : never;
  const run = (engine: (typeof usualEngines)[number], given: Given) => {
    const device = new Device({ engine });
    const { width, channels, type, texels, coordinates, sampler, geometry } = given;
    const isCube = geometry.endsWith("cube");
    const size = { width, height: isCube ? width : given.height, depth: given.depth, ...geometries[geometry].size };
    const image = device.image({ type, channels, ...size } as ImageOptions);
    image.buffer.write(Array.from({ length: image.buffer.length }, (_, i) => texels[i % texels.length]!));
    const isFloat = type.startsWith("f") || (given.fractions && type !== "s32");
    const how = { ...sampler, normalizedFloat: isFloat, ...(isFloat ? {} : { filter: "point" as const }) };
    const out = device.buffer("u32", 4 * lanes);
    const result = isFloat ? "f32" : type.startsWith("s") ? "s32" : "u32";
    const own = device.sampler(isFloat ? sampler : { ...sampler, filter: "point" });
    const args = [image.texture(given.hasSampler ? { ...how, filter: "point" } : how), own];
    const { reports } = device
      .load(kernel({ ...given, result }))
      .kernel("k")
      .launch({ grid: 1, block: lanes, args: [...args, device.buffer(Float32Array.from(coordinates)), out] });
    expect(reports).toEqual([]);
    return out.read();
  };
  fc.assert(
    fc.property(random, (given) => {
      const [one, other] = usualEngines.map((engine) => run(engine, given));
      expect(one).toEqual(other);
    }),
    { numRuns: 100, endOnFailure: true },
  );
  // Beyond a corner of a seamless cube is a mean: NaNs are one there, and keep their bits elsewhere.
  const gathers = random.map((given): Given => {
    const sampler = { ...given.sampler, seamless: true };
    return { ...given, type: "f32", geometry: "cube", component: "g", compares: false, hasOffset: false, sampler };
  });
  fc.assert(
    fc.property(gathers, (given) => {
      const [one, other] = usualEngines.map((engine) => run(engine, given));
      expect(one).toEqual(other);
    }),
    { numRuns: 20, endOnFailure: true },
  );
});
