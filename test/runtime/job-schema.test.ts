import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { jobSchema, parseJob } from "../../src/index.ts";
import { SourceText } from "../../src/source/index.ts";

/*
 * The schema and the parser accept and reject the same jobs, but for what a schema cannot say: that names exist in
 * other places, and that lengths agree.
 */
const validate = new Ajv({ allErrors: true, strictTuples: false, strictTypes: false }).compile(jobSchema);
const parses = (text: string): boolean => parseJob(new SourceText("job.json", text)).job !== null;

/** All files of a folder that may be jobs, with their texts. */
function jsonFiles(folder: string): [path: string, text: string][] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return jsonFiles(path);
    return name.endsWith(".json") ? [[path, readFileSync(path, "utf8")] as [string, string]] : [];
  });
}

const isJob = (text: string): boolean => {
  try {
    return "launches" in (JSON.parse(text) as object);
  } catch {
    return false;
  }
};

const folder = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

describe.each([
  { name: "own jobs", folders: [folder("../../examples"), folder("../jobs"), folder("../debugger")] },
  ...["conformance", "visa", "triton"].map((name) => ({ name, folders: [folder(`../../../shared/${name}`)] })),
])("$name", ({ name, folders }) => {
  const jobs = folders.flatMap(jsonFiles).filter(([, text]) => isJob(text));
  if (jobs.length === 0) console.warn(`skipped: there are no jobs of ${name}`);
  test.skipIf(jobs.length === 0)("what parses is valid, and the other way round", () => {
    const differing = jobs.filter(([, text]) => validate(JSON.parse(text)) !== parses(text)).map(([path]) => path);
    expect(differing).toEqual([]);
    expect(jobs.filter(([, text]) => parses(text)).length).toBeGreaterThan(0);
  });
});

const tensormap = {
  dataType: "f16",
  rank: 2,
  globalAddress: { buf: "x", offset: 0 },
  globalDim: [8, 4],
  globalStrides: [16],
  boxDim: [8, 2],
  elementStrides: [1, 1],
  interleave: "none",
  swizzle: "none",
  l2Promotion: "128B",
  oobFill: "nan",
};
const im2col = {
  dataType: "u32",
  globalAddress: { buf: "x" },
  globalDim: [4, 3, 2],
  globalStrides: [16, 48],
  im2col: { pixelBoxLowerCorner: [-1], pixelBoxUpperCorner: [0], channelsPerPixel: 4, pixelsPerColumn: 8 },
};
const bytes = "00".repeat(136);
const sampler = {
  addressMode: ["wrap", "clamp"],
  filterMode: "linear",
  normalizedCoords: true,
  borderColor: [0, 1],
  maxAnisotropy: 4,
  mipmapLevelBias: -0.5,
  compare: "ge",
};

const ptx = {
  $schema: "./job.schema.json",
  id: "a",
  note: { anything: 1 },
  variants: { v: ["a.ptx"] },
  buffers: {
    x: { type: "f32", n: 4, init: { gen: "list", values: [1, "nan", "-inf", 2.5] } },
    y: { type: "u8", n: 2, init: { gen: "hex", data: "00fF" }, sha256: "0".repeat(64) },
    z: { type: "s64", n: 4, init: { gen: "lcg", seed: 4, mod: 7, add: -3 } },
    w: { type: "u16", n: 4, init: null },
    v: { type: "s8", n: 4, init: { gen: "fill", value: -128 } },
    u: { type: "bf16", n: 4, init: { gen: "iota", start: 0.5 } },
    t: { type: "f64", n: 4, init: { gen: "file", path: "t.npy" } },
  },
  symbols: {
    c: { type: "f32", n: 4, init: { gen: "zero" } },
    d: { type: "u32", n: 1 },
    s: { sampler: { addressMode: "wrap" } },
  },
  launches: [
    {
      kernel: "k",
      grid: [1, 2],
      block: [32],
      shared: 16,
      args: [
        { buf: "x", offset: -4 },
        { u32: 1 },
        { f32: "inf" },
        { bytes: "0a", ptrs: [] },
        { f32v: [1, 2] },
        { tensormap },
        { bytes, tensormaps: [{ at: 8, tensormap: im2col }] },
        { sampler },
      ],
      blocks: [0, [0, 1]],
      copies: [{ from: { buf: "x", offset: 4 }, to: { symbol: "c" }, bytes: 4 }],
    },
  ],
  checks: [
    { buf: "x", cmp: "tol", rtol: 0.5, all: [1, 2, 3, 4] },
    { symbol: "d", type: "u32", all: [1] },
    { buf: "y", sha256: "0".repeat(64), first: [1] },
    { buf: "z", file: "z.npy", nan: "any", zero: "same", period: 8, ranges: [[0, 4]], skip: [1], oneof: { 0: [1] } },
  ],
  stdout: null,
  expect: { report: "data-race", line: 3, threads: 4 },
};

