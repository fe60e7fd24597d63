import fc from "fast-check";
import { expect, test } from "vitest";
import { Device, type ImageOptions, type TextureOptions } from "../../src/runtime/index.ts";
import { usualEngines } from "../../src/runtime/launch/launch-options.ts";

/*
 * Random textures of several levels, fetched from the levels that lanes choose, by numbers or by gradients, from
 * hostile places too: both engines give the same bits.
 */

const lanes = 64;
const words = 10;
const hostile = [NaN, Infinity, -Infinity, -0, 0, 3e9, 1e38, 1e-40];
const number = (most: number) =>
  fc.oneof(
    { weight: 9, arbitrary: fc.double({ min: -most, max: most, noNaN: true }) },
    { weight: 1, arbitrary: fc.constantFrom(...hostile) },
  );
const mode = fc.constantFrom("wrap", "clamp", "mirror", "border");
const texel = fc.oneof(fc.double({ min: -9, max: 9, noNaN: true }), fc.constantFrom(NaN, Infinity, -0, 7e4, 1e-7));

/** How instructions see an image: coordinates, a gradient, an offset. */
const geometries = {
  "1d": { size: { height: 0, depth: 0 }, at: "{%c0}", steps: 1, offset: "{%o0}" },
  "2d": { size: { depth: 0 }, at: "{%c0, %c1}", steps: 2, offset: "{%o0, %o1}" },
  "3d": { size: {}, at: "{%c0, %c1, %c2, %c2}", steps: 4, offset: "{%o0, %o1, %o0, %o0}" },
  a2d: { size: { depth: 0, layers: 3 }, at: "{%l, %c0, %c1, %c1}", steps: 2, offset: "{%o0, %o1}" },
  cube: { size: { depth: 0, cube: true }, at: "{%c0, %c1, %c2, %c2}", steps: 4, offset: null },
  acube: { size: { depth: 0, cube: true, layers: 2 }, at: "{%l, %c0, %c1, %c2}", steps: 4, offset: null },
} as const;
type Geometry = keyof typeof geometries;

interface Form {
  readonly geometry: Geometry;
  readonly result: "f32" | "u32" | "s32";
  readonly chosen: "number" | "one number" | "integer" | "gradients";
  readonly hasOffset: boolean;
  readonly compares: boolean;
  readonly hasSampler: boolean;
  readonly asks: boolean;
}

function kernel(form: Form): string {
  const { geometry, result, chosen, hasOffset, compares, hasSampler, asks } = form;
  const { at, offset, steps } = geometries[geometry];
  const integers = chosen === "integer" && !geometry.endsWith("cube");
  const step = (name: string): string =>
    `{${["0", "1", "2", "2"]
      .slice(0, steps)
      .map((n) => `%${name}${n}`)
      .join(", ")}}`;
  const level = chosen === "gradients" ? `${step("g")}, ${step("h")}` : integers ? "%i" : "%f";
  const moved = hasOffset && offset !== null ? `, ${offset}` : "";
  const depth = compares && result === "f32" && !integers && geometry !== "3d" ? ", %r" : "";
  const opcode = `tex.${chosen === "gradients" ? "grad" : "level"}.${geometry}.v4.${result}.${integers ? "s32" : "f32"}`;
  const place = integers ? at.replaceAll("%c", "%n") : at;
  const inputs = ["%c0", "%c1", "%c2", "%f", "%g0", "%g1", "%g2", "%h0", "%h1", "%h2"];
  return `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 t, .param .u64 s, .param .u64 in, .param .u64 out) {
  .reg .b64 %t, %s, %in, %out; .reg .b32 %x, %d<4>, %l, %o<2>, %n<3>, %i; .reg .f32 %c<3>, %f, %g<3>, %h<3>, %r;
  .reg .pred %p, %q;
  ld.param.u64 %t, [t]; ld.param.u64 %s, [s]; ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
  ${chosen === "one number" ? "ld.global.f32 %f, [%in + 12];" : ""}
  mov.u32 %x, %tid.x;
  mad.wide.u32 %in, %x, ${4 * words}, %in; mad.wide.u32 %out, %x, 16, %out;
  ${inputs.map((to, n) => (to === "%f" && chosen === "one number" ? "" : `ld.global.f32 ${to}, [%in + ${4 * n}];`)).join(" ")}
  mov.f32 %r, %f; cvt.rzi.s32.f32 %i, %f;
  ${[0, 1, 2].map((n) => `cvt.rzi.s32.f32 %n${n}, %c${n};`).join(" ")}
  and.b32 %l, %x, 3; and.b32 %o0, %x, 7; sub.s32 %o0, %o0, 3; mov.u32 %o1, 1;
  and.b32 %x, %x, 7; setp.eq.u32 %p, %x, 5; setp.ne.u32 %q, %x, %x;
  @%p bra L;
  ${opcode} {%d0, %d1, ${asks ? "_, %d3}|%q" : "%d2, %d3}"}, [%t, ${hasSampler ? "%s, " : ""}${place}], ${level}${moved}${depth};
  selp.b32 %d2, 7, ${asks ? "0" : "%d2"}, %q;
  st.global.v4.u32 [%out], {%d0, %d1, %d2, %d3};
L: ret;
}`;
}

