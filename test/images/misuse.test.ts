import { describe, expect, test } from "vitest";
import { type Buffer, Device, type ImageHandle, type KernelArgument, UsageError } from "../../src/runtime/index.ts";
import { usualEngines } from "../../src/runtime/launch/launch-options.ts";

/*
 * What must end with a report, or be refused by the host. Lines of messages are not the point: codes and lanes are.
 */

const kernelOf = (body: string, params = ".param .u64 t, .param .u64 out"): string => `.version 8.6
.target sm_90
.address_size 64
.global .texref tex;
.global .surfref surf;
.entry k(${params}) {
  .reg .b64 %t, %out, %a; .reg .b32 %x, %y, %d<4>; .reg .f32 %f<8>; .reg .pred %p;
  ld.param.u64 %t, [t]; ld.param.u64 %out, [out];
  mov.u32 %x, %tid.x;
  cvt.rn.f32.u32 %f0, %x;
  ${body}
  ret;
}`;

type Objects = (device: Device, out: Buffer) => KernelArgument;

const image2d = (device: Device) => device.image({ type: "f32", width: 8, height: 4 });
const freed = (handle: ImageHandle): ImageHandle => {
  handle.free();
  return handle;
};

/** What a launch reports: the code, and for how many of 16 threads. */
const cases: readonly [what: string, body: string, object: Objects, code: string, threads: number][] = [
  ["a number", "tex.1d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%t,{%f0}];", () => 0x1234_5678, "bad-handle", 16],
  ["an address", "tex.1d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%t,{%f0}];", (_, out) => out, "bad-handle", 16],
  [
    "a freed texture",
    "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%t,{%f0,%f0}];",
    (device) => freed(image2d(device).texture()),
    "bad-handle",
    16,
  ],
  [
    "a texture whose memory has been freed",
    "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%t,{%f0,%f0}];",
    (device) => {
      const image = image2d(device);
      const texture = image.texture();
      image.buffer.free();
      return texture;
    },
    "bad-handle",
    16,
  ],
  ["a surface", "txq.width.b32 %d0, [%t];", (device) => image2d(device).surface(), "bad-handle", 16],
  ["a texture", "suq.width.b32 %d0, [%t];", (device) => image2d(device).texture(), "bad-handle", 16],
  ["an unbound variable", "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [tex,{%f0,%f0}];", (_, out) => out, "bad-handle", 16],
  [
    "a comparison of integers",
    "tex.2d.v4.u32.f32 {%d0,%d0,%d0,%d0}, [%t,{%f0,%f0}], %f1;",
    (device) => device.image({ type: "u32", width: 8, height: 4 }).texture(),
    "image-mismatch",
    16,
  ],
  [
    "too few dimensions",
    "tex.1d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%t,{%f0}];",
    (device) => image2d(device).texture(),
    "image-mismatch",
    16,
  ],
  [
    "an array",
    "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%t,{%f0,%f0}];",
    (device) => device.image({ type: "f32", width: 8, height: 4, layers: 2 }).texture(),
    "image-mismatch",
    16,
  ],
  [
    "integers of floats",
    "tex.2d.v4.s32.f32 {%d0,%d1,%d2,%d3}, [%t,{%f0,%f0}];",
    (device) => image2d(device).texture(),
    "image-mismatch",
    16,
  ],
  [
    "floats of integers",
    "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%t,{%f0,%f0}];",
    (device) => device.image({ type: "u8", width: 8, height: 4 }).texture(),
    "image-mismatch",
    16,
  ],
  [
    "a surface of another geometry",
    "suld.b.3d.b32.zero %d0, [%t,{%x,%x,%x,%x}];",
    (device) => image2d(device).surface(),
    "image-mismatch",
    16,
  ],
  [
    "a store beyond the row",
    "shl.b32 %y, %x, 2; sust.b.2d.b32.trap [%t,{%y,%y}], %x;",
    (device) => image2d(device).surface(),
    "surface-out-of-bounds",
    15,
  ],
  [
    "a load between elements",
    "shl.b32 %y, %x, 1; suld.b.2d.b32.clamp %d0, [%t,{%y,0}];",
    (device) => image2d(device).surface(),
    "misaligned-access",
    8,
  ],
  [
    "an element that no row has room for",
    "suld.b.2d.v4.b32.clamp {%d0, %d1, %d2, %d3}, [%t,{0,0}];",
    (device) => device.image({ type: "u8", width: 8, height: 4 }).surface(),
    "image-mismatch",
    16,
  ],
  [
    "a reduction of floats",
    "sured.p.add.2d.b32.zero [%t,{%x,0}], %x;",
    (device) => image2d(device).surface(),
    "image-mismatch",
    8,
  ],
];

