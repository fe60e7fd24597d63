import { describe, expect, test } from "vitest";
import { Device } from "../../src/runtime/index.ts";
import { archiveOf, fixture } from "../container/fixtures.ts";

const file = (name: string) => ({ path: name, bytes: fixture(name) });

describe("a device loads what is in a file", () => {
  test.each(["sum-zstd.fatbin", "sum-lz4.fatbin", "sum-raw.fatbin"])("%s", (name) => {
    const device = new Device();
    const module = device.load(file(name), { kernels: ["_Z3sumPKfPfi"] });
    expect(module.kernels).toEqual(["_Z3sumPKfPfi", "_Z5scaleIfEvPT_S0_"]);
    const x = device.buffer(Float32Array.from({ length: 1000 }, (_, i) => i));
    const out = device.buffer("f32", 1);
    expect(module.kernel("_Z3sumPKfPfi").launch({ grid: 1, block: 256, args: [x, out, 1000] }).ok).toBe(true);
    // Twice the sum from 0 to 999: factor is 2.
    expect(out.read()).toEqual(Float32Array.of(999_000));
  });

  test("modules that are to be linked are one program", () => {
    const device = new Device();
    const out = device.buffer("s32", 4);
    const kernel = device.load(file("linked-with-a-long-name.a")).kernel("_Z7doubledPi");
    expect(kernel.launch({ grid: 1, block: 4, args: [out] }).ok).toBe(true);
    expect(out.read()).toEqual(Int32Array.of(0, 2, 4, 6));
  });

  test("of several programs, the one with the kernel", () => {
    const load = (kernels: string[], module?: string) => new Device().load(file("two.exe"), { kernels, module });
    expect(load(["_Z4fillPii"]).kernels).toEqual(["_Z3ownPi", "_Z4fillPii"]);
    expect(load(["fill"]).kernels).toEqual(["_Z3ownPi", "_Z4fillPii"]);
    expect(load(["_Z3ownPi"], "other").kernels).toEqual(["_Z3ownPi"]);
    expect(load(["_Z3ownPi"], "other").ir.source.path).toBe("two.exe:other.sm_75.ptx");
  });

  test.each<[string, object, string]>([
    [
      "two.exe",
      {},
      "two.exe has 2 programs: name a kernel or a module (fill has _Z3ownPi, _Z4fillPii; other has _Z3ownPi)",
    ],
    [
      "two.exe",
      { kernels: ["_Z3ownPi"] },
      'two.exe: several modules have a kernel "_Z3ownPi": fill, other; name one (--module, or `module`)',
    ],
    ["two.exe", { kernels: ["_Z4filPii"] }, 'two.exe: there is no kernel "_Z4filPii"; did you mean "_Z4fillPii"?'],
    ["two.exe", { module: "fil" }, 'two.exe: there is no module "fil"; did you mean "fill"?'],
    [
      "other.cubin",
      {},
      "other.cubin has machine code for sm_80 alone, no PTX; compile with -gencode arch=compute_80,code=compute_80, or with nvcc -ptx",
    ],
    ["fill.fatbin", { target: "sm_75" }, "fill.fatbin:fill has no PTX for sm_75, only for sm_90a, sm_80"],
    ["scale.bin", {}, "scale.bin (OpenCL binary (zebin)) has no PTX"],
  ])("%s with %j: %s", (name, options, message) => {
    expect(() => new Device().load(file(name), { isa: "ptx", ...options })).toThrow(message);
  });

  test.each<[string | undefined, string]>([
    [undefined, "sm_90a"],
    ["sm_90a", "sm_90a"],
    ["sm_90", "sm_80"],
    ["sm_80", "sm_80"],
    ["sm_100", "sm_80"],
  ])("for the target %s, the PTX of %s is taken", (target, expected) => {
    expect(new Device().load(file("fill.fatbin"), { target }).ir.source.path).toBe(`fill.fatbin:fill.${expected}.ptx`);
  });

  test("the newest PTX that can be executed is taken before a newer one that cannot", () => {
    const text = (target: string, instruction: string): string =>
      `\nFatbin ptx code:\n================\narch = ${target}\nidentifier = a.cu\n\n.version 9.0\n.target ${target}\n.address_size 64\n.visible .entry k()\n{\n${instruction}\nret;\n}\n`;
    const dump = text("sm_90", "wmma.no.such.thing;") + text("sm_80", "");
    const { ir } = new Device().load({ path: "dump", bytes: new TextEncoder().encode(dump) });
    expect(ir.source.path).toBe("dump:a.sm_80.ptx");
  });
});

test("of a library that is linked, only what is needed is loaded", () => {
  const ptx = (arch: string, name: string, body: string): string =>
    `\nFatbin ptx code:\n================\narch = ${arch}\nidentifier = ${name}\nptxasOptions = --compile-only \n\n.version 9.0\n.target ${arch}\n.address_size 64\n${body}\n`;
  const dump = [
    ptx("sm_80", "main.cu", ".extern .func f();\n.visible .entry k() { call f; ret; }"),
    ptx("sm_80", "f.cu", ".visible .func f() { ret; }"),
    // It would not load: it calls what nobody defines.
    ptx("sm_80", "useless.cu", ".extern .func nowhere();\n.visible .func g() { call nowhere; ret; }"),
  ].join("");
  const { ir } = new Device().load({ path: "dump", bytes: new TextEncoder().encode(dump) });
  expect(ir.functions.map(({ name }) => name).toSorted()).toEqual(["f", "k"]);
});

test("an archive of whole programs and linked ones", () => {
  const bytes = archiveOf([
    ["fill.fatbin/", fixture("fill.fatbin")],
    ["sum.fatbin/", fixture("sum-raw.fatbin")],
  ]);
  expect(new Device().load({ path: "x.a", bytes }, { kernels: ["sum"] }).kernels).toContain("_Z3sumPKfPfi");
});

test("PTX that was cut out of a binary may end in NULs, and have the line ends of Windows", () => {
  const text = ".version 9.0\r\n.target sm_80\r\n.address_size 64\r\n.visible .entry k() { ret; }\r\n\0\0\0";
  expect(new Device().load({ path: "k.ptx", bytes: new TextEncoder().encode(text) }).kernels).toEqual(["k"]);
});
