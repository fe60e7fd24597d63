import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { Device, parseJob, runJob, SourceText, UsageError } from "../../src/index.ts";

const text = readFileSync(new URL("../names/kernels.ptx", import.meta.url), "utf8");

test("kernels are found by their names in C++", () => {
  const module = new Device().load(text);
  const scale = module.kernel("scale<float>");
  expect([scale.name, scale.signature]).toEqual(["_Z5scaleIfEvPT_S0_i", "scale<float>(float*, float, int)"]);
  expect(module.kernel(" ns::reduce( int * )").name).toBe("_ZN2ns6reduceEPi");
  expect(() => module.kernel("scale")).toThrow(UsageError);
  expect(() => module.kernel("scale")).toThrow(
    '"scale" may be one of 3 kernels:\n  scale<float>(float*, float, int)\n',
  );
});

test("kernels that are told apart by what short names leave out are listed whole", () => {
  const name = (last: string): string => `_Z4longIN${"10namespaces".repeat(12)}1${last}EEvT_`;
  const kernel = (last: string): string => `.visible .entry ${name(last)}(.param .u64 p) { ret; }\n`;
  const module = new Device().load(`.version 8.0\n.target sm_80\n.address_size 64\n${kernel("A")}${kernel("B")}`);
  expect(() => module.kernel("long")).toThrow(/namespaces::A>\([\s\S]*namespaces::B>\(/);
});

test("numbers take the types of C++", () => {
  const device = new Device();
  const scale = device.load(text).kernel("scale<__half>");
  const x = device.buffer("f16", [1, 2, 3]);
  expect(scale.launch({ grid: 1, block: 1, args: [x, 2.5, 2] }).ok).toBe(true);
  expect([...x.read()]).toEqual([1, 2, 7.5]);
  expect(() => scale.launch({ grid: 1, block: 1, args: [x, 2.5, 2.5] })).toThrow(
    "2.5 is not an integer, which s32 holds",
  );
});

test("a job names kernels in the same way", () => {
  const job = parseJob(
    new SourceText(
      "job.json",
      JSON.stringify({
        id: "names",
        variants: { v: ["kernels.ptx"] },
        buffers: { p: { type: "s32", n: 1, init: { gen: "zero" } } },
        launches: [{ kernel: "ns::reduce", grid: [1], block: [1], args: [{ buf: "p" }] }],
        checks: [{ buf: "p", type: "s32", n: 1, all: [1] }],
      }),
    ),
  ).job;
  const result = runJob(job!, "v", { read: () => new TextEncoder().encode(text) });
  expect(result.failure).toBeNull();
  expect(result.launches[0]?.kernel).toBe("_ZN2ns6reduceEPi");
});

test.each([
  [{ grid: 1, blok: 1 }, 'a launch has no option "blok"; did you mean "block"?'],
  [{ gridDim: 1, block: 1 }, 'a launch has no option "gridDim"; did you mean "grid"?'],
  [{ grid: 1, block: 1, sanitise: "all" }, 'a launch has no option "sanitise"; did you mean "sanitize"?'],
  [{ grid: 1, block: 1, sanitize: "rase" }, 'there is no sanitizer "rase"; did you mean "race"?'],
  [{ grid: 1, block: 1, sanitize: ["race", "wibble"] }, 'there is no sanitizer "wibble"; there are call, init,'],
  [{ grid: 1, block: 1, wibble: undefined }, 'a launch has no option "wibble"; there are engine,'],
])("an option that there is not: %j", (options, message) => {
  const kernel = new Device().load(text).kernel("ns::shows");
  expect(() => kernel.launch(options as never)).toThrow(message);
});

test("a device refuses such options too", () => {
  expect(() => new Device({ hostThread: 2 } as never)).toThrow(
    'a device has no option "hostThread"; did you mean "hostThreads"?',
  );
  expect(() => new Device({ sanitize: "rase" as never })).toThrow('did you mean "race"?');
});

test("one sanitizer needs no list", () => {
  const race = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k() { .shared .u32 x; .reg .u32 %t; mov.u32 %t, %tid.x; st.shared.u32 [x], %t; ret; }`;
  const codes = (sanitize: "race" | "init"): string[] => {
    const result = new Device({ sanitize }).load(race).kernel("k").launch({ grid: 1, block: 64 });
    return result.reports.map(({ code }) => code);
  };
  expect(codes("race")).toContain("data-race");
  expect(codes("init")).toEqual([]);
});