describe.each(usualEngines)("reports (%s)", (engine) => {
  test.each(cases)("%s", (_, body, object, code, threads) => {
    const device = new Device({ engine });
    const out = device.buffer("u32", 64);
    const { reports } = device
      .load(kernelOf(body))
      .kernel("k")
      .launch({ grid: 1, block: 16, args: [object(device, out), out] });
    expect(reports.map((r) => [r.code, r.threads.length])).toEqual([[code, threads]]);
  });

  test("texels that a launch writes and fetches without order are a race", () => {
    const device = new Device({ engine });
    const image = image2d(device);
    const args = [image.texture(), image.surface()];
    const write = "ld.param.u64 %a, [out]; sust.b.2d.b32.zero [%a,{0,0}], %x;";
    const read = "mov.f32 %f0, 0f00000000; tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%t,{%f0,%f0}];";
    const launch = (body: string, sanitize: readonly "race"[]) =>
      device.load(kernelOf(body)).kernel("k").launch({ grid: 1, block: 64, args, sanitize });
    const one = `setp.ne.u32 %p, %x, 0; @%p bra L; ${write} L: setp.ne.u32 %p, %x, 40; @%p bra M; ${read} M:`;
    expect(launch(one, ["race"]).reports.map((r) => r.code)).toEqual(["data-race"]);
    const ordered = `setp.ne.u32 %p, %x, 0; @%p bra L; ${write} L: bar.sync 0; ${read}`;
    expect(launch(ordered, ["race"]).reports).toEqual([]);
    expect(launch(one, []).reports).toEqual([]);
  });

  // volumeRender of cuda-samples fetches so from what cudaMallocArray(&array, &format, 9, 1) makes.
  test.each(["point", "linear"] as const)("an image of one row is one of one dimension, too (%s)", (filter) => {
    const device = new Device({ engine });
    const image = device
      .image({ type: "f32", width: 16, height: 1 })
      .write(Array.from({ length: 16 }, (_, i) => 3 * i));
    const out = device.buffer("f32", 16);
    const body = `add.f32 %f0, %f0, 0f3f000000; tex.1d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%t,{%f0}];
      mul.wide.u32 %a, %x, 4; add.u64 %a, %a, %out; st.global.f32 [%a], %f1;`;
    const args = [image.texture({ filter }), out];
    expect(device.load(kernelOf(body)).kernel("k").launch({ grid: 1, block: 16, args }).reports).toEqual([]);
    expect([...out.read()]).toEqual(Array.from({ length: 16 }, (_, i) => 3 * i));
  });

  test("the nearest element of a row that is not a whole number of them begins at a multiple of its size", () => {
    const device = new Device({ engine });
    // Rows of 22 bytes hold two elements of 8, at 0 and 8.
    const image = device.image({ type: "u8", width: 22, height: 2 });
    image.write(Array.from({ length: 44 }, (_, i) => i));
    const out = device.buffer("u32", 2);
    const body = `mov.u32 %x, 64; suld.b.2d.v2.b32.clamp {%d0, %d1}, [%t,{%x,0}]; st.global.v2.b32 [%out], {%d0, %d1};`;
    const { reports } = device
      .load(kernelOf(body))
      .kernel("k")
      .launch({ grid: 1, block: 1, args: [image.surface(), out] });
    expect(reports).toEqual([]);
    expect([...out.read()]).toEqual([0x0b0a0908, 0x0f0e0d0c]);
  });

  test("variables of opaque types refer to what the host puts there", () => {
    const device = new Device({ engine });
    const image = image2d(device).write(Array.from({ length: 32 }, (_, i) => i));
    const store = "mad.wide.u32 %out, %x, 4, %out; st.global.f32 [%out], %f1;";
    const direct = "tex.2d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [tex,{%x,1}];";
    const indirect = "mov.u64 %a, tex; tex.2d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%a,{%x,1}];";
    const parameter = "tex.2d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [t,{%x,1}];";
    const params = ".param .texref t, .param .u64 out";
    for (const [body, list] of [
      [direct, undefined],
      [indirect, undefined],
      [parameter, params],
    ] as const) {
      const out = device.buffer("f32", 8);
      const text = kernelOf(`${body} ${store}`, list).replace(
        "ld.param.u64 %t, [t];",
        list === undefined ? "ld.param.u64 %t, [t];" : "",
      );
      const module = device.load(text);
      module.variable("tex").write(image.texture().handle);
      const { reports } = module.kernel("k").launch({ grid: 1, block: 8, args: [image.texture(), out] });
      expect(reports).toEqual([]);
      expect(Array.from(out.read())).toEqual([8, 9, 10, 11, 12, 13, 14, 15]);
    }
  });
});

