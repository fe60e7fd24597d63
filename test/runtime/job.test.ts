import { describe, expect, test } from "vitest";
import { sha256 } from "../../src/runtime/data/sha256.ts";
import { generate } from "../../src/runtime/job/init.ts";
import { parseJob } from "../../src/runtime/job/job.ts";
import { renderDiagnostic, SourceText } from "../../src/source/index.ts";
import { allJobFiles, present } from "./conformance-jobs.ts";

const parse = (text: string) => parseJob(new SourceText("job.json", text));
const messages = (text: string) => parse(text).diagnostics.map((d) => d.message);

const base = {
  id: "a",
  variants: { v: ["a.ptx"] },
  buffers: { x: { type: "f32", n: 4, init: { gen: "zero" } } },
  launches: [{ kernel: "k", grid: [1, 1, 1], block: [32, 1, 1], shared: 0, args: [{ buf: "x" }] }],
  checks: [{ buf: "x", type: "f32", n: 4, cmp: "exact", all: [0, 0, 0, 0] }],
};

const changed = (change: object) => JSON.stringify({ ...base, ...change });
const launch = (change: object) => changed({ launches: [{ ...base.launches[0], ...change }] });
const buffer = (change: object) => changed({ buffers: { x: { ...base.buffers.x, ...change } } });
const tensorMap = (change: object) =>
  launch({
    args: [
      {
        tensormap: {
          ...{ dataType: "f32", globalAddress: { buf: "x" }, globalDim: [4, 4], globalStrides: [16], boxDim: [4, 2] },
          ...change,
        },
      },
    ],
  });
const refused = (why: string) => `launches[0].args[0].tensormap: is no tensor map that the driver would encode: ${why}`;
const check = (change: object) => changed({ checks: [{ ...base.checks[0], ...change }] });