const random = fc.record({
  width: fc.integer({ min: 2, max: 17 }),
  height: fc.integer({ min: 1, max: 9 }),
  depth: fc.integer({ min: 1, max: 3 }),
  levels: fc.integer({ min: 1, max: 5 }),
  channels: fc.constantFrom(1 as const, 2 as const, 4 as const),
  type: fc.constantFrom("f32", "f32", "f16", "u8", "s8", "u16", "s32"),
  fractions: fc.boolean(),
  geometry: fc.constantFrom(...(Object.keys(geometries) as Geometry[])),
  chosen: fc.constantFrom("number", "one number", "integer", "gradients", "gradients"),
  hasOffset: fc.boolean(),
  compares: fc.boolean(),
  hasSampler: fc.boolean(),
  asks: fc.boolean(),
  sampler: fc.record({
    address: fc.tuple(mode, mode, mode),
    filter: fc.constantFrom("point", "linear"),
    mipFilter: fc.constantFrom("point", "linear", "linear"),
    normalized: fc.boolean(),
    border: fc.array(texel, { minLength: 4, maxLength: 4 }),
    seamless: fc.boolean(),
    compare: fc.constantFrom("lt", "le", "ne", "always"),
    lodBias: fc.constantFrom(0, 0, 0.3, -1),
    minLod: fc.constantFrom(0, 0, 0.75),
    maxLod: fc.constantFrom(99, 99, 1.5),
    maxAnisotropy: fc.constantFrom(1, 1, 3, 16),
  }) as fc.Arbitrary<TextureOptions>,
  texels: fc.array(texel, { minLength: 560, maxLength: 560 }),
  places: fc.array(number(3), { minLength: 256, maxLength: 256 }),
  steps: fc.array(number(1.5), { minLength: 256, maxLength: 256 }),
});
type Given = typeof random extends fc.Arbitrary<infer T> ? T : never;

function run(engine: (typeof usualEngines)[number], given: Given) {
  const device = new Device({ engine });
  const { width, channels, type, texels, places, steps, sampler, geometry, chosen } = given;
  const isCube = geometry.endsWith("cube");
  const size = { width, height: isCube ? width : given.height, depth: given.depth, ...geometries[geometry].size };
  const levels = Math.min(given.levels, 1 + Math.floor(Math.log2(width)));
  const image = device.image({ type, channels, levels, ...size } as ImageOptions);
  image.buffer.write(Array.from({ length: image.buffer.length }, (_, i) => texels[i % texels.length]!));
  const isFloat = type.startsWith("f") || (given.fractions && type !== "s32");
  const own = isFloat ? sampler : ({ ...sampler, filter: "point" } as const);
  const how = { ...own, normalizedFloat: isFloat };
  const out = device.buffer("u32", 4 * lanes);
  const result = isFloat ? "f32" : type.startsWith("s") ? "s32" : "u32";
  const input = device.buffer("f32", words * lanes);
  const at = (list: readonly number[], n: number): number => list[n % list.length]!;
  input.write(
    Array.from({ length: words * lanes }, (_, n) => {
      const word = n % words;
      if (word < 3) return at(places, n) * (sampler.normalized === true || isCube ? 1 : 5);
      return word === 3 ? at(steps, n) * 3 : at(steps, n);
    }),
  );
  const texture = image.texture(given.hasSampler ? { ...how, filter: "point" } : how);
  const { reports } = device
    .load(kernel({ ...given, chosen: chosen as Form["chosen"], result }))
    .kernel("k")
    .launch({ grid: 1, block: lanes, args: [texture, device.sampler(own), input, out] });
  expect(reports).toEqual([]);
  return out.read();
}

test("both engines fetch the same from levels that lanes choose", () => {
  fc.assert(
    fc.property(random, (given) => {
      const [one, other] = usualEngines.map((engine) => run(engine, given));
      expect(one).toEqual(other);
    }),
    { numRuns: 60, endOnFailure: true },
  );
}, 90_000);

test("gradients without end choose the last level, once", () => {
  for (const engine of usualEngines) {
    const device = new Device({ engine });
    const image = device.image({ type: "f32", width: 4, height: 2, levels: 3 });
    image.buffer.write(Array.from({ length: image.buffer.length }, (_, n) => n));
    const form = { geometry: "2d", result: "f32", chosen: "gradients", compares: false, asks: false } as const;
    const input = device.buffer("f32", words * lanes);
    input.write(Array.from({ length: words * lanes }, (_, n) => (n % words < 4 ? 0 : Infinity)));
    const out = device.buffer("f32", 4 * lanes);
    const texture = image.texture({ normalized: true, maxAnisotropy: 16 });
    const { reports } = device
      .load(kernel({ ...form, hasOffset: false, hasSampler: false }))
      .kernel("k")
      .launch({ grid: 1, block: lanes, args: [texture, 0n, input, out] });
    expect(reports).toEqual([]);
    expect(out.read()[0]).toBe(8 + 2);
  }
});
