import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readPng, writePng } from "../../src/cli/terminal/png.ts";
import { readNumpy, writeNumpy } from "../../src/runtime/data/npy.ts";
import { BuiltCli } from "./built-cli.ts";

/* Expected values: texels by hand, and linear filtering halfway between two of them. */
const program = `.version 8.6
.target sm_75
.address_size 64
.global .texref bound;

// Copies a texel from a texture to a surface.
.visible .entry copy(.param .u64 from, .param .u64 to)
{
    .reg .b64 %from, %to; .reg .b32 %x, %y, %c<4>; .reg .f32 %f<4>;
    ld.param.u64 %from, [from]; ld.param.u64 %to, [to];
    mov.u32 %x, %tid.x; mov.u32 %y, %tid.y;
    tex.2d.v4.u32.s32 {%c0, %c1, %c2, %c3}, [%from, {%x, %y}];
    sust.p.2d.v4.b32.trap [%to, {%x, %y}], {%c0, %c1, %c2, %c3};
    ret;
}
// Halfway between texels x and x + 1.
.visible .entry between(.param .u64 from, .param .u64 out)
{
    .reg .b64 %from, %out; .reg .b32 %x; .reg .f32 %f<5>;
    ld.param.u64 %from, [from]; ld.param.u64 %out, [out];
    mov.u32 %x, %tid.x; cvt.rn.f32.u32 %f4, %x; add.f32 %f4, %f4, 1.0;
    tex.1d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%from, {%f4}];
    mad.wide.u32 %out, %x, 4, %out; st.global.f32 [%out], %f0;
    ret;
}
.visible .entry variable(.param .u64 out)
{
    .reg .b64 %out; .reg .b32 %x; .reg .f32 %f<4>;
    ld.param.u64 %out, [out]; mov.u32 %x, %tid.x;
    tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [bound, {%x}];
    mad.wide.u32 %out, %x, 4, %out; st.global.f32 [%out], %f0;
    ret;
}
// A texture and a sampler of its own.
.visible .entry sampled(.param .u64 from, .param .u64 how, .param .u64 out)
{
    .reg .b64 %from, %how, %out; .reg .b32 %x; .reg .f32 %f<5>;
    ld.param.u64 %from, [from]; ld.param.u64 %how, [how]; ld.param.u64 %out, [out];
    mov.u32 %x, %tid.x; cvt.rn.f32.u32 %f4, %x; add.f32 %f4, %f4, 1.0;
    tex.1d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%from, %how, {%f4}];
    mad.wide.u32 %out, %x, 4, %out; st.global.f32 [%out], %f0;
    ret;
}
`;

let cli: BuiltCli;
const pixels = Uint8Array.from({ length: 36 }, (_, i) => 7 * i);
beforeAll(async () => {
  cli = await BuiltCli.build();
  cli.write("images.ptx", program);
  cli.write(
    "sampled.ptx",
    program.replace(".address_size 64", ".address_size 64 ").replace("sm_75", "sm_75, texmode_independent"),
  );
  cli.write("photo.png", writePng({ width: 4, height: 3, channels: 3, bits: 8, values: pixels }));
  const rows = new Uint8Array(new Float32Array([0, 2, 6, 14]).buffer);
  cli.write("row.npy", writeNumpy({ type: "f32", shape: [4], bytes: rows }));
  const resource = { type: "array", buf: "row", format: { type: "f32" }, width: 4 };
  const row = { type: "f32", n: 4, init: { gen: "list", values: [0, 2, 6, 14] } };
  const out = { type: "f32", n: 3 };
  const job = (kernel: string, args: object[], all: number[], more: object = {}) => ({
    variants: { only: ["images.ptx"] },
    buffers: { row, out },
    launches: [{ kernel, grid: [1], block: [3], args: [...args, { buf: "out" }] }],
    checks: [{ buf: "out", all }],
    ...more,
  });
  const symbols = { bound: { texture: { resource } } };
  cli.write("bound.json", JSON.stringify(job("variable", [], [0, 2, 6], { symbols })));
  const sampler = { sampler: { filterMode: "linear" } };
  const independent = { variants: { only: ["sampled.ptx"] } };
  cli.write(
    "sampled.json",
    JSON.stringify(job("sampled", [{ texture: { resource } }, sampler], [1, 4, 10], independent)),
  );
  const picture = { type: "u8", n: 48, init: { gen: "file", path: "photo.png" } };
  const image = { resource: { type: "array", buf: "photo", format: { type: "u8", channels: 4 }, width: 4, height: 3 } };
  const copy = { resource: { ...image.resource, buf: "copy" } };
  cli.write(
    "photo.json",
    JSON.stringify({
      variants: { only: ["images.ptx"] },
      buffers: { photo: picture, copy: { type: "u8", n: 48 } },
      launches: [{ kernel: "copy", grid: [1], block: [4, 3], args: [{ texture: image }, { surface: copy }] }],
      checks: [{ buf: "copy", all: withOpacity() }],
    }),
  );
});
afterAll(() => cli.remove());