describe("an invalid job", () => {
  test("the valid job has no errors", () => expect(messages(JSON.stringify(base))).toEqual([]));
  test("a job with a valid tensor map has none", () => expect(messages(tensorMap({}))).toEqual([]));

  test.each([
    [changed({ launches: undefined }), "launches: is missing; expected a list"],
    [changed({ variants: [] }), "variants: expected an object, found a list"],
    [changed({ variants: { v: "a.ptx" } }), "variants.v: expected a list, found a string"],
    [changed({ isa: "sass" }), 'isa: there is no "sass"'],
    [changed({ chekcs: [] }), "chekcs: is not a known name"],
    [launch({ kernel: 3 }), "launches[0].kernel: expected a string, found a number"],
    [launch({ grid: 16 }), "launches[0].grid: expected a list, found a number"],
    [launch({ grid: [0] }), "launches[0].grid[0]: 0 is not from 1 to 2147483647"],
    [launch({ grid: [1, 70_000] }), "launches[0].grid[1]: 70000 is not from 1 to 65535"],
    [launch({ block: [1.5] }), "launches[0].block[0]: expected an integer, found a number"],
    [launch({ block: [64, 32] }), "launches[0].block: 2048 threads are more than the 1024 that a block may have"],
    [launch({ args: [{ buf: "y" }] }), 'launches[0].args[0].buf: there is no buffer "y"'],
    [launch({ args: [{ s23: 1 }] }), "launches[0].args[0]: is not an argument"],
    [launch({ args: [{ s8: 256 }] }), "launches[0].args[0].s8: 256 does not fit s8"],
    [launch({ args: [{ u32: 1.5 }] }), "launches[0].args[0].u32: expected an integer, found a number"],
    [launch({ args: [{ bytes: "0a0" }] }), "launches[0].args[0].bytes: expected pairs of hexadecimal digits"],
    [tensorMap({ boxDim: [3, 2] }), refused("boxDim[0] is 3, which are 12 bytes, not a multiple of 16")],
    [tensorMap({ globalStrides: [20] }), refused("globalStrides[0] is 20, not a multiple of 16 below 2^40")],
    [tensorMap({ globalAddress: { buf: "x", offset: 8 } }), refused("globalAddress is 0x8, not a multiple of 16")],
    [
      tensorMap({ swizzle: "32B", boxDim: [16, 2] }),
      refused("boxDim[0] is 16, which are 64 bytes: more than the 32 of the swizzle"),
    ],
    [tensorMap({ boxDim: undefined }), refused("exactly one of boxDim, im2col and im2colWide must be given")],
    [tensorMap({ swizzle: "256B" }), 'launches[0].args[0].tensormap.swizzle: there is no "256B"'],
    [tensorMap({ dataType: "f33" }), 'launches[0].args[0].tensormap.dataType: there is no "f33"'],
    [
      tensorMap({ globalAddress: { buf: "y" } }),
      'launches[0].args[0].tensormap.globalAddress.buf: there is no buffer "y"',
    ],
    [tensorMap({ rank: 3 }), "launches[0].args[0].tensormap.rank: is no rank of a tensor with 2 dimensions"],
    [buffer({ type: "f31" }), 'buffers.x.type: there is no "f31"'],
    [buffer({ n: -1 }), "buffers.x.n: -1 is not from 0 to 536870911"],
    [buffer({ init: { gen: "random" } }), 'buffers.x.init.gen: there is no "random"'],
    [buffer({ init: { gen: "list", values: [1] } }), "buffers.x.init.values: has 1 values, the buffer 4 elements"],
    [buffer({ init: { gen: "hex", data: "00" } }), "buffers.x.init.data: has 1 bytes, the buffer 16"],
    [buffer({ init: { gen: "lcg" } }), "buffers.x.init.seed: is missing; expected an integer"],
    [buffer({ sha256: "12" }), "buffers.x.sha256: a SHA-256 has 64 hexadecimal digits"],
    [check({ n: 5 }), "checks[0].n: 5 is not from 0 to 4"],
    [check({ all: [1] }), "checks[0].all: has 1 values, n is 4"],
    [check({ all: undefined }), "checks[0]: says nothing about what to expect"],
    [check({ cmp: "near" }), 'checks[0].cmp: there is no "near"'],
    [changed({ expect: { report: "data-race" } }), "expect.line: is missing; expected an integer"],
    ['{"id": 1,', "expected a name in quotes, found the end"],
    ['{"a": 1, "a": 2}', '"a" is given twice'],
    ["{} x", "expected the end of the text, found `x`"],
    ['["\n"]', "this string is not closed, or has a wrong escape"],
    ["[".repeat(100_000), "nested deeper than 200 levels"],
    ["", "expected a value, found the end"],
  ])("%s", (text, message) => expect(messages(text)).toContain(message));

  test("all errors are reported at once, each at its place", () => {
    const { job, diagnostics } = parse(
      '{"variants": {}, "launches": [{"kernel": "k", "grid": [0],\n "block": "32", "args": []}]}',
    );
    expect(job).toBeNull();
    expect(diagnostics.map((d) => renderDiagnostic(d)).join("\n")).toBe(
      `job.json:1:56: error: launches[0].grid[0]: 0 is not from 1 to 2147483647 [job-field]
    1 | {"variants": {}, "launches": [{"kernel": "k", "grid": [0],
      |                                                        ^
job.json:2:11: error: launches[0].block: expected a list, found a string [job-field]
    2 |  "block": "32", "args": []}]}
      |           ^^^^`,
    );
  });

  test.each([
    [{ platform: "SKL" }, []],
    [{ platform: "sky" }, ['platform: there is no platform "sky"']],
    [{ platform: 9 }, ["platform: expected a string, found a number"]],
    [{ simd: 33 }, ["simd: 33 is not from 1 to 32"]],
    [{ inputs: [{ name: "OUT", kind: "argument" }] }, ['inputs[0].kind: there is no "argument"']],
    [
      { variants: { v: { modules: ["k.visaasm"], symbols: { t: { section: ".data.const" } } } } },
      ['variants.v.symbols.t.section: there is no section ".data.const"'],
    ],
  ])("of vISA: %o", (change, found) => {
    const launches = [{ kernel: "k", global: [8], local: [8], args: [{ buf: "x" }] }];
    const variants = { v: { modules: ["k.visaasm"] } };
    expect(messages(changed({ isa: "visa", launches, variants, ...change }))).toEqual(found);
  });

  test("every prefix of a job is rejected without throwing", () => {
    const text = JSON.stringify(base);
    for (let end = 0; end < text.length; end++) expect(parse(text.slice(0, end)).job).toBeNull();
  });
});

test("integers are exact, and what Python writes for floats is read", () => {
  const text = check({ type: "u64", n: 2 }).replace("[0,0,0,0]", "[18446744073709551615, 9007199254740993]");
  expect(parse(text).job?.checks[0]?.expected).toEqual({
    kind: "values",
    values: [0xffff_ffff_ffff_ffffn, 9007199254740993n],
  });
  const floats = check({}).replace("[0,0,0,0]", '[NaN, -Infinity, "nan", 1e3]');
  expect(parse(floats).job?.checks[0]?.expected).toEqual({ kind: "values", values: [NaN, -Infinity, NaN, 1000] });
});

describe.skipIf(!present)("the conformance jobs", () => {
  test("all are read without errors", () => {
    const complaints = allJobFiles().flatMap((file) =>
      parseJob(file.source).diagnostics.map((d) => renderDiagnostic(d)),
    );
    expect(complaints).toEqual([]);
  });

  test("the generators fill buffers as the hashes say", () => {
    let hashes = 0;
    const wrong = allJobFiles().flatMap((file) => {
      const { job } = parseJob(file.source);
      return [...job!.buffers].flatMap(([name, { type, n, init, sha256: hash }]) => {
        if (hash === null || init.gen === "file") return [];
        hashes++;
        return sha256(generate(type, n, init).bytes) === hash
          ? []
          : [`${file.source.path} ${name} ${init.gen} ${type}`];
      });
    });
    expect(wrong).toEqual([]);
    expect(hashes).toBeGreaterThan(150);
  });
});