test.each(usualEngines)("a declared sampler has what its initializer says (%s)", (engine) => {
  const device = new Device({ engine });
  const image = image2d(device).write(Array.from({ length: 32 }, (_, i) => i));
  const text = kernelOf(
    `sub.f32 %f0, %f0, 0f40000000; mov.f32 %f5, 0f3f000000;
     tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%t,s,{%f0,%f5}];
     mad.wide.u32 %out, %x, 4, %out; st.global.f32 [%out], %f1;`,
  )
    .replace(".target sm_90", ".target sm_90, texmode_independent")
    .replace(
      ".global .texref tex;",
      `.global .texref tex;
.global .samplerref s = { addr_mode_0 = clamp_to_border, filter_mode = linear, force_unnormalized_coords = 1 };`,
    );
  const out = device.buffer("f32", 8);
  const args = [image.texture({ normalized: true }), out];
  expect(device.load(text).kernel("k").launch({ grid: 1, block: 8, args }).reports).toEqual([]);
  // At x - 2, between the centres of texels and in the border; y is at the centre of row 0.
  expect(Array.from(out.read())).toEqual([0, 0, 0, 0.5, 1.5, 2.5, 3.5, 4.5]);
});

test("the host refuses images that no device has", () => {
  const device = new Device();
  const buffer = device.buffer("u8", 4096);
  const refused = (make: () => unknown): string => {
    try {
      make();
    } catch (error) {
      if (error instanceof UsageError) return error.message;
      throw error;
    }
    return "";
  };
  const image = (options: object) => refused(() => device.image({ type: "u8", width: 8, ...options }));
  expect([
    image({ width: 0 }),
    image({ height: 4, layout: "pitch", pitch: 40, buffer }),
    image({ height: 4, layout: "pitch", pitch: 0, buffer }),
    image({ buffer: buffer.at(8) }),
    image({ width: 5000, buffer }),
    image({ height: 4, cube: true }),
    image({ levels: 5 }),
    image({ channels: 5 }),
    refused(() => device.image({ type: "u8", width: 8 }).texture({ filter: "linear" })),
    refused(() => device.image({ type: "u32", width: 8 }).texture({ normalizedFloat: true })),
  ]).toEqual([
    "image: its width is 0",
    "image: its pitch of 40 bytes is not a multiple of 32",
    "image: its rows of 8 bytes do not fit a pitch of 0",
    "image: it does not begin at a multiple of 16 bytes",
    "image: its 5000 bytes from byte 0 on are not in its buffer of 4096 bytes",
    "image: the faces of a cube are squares",
    "image: it has 5 levels, but at most 4",
    "image: a texel has 1 to 4 channels, not 5",
    "image: linear filtering needs floats or fractions, and texels are u8 (see normalizedFloat)",
    "image: integers of 32 bits are not read as fractions",
  ]);
});

test("options that there are not, and images that are no textures, are refused by name", () => {
  const device = new Device();
  const image = device.image({ type: "f32", width: 8, height: 4 });
  const wrong = (options: object) => () => image.texture(options);
  expect(wrong({ filter: "bilinear" })).toThrow('filter is one of point, linear, not "bilinear"');
  expect(wrong({ normalised: true })).toThrow('has no option "normalised"; did you mean "normalized"?');
  expect(wrong({ border: "red" })).toThrow("the border is a list of numbers");
  expect(() => device.image({ type: "f32", widht: 3 } as never)).toThrow(
    'has no option "widht"; did you mean "width"?',
  );
  const kernel = device.load(kernelOf("")).kernel("k");
  const launch = () => kernel.launch({ grid: 1, block: 1, args: [image as never, 0n] });
  expect(launch).toThrow("of an image, pass its texture() or its surface()");
});

test("a variable in which there is no handle is named as such", () => {
  for (const engine of usualEngines) {
    const device = new Device({ engine });
    const kernel = device.load(kernelOf("tex.1d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [tex,{%f0}];")).kernel("k");
    const { reports } = kernel.launch({ grid: 1, block: 1, args: [0n, 0n] });
    expect(reports[0]!.message).toContain("is an address, at which there is 0: nothing has been bound");
  }
});