const visa = {
  isa: "visa",
  platform: "skl",
  simd: 8,
  variants: {
    "skl.simd8": {
      ...{ modules: ["a.visaasm"], zeinfo: "a.yaml", simd: 16, defines: {} },
      data: { ".data.const": { file: "c.bin", size: 4 } },
      symbols: { c: { section: ".data.const", offset: 4 } },
      relocations: [{ section: ".data.const", offset: 0, symbol: "f", bytes: 8 }],
    },
  },
  inputs: [
    { name: "O", kind: "arg", type: "u64" },
    { name: "S", kind: "stack", bytes_per_thread: 64 },
  ],
  buffers: { x: { type: "f32", n: 4 } },
  launches: [{ kernel: "k", global: [8], local: [8, 1, 1], args: [{ buf: "x" }, { local: 64 }] }],
  checks: [{ buf: "x", all: [0, 0, 0, 0], simd: 8 }],
};

const bases: Readonly<Record<string, object>> = { ptx, visa };

test.each(Object.entries(bases))("the %s job with every field is valid for both", (_, job) => {
  expect(parseJob(new SourceText("job.json", JSON.stringify(job))).diagnostics.map((d) => d.message)).toEqual([]);
  expect([validate(job), validate.errors]).toEqual([true, null]);
});

/** A copy of a job in which the value at a path is another one (undefined: is missing). */
function withChange(job: object, path: readonly (string | number)[], value: unknown): object {
  const copy = structuredClone(job);
  let at = copy as Record<string | number, unknown>;
  for (const step of path.slice(0, -1)) at = at[step] as Record<string | number, unknown>;
  if (value === undefined) delete at[path.at(-1)!];
  else at[path.at(-1)!] = value;
  return copy;
}

function* pathsOf(value: unknown, path: readonly (string | number)[] = []): Generator<readonly (string | number)[]> {
  if (path.length > 0) yield path;
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value))
    yield* pathsOf(inner, [...path, Array.isArray(value) ? Number(key) : key]);
}

/** Values of all kinds, one of which is wrong wherever anything can be. */
const values: readonly unknown[] = [
  undefined,
  null,
  true,
  "",
  "zz",
  "u32",
  -1,
  1.5,
  1e15,
  [],
  [-1],
  ["q", "q", "q", "q"],
  {},
];

/** What a schema cannot say: the message of the parser when only that is wrong. */
const beyond = [
  /there is no (buffer|symbol|section) /,
  /has \d+ (values|bytes), (the buffer|n is)/,
  /are more than the 1024/,
  / is not from 0 to /,
  /is no index of an element/,
  /there is no platform/,
  /only a plain "exact" comparison/,
  / does not fit /,
  / is no /,
  / is not from \d+ to \d+$/,
  // Without a type of its own, that of the buffer counts.
  /^checks\[\d\]\.(first|all|oneof)[.[].*: expected an integer, found a (number|string)$/,
];

test.each(Object.entries(bases))("both reject the same changes of the %s job", (_, job) => {
  const differing: string[] = [];
  let rejected = 0;
  for (const path of pathsOf(job)) {
    for (const value of values) {
      const changed = withChange(job, path, value);
      const { diagnostics } = parseJob(new SourceText("job.json", JSON.stringify(changed)));
      const isValid = validate(changed);
      if (!isValid) rejected++;
      if (isValid === (diagnostics.length === 0)) continue;
      const messages = diagnostics.map((d) => d.message);
      if (isValid && messages.every((message) => beyond.some((pattern) => pattern.test(message)))) continue;
      differing.push(
        `${path.join(".")} = ${JSON.stringify(value)}: ${isValid ? messages.join("; ") : "schema: " + JSON.stringify(validate.errors?.slice(0, 2).map((e) => e.instancePath + " " + e.message))}`,
      );
    }
  }
  expect(differing).toEqual([]);
  expect(rejected).toBeGreaterThan(300);
});

test("names that are one letter away from a known one are wrong for both", () => {
  for (const name of ["chekcs", "check", "cheks", "buffer", "launchs", "symbol", "stdot", "expct", "varaints", "idd"]) {
    const changed = { ...ptx, [name]: [] };
    expect({ name, valid: validate(changed), parses: parses(JSON.stringify(changed)) }).toEqual({
      name,
      valid: false,
      parses: false,
    });
  }
  for (const name of ["author", "x-mine", "created"]) {
    const changed = { ...ptx, [name]: [] };
    expect({ name, valid: validate(changed), parses: parses(JSON.stringify(changed)) }).toEqual({
      name,
      valid: true,
      parses: true,
    });
  }
});