const withOpacity = (): number[] =>
  Array.from({ length: 12 }, (_, i) => [...pixels.subarray(3 * i, 3 * i + 3), 255]).flat();

describe.each(["jit", "interpreter"])("%s", (engine) => {
  const run = (...words: string[]) => cli.run("run", ...words, "--engine", engine);
  const copy = (...words: string[]) => run("images.ptx", "--kernel", "copy", "--block", "4,3", ...words);

  test("a PNG file as a texture, and a surface as PNG and NumPy files", () => {
    const outs = ["--out", "1=out.png", "--out", "1=out.npy"];
    const { status, stdout } = copy("--arg", "texture:@photo.png", "--arg", "surface:u8x4[4x3]", ...outs);
    expect([status, stdout]).toEqual([0, ""]);
    const { values, ...picture } = readPng(readFileSync(join(cli.work, "out.png")));
    expect(picture).toEqual({ width: 4, height: 3, channels: 4, bits: 8 });
    expect([...values]).toEqual(withOpacity());
    const array = readNumpy(readFileSync(join(cli.work, "out.npy")));
    expect(array).toMatchObject({ type: "u8", shape: [3, 4, 4] });
    expect([...array.bytes]).toEqual(withOpacity());
  });

  test("an image that is a texture and a surface is shown once", () => {
    const { stdout } = copy("--arg", "texture:u8x4[4x3]=iota", "--arg", "surface:0");
    expect(stdout).toBe("");
  });

  test("a NumPy file as a texture, with linear filtering", () => {
    const args = ["--arg", "texture:@row.npy,filter=linear", "--arg", "f32[3]"];
    const { stdout } = run("images.ptx", "--kernel", "between", "--block", "3", ...args);
    expect(stdout).toBe("argument 1, f32[3]: 1 4 10\n");
  });

  test("a texture of values", () => {
    const args = ["--arg", "texture:f32[4]=0,2,6,14,filter=linear", "--arg", "f32[3]"];
    const { stdout } = run("images.ptx", "--kernel", "between", "--block", "3", ...args);
    expect(stdout).toBe("argument 1, f32[3]: 1 4 10\n");
  });

  test("a variable that is bound to a texture", () => {
    const args = ["--symbol", "bound=texture:@row.npy", "--arg", "f32[3]"];
    const { stdout } = run("images.ptx", "--kernel", "variable", "--block", "3", ...args);
    expect(stdout).toContain("argument 0, f32[3]: 0 2 6\n");
  });

  test("a sampler", () => {
    const args = ["--arg", "texture:@row.npy", "--arg", "sampler:filter=linear", "--arg", "f32[3]"];
    const { stdout } = run("sampled.ptx", "--kernel", "sampled", "--block", "3", ...args);
    expect(stdout).toBe("argument 2, f32[3]: 1 4 10\n");
  });

  test.each(["bound.json", "sampled.json", "photo.json"])("%s", (path) => {
    const { status, stdout } = run(path);
    expect(stdout).toContain("ok");
    expect(status).toBe(0);
  });

  test("errors", () => {
    const wrong = (...words: string[]): string => {
      const { status, stderr } = copy(...words);
      expect(status).toBe(2);
      return stderr;
    };
    expect(wrong("--arg", "texture:1", "--arg", "surface:u8x4[4x3]")).toContain("argument 1 is no image before this");
    expect(wrong("--arg", "u8[48]", "--arg", "surface:0")).toContain("argument 0 is a buffer: say type and size");
    expect(wrong("--arg", "u8[48]", "--arg", "surface:0", "--out", "0=x.png")).toContain("argument 0 is a buffer");
    const out = ["--arg", "surface:s8x4[4x3]", "--out", "1=x.png"];
    expect(wrong("--arg", "texture:@photo.png", ...out)).toContain("a PNG file has no channels of s8");
    expect(wrong("--symbol", "bound=surface:7", "--arg", "f32[3]", "--arg", "f32[3]")).toContain("is no image before");
  });
});
