import fc from "fast-check";
import { expect, test } from "vitest";
import { Device, type SamplerOptions } from "../../src/runtime/index.ts";
import { engineNames } from "../../src/runtime/launch/launch-options.ts";

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

const kernel = (opcode: string): string => `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 t, .param .u64 in, .param .u64 out) {
  .reg .b64 %t, %in, %out; .reg .b32 %x, %d<4>, %c<2>; .reg .pred %p;
  ld.param.u64 %t, [t]; ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
  mov.u32 %x, %tid.x;
  mad.wide.u32 %in, %x, 8, %in; mad.wide.u32 %out, %x, 16, %out;
  ld.global.v2.u32 {%c0, %c1}, [%in];
  and.b32 %x, %x, 7; setp.eq.u32 %p, %x, 5;
  @%p bra L;
  ${opcode} {%d0, %d1, %d2, %d3}, [%t, {%c0, %c1}];
  st.global.v4.u32 [%out], {%d0, %d1, %d2, %d3};
L: ret;
}`;

const programs = { points: kernel("tex.2d.v4.f32.f32"), texels: kernel("tex.2d.v4.f32.s32") };

test("both engines fetch the same", () => {
  const random = fc.record({
    width: fc.integer({ min: 1, max: 9 }),
    height: fc.integer({ min: 1, max: 5 }),
    channels: fc.constantFrom(1 as const, 2 as const, 4 as const),
    pitch: fc.boolean(),
    program: fc.constantFrom("points" as const, "texels" as const),
    sampler: fc.record({
      address: fc.tuple(mode, mode),
      filter: fc.constantFrom("point", "linear"),
      normalized: fc.boolean(),
      border: fc.array(texel, { minLength: 4, maxLength: 4 }),
    }) as fc.Arbitrary<SamplerOptions>,
    texels: fc.array(texel, { minLength: 180, maxLength: 180 }),
    coordinates: fc.array(coordinate, { minLength: 2 * lanes, maxLength: 2 * lanes }),
  });
  const run = (
    engine: (typeof engineNames)[number],
    given: typeof random extends fc.Arbitrary<infer T> ? T : never,
  ) => {
    const device = new Device({ engine });
    const { width, height, channels, pitch, program, sampler, texels, coordinates } = given;
    const layout = pitch ? ({ layout: "pitch", pitch: 160 } as const) : {};
    const image = device.image({ type: "f32", width, height, channels, ...layout });
    image.buffer.write(texels.slice(0, image.buffer.length));
    const list = program === "points" ? Float32Array.from(coordinates) : Int32Array.from(coordinates);
    const out = device.buffer("u32", 4 * lanes);
    const args = [image.texture(sampler), device.buffer(list), out];
    const { reports } = device.load(programs[program]).kernel("k").launch({ grid: 1, block: lanes, args });
    expect(reports).toEqual([]);
    return out.read();
  };
  fc.assert(
    fc.property(random, (given) => {
      const [one, other] = engineNames.map((engine) => run(engine, given));
      expect(one).toEqual(other);
    }),
    { numRuns: 150, endOnFailure: true },
  );
}, 60_000);
