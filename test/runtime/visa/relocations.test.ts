import { expect, test } from "vitest";
import { Device } from "../../../src/index.ts";
import type { LoadOptions } from "../../../src/runtime/device/load-options.ts";
import { parseJob } from "../../../src/runtime/job/job.ts";
import { runJob } from "../../../src/runtime/job/run-job.ts";
import { SourceText } from "../../../src/source/index.ts";

const head = (kind: string, name: string) => `.version 3.6
.${kind} "${name}"
.decl ARG v_type=G type=ud num_elts=256 align=GRF alias=<%arg, 0>
.decl RET v_type=G type=ud num_elts=96 align=GRF alias=<%retval, 0>
.decl OUT v_type=G type=uq num_elts=1 align=GRF
.decl PLACE v_type=G type=uq num_elts=1 align=GRF
.decl ENTRY v_type=G type=uq num_elts=1 align=GRF
.decl ID v_type=G type=ud num_elts=8 align=GRF
.decl P1 v_type=P num_elts=8
`;

const adder = (name: string, n: number) => ({
  path: `${name}.visaasm`,
  text: `${head("global_function", name)}.kernel_attr SimdSize=8
.kernel_attr Target="3d"
.kernel_attr Extern
.kernel_attr ArgSize=1
.kernel_attr RetValSize=1
.function "${name}_main"
${name}_main:
    add (M1, 8) RET(0,0)<1> ARG(0,0)<1;1,0> ${n}:ud
    fret (M1, 8)
`,
});

/** Calls the functions of the table that `table` points to, one after the other, until an entry is null. */
const kernel = {
  path: "k.visaasm",
  text: `${head("kernel", "k")}.input OUT offset=32 size=8
.input ID offset=64 size=32
.kernel_attr SimdSize=8
.kernel_attr Target="3d"
.function "k_main"
k_main:
    faddr table PLACE(0,0)<1>
    mov (M1, 8) ARG(0,0)<1> ID(0,0)<1;1,0>
    svm_gather.8.1 (M1_NM, 1) PLACE.0 PLACE.0
again:
    svm_gather.8.1 (M1_NM, 1) PLACE.0 ENTRY.0
    cmp.eq (M1_NM, 1) P1 ENTRY(0,0)<0;1,0> 0:uq
    (P1) goto (M1, 1) end
    ifcall (M1, 8) ENTRY(0,0)<0;1,0> 1 1
    mov (M1, 8) ARG(0,0)<1> RET(0,0)<1;1,0>
    add (M1_NM, 1) PLACE(0,0)<1> PLACE(0,0)<0;1,0> 8:ud
    goto (M1, 1) again
end:
    mov (M1, 8) ID(0,0)<1> ARG(0,0)<1;1,0>
    svm_block_st (2) OUT(0,0)<0;1,0> ID.0
    ret (M1, 1)
`,
};

const files = [kernel, adder("plus1", 1), adder("plus10", 10)];
const inputs = [
  { name: "OUT", kind: "arg", type: "u64" },
  { name: "ID", kind: "lane-id", type: "u32" },
] as const;

/** As in `constant struct { const F *at; F entries[3]; } table = { table.entries, { plus10, plus1, 0 } };`. */
const options = {
  isa: "visa",
  inputs,
  sections: new Map([[".data.const", new Uint8Array(32)]]),
  symbols: new Map([
    ["table", { section: ".data.const", offset: 0 }],
    ["first", { section: ".data.const", offset: 8 }],
  ]),
  relocations: [
    { section: ".data.const", offset: 0, symbol: "first", bytes: 8 },
    { section: ".data.const", offset: 8, symbol: "plus10", bytes: 8 },
    { section: ".data.const", offset: 16, symbol: "plus1", bytes: 8 },
  ],
} as const satisfies LoadOptions;

test("a table of functions in a program's data", () => {
  const device = new Device();
  const out = device.buffer("u32", 8);
  const result = device
    .load(files, options)
    .kernel("k")
    .launch({ global: 8, local: 8, args: [out], sanitize: "all" });
  expect(result.reports).toEqual([]);
  expect([...out.read()]).toEqual([11, 12, 13, 14, 15, 16, 17, 18]);
});

test("the same as a job", () => {
  const texts = new Map(files.map(({ path, text }) => [path, new TextEncoder().encode(text)]));
  const job = {
    id: "table",
    isa: "visa",
    simd: 8,
    variants: {
      "skl.simd8": {
        modules: [...texts.keys()],
        data: { ".data.const": { file: "data", size: 32 } },
        symbols: Object.fromEntries(options.symbols),
        relocations: options.relocations,
      },
    },
    inputs,
    buffers: { out: { type: "u32", n: 8, init: { gen: "zero" } } },
    launches: [{ kernel: "k", global: [8, 1, 1], local: [8, 1, 1], args: [{ buf: "out" }] }],
    checks: [{ buf: "out", cmp: "exact", all: [11, 12, 13, 14, 15, 16, 17, 18] }],
  };
  const parsed = parseJob(new SourceText("job.json", JSON.stringify(job)));
  expect(parsed.diagnostics).toEqual([]);
  const read = (path: string): Uint8Array => texts.get(path) ?? new Uint8Array(32);
  expect(runJob(parsed.job!, "skl.simd8", { read }, {}).failure).toBe(null);
});

test("the lower half of an address alone", () => {
  const relocations = options.relocations.map((r) => (r.symbol === "first" ? r : { ...r, bytes: 4 as const }));
  const device = new Device();
  const out = device.buffer("u32", 8);
  device
    .load(files, { ...options, relocations })
    .kernel("k")
    .launch({ global: 8, local: 8, args: [out] });
  // Addresses of functions have no more than 32 bits.
  expect([...out.read()]).toEqual([11, 12, 13, 14, 15, 16, 17, 18]);
});

test("the value in the section is added to the address", () => {
  // `&table + 8` as IGC writes it: the symbol is that of the whole table.
  const bytes = new Uint8Array(32);
  bytes[0] = 8;
  const [, ...entries] = options.relocations;
  const relocations = [{ ...options.relocations[0], symbol: "table" }, ...entries];
  const device = new Device();
  const out = device.buffer("u32", 8);
  const module = device.load(files, { ...options, sections: new Map([[".data.const", bytes]]), relocations });
  module.kernel("k").launch({ global: 8, local: 8, args: [out] });
  expect([...out.read()]).toEqual([11, 12, 13, 14, 15, 16, 17, 18]);
});

test.each([
  [{ section: ".data.const", offset: 25, symbol: "plus1", bytes: 8 }, "the section has 32 bytes"],
  [{ section: ".data.const", offset: -1, symbol: "plus1", bytes: 8 }, "the section has 32 bytes"],
  [{ section: ".data.global", offset: 0, symbol: "plus1", bytes: 8 }, "the section has 0 bytes"],
  [{ section: ".data.const", offset: 0, symbol: "plus2", bytes: 8 }, "there is no plus2"],
] as const)("a relocation that cannot be: %o", (relocation, message) => {
  expect(() => new Device().load(files, { ...options, relocations: [relocation] })).toThrow(message);
});
