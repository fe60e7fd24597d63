import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { zebinOf } from "../container/zebin-of.ts";
import { BuiltCli } from "./built-cli.ts";

let cli: BuiltCli;
const run = (...args: string[]) => cli.run(...args);
const json = (...args: string[]) => JSON.parse(run(...args, "--json").stdout);

/** out[i] = 3 * i, by a function that the kernel calls through its address. */
const kernel = `.version 3.6
.kernel "triple"
.decl OUT v_type=G type=uq num_elts=1 align=GRF
.decl ID v_type=G type=ud num_elts=16 align=GRF
.decl AT v_type=G type=uq num_elts=16 align=GRF
.decl ARG v_type=G type=ud num_elts=256 align=GRF alias=<%arg, 0>
.decl RET v_type=G type=ud num_elts=96 align=GRF alias=<%retval, 0>
.decl F v_type=G type=ud num_elts=8 align=GRF
.input OUT offset=32 size=8
.input ID offset=64 size=64
.kernel_attr SimdSize=16
.function "triple_0"

triple_0:
    mov (M1_NM, 16) AT(0,0)<1> ID(0,0)<1;1,0>
    shl (M1_NM, 16) AT(0,0)<1> AT(0,0)<1;1,0> 0x2:ud
    add (M1_NM, 16) AT(0,0)<1> AT(0,0)<1;1,0> OUT(0,0)<0;1,0>
    faddr times3 F(0,0)<1>
    mov (M1, 16) ARG(0,0)<1> ID(0,0)<1;1,0>
    ifcall (M1, 16) F(0,0)<0;1,0> 2 2
    svm_scatter.4.1 (M1, 16) AT.0 RET.0
    ret (M1, 1)
`;
const times3 = `.version 3.6
.global_function "times3"
.decl ARG v_type=G type=ud num_elts=256 align=GRF alias=<%arg, 0>
.decl RET v_type=G type=ud num_elts=96 align=GRF alias=<%retval, 0>
.kernel_attr SimdSize=16
.kernel_attr ArgSize=2
.kernel_attr RetValSize=2
.function "times3_0"

times3_0:
    mul (M1, 16) RET(0,0)<1> ARG(0,0)<1;1,0> 0x3:ud
    fret (M1, 16)
`;
/** The inputs of `triple` as the payload of a compiled kernel: the global ids are an argument here. */
const zeinfo = `---
version: '1.20'
kernels:
  - name: triple
    execution_env: { grf_count: 128, simd_size: 16 }
    payload_arguments:
      - { arg_type: arg_bypointer, offset: 0, size: 8, arg_index: 0, addrmode: stateless }
      - { arg_type: arg_byvalue, offset: 32, size: 64, arg_index: 1 }
`;
const threes = (n: number): number[] => Array.from({ length: n }, (_, i) => 3 * i);

const job = (change: object = {}) =>
  JSON.stringify({
    id: "triple",
    isa: "visa",
    variants: { "skl.simd16": { modules: ["triple.visaasm", "times3.visaasm"], simd: 16 } },
    inputs: [
      { name: "OUT", kind: "arg", type: "u64", buf: "out" },
      { name: "ID", kind: "lane-id", type: "u32", n: 16 },
    ],
    buffers: { out: { type: "u32", n: 32 } },
    launches: [{ kernel: "triple", global: [32], local: [16], args: [{ buf: "out" }] }],
    checks: [{ buf: "out", type: "u32", n: 32, all: threes(32) }],
    ...change,
  });

const files = ["triple.visaasm", "times3.visaasm"];
const launch = ["--kernel", "triple", "--global", "32", "--local", "16", "--arg", "u32[32]"];
const inputs = ["--input", "OUT=arg", "--input", "ID=lane-id"];

beforeAll(async () => {
  cli = await BuiltCli.build();
  cli.write("triple.visaasm", kernel);
  cli.write("times3.visaasm", times3);
  cli.write("both.isaasm", kernel + times3.replace(/^.*\n/, ""));
  cli.write("bad.visaasm", kernel.replace("svm_scatter.4.1", "svm_scater.4.1"));
  cli.write("alone.visaasm", kernel);
  cli.write("scale.ptx", ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n");
  cli.write("triple.yaml", zeinfo);
  cli.write("wrong.yaml", "kernels:\n  - name: triple\n    execution_env: { simd_size: 5 }\n");
  cli.write("broken.yaml", "kernels: [\n");
  cli.write("job.json", job());
  cli.write("wrong.json", job({ checks: [{ buf: "out", type: "u32", n: 32, all: Array(32).fill(0) }] }));
  const expect = { report: "global-out-of-bounds", file: "triple.visaasm", line: 21 };
  const small = { buffers: { out: { type: "u32", n: 31 } }, checks: [] };
  cli.write("fault.json", job(small));
  cli.write("expected.json", job({ ...small, expect }));
  cli.write("elsewhere.json", job({ ...small, expect: { ...expect, file: "times3.visaasm" } }));
});

afterAll(() => cli?.remove());

describe("check", () => {
  test("files, and files that are one program", () => {
    expect(run("check", ...files)).toMatchObject({ status: 0, stdout: "2 files checked, no errors\n" });
    expect(run("check", "--link", ...files).status).toBe(0);
    expect(run("check", "--link", "both.isaasm").status).toBe(0);
    expect(run("check", "alone.visaasm").status).toBe(0);
    expect(run("check", "--link", "alone.visaasm")).toMatchObject({ status: 1 });
    expect(run("check", "triple.visaasm", "scale.ptx").status).toBe(0);
  });

  test("errors show their line, and have a page", () => {
    const { status, stdout } = run("check", "bad.visaasm");
    expect({ status, stdout }).toMatchObject({ status: 1 });
    expect(stdout).toContain("bad.visaasm:21:5: error:");
    const [file] = json("check", "bad.visaasm").files;
    expect(file).toMatchObject({ path: "bad.visaasm", ok: false });
    expect(file.diagnostics[0].range.start).toEqual({ line: 21, column: 5 });
    expect(run("explain", file.diagnostics[0].code).status).toBe(0);
  });

  test("for a platform", () => {
    expect(run("check", "--target", "skl", ...files).status).toBe(0);
    expect(run("check", "--target", "sky", ...files).stderr).toContain(
      'there is no platform "sky"; did you mean "skl"?',
    );
    expect(run("check", "--target", "skl", "scale.ptx").stderr).toContain('there is no target "skl" of PTX');
    // Files of both instruction sets: the target is one of vISA, one of PTX, one of neither.
    expect(run("check", "--target", "skl", "triple.visaasm", "scale.ptx").status).toBe(0);
    expect(run("check", "--target", "sm_90", "triple.visaasm", "scale.ptx").status).toBe(0);
    expect(run("check", "--target", "sky", "triple.visaasm", "scale.ptx").status).toBe(2);
  });

  test("a CISA file is disassembled and checked", () => {
    expect(run("asm", ...files, "-o", "triple.isa").status).toBe(0);
    expect(run("check", "triple.isa")).toMatchObject({ status: 0, stdout: "1 file checked, no errors\n" });
    cli.write("cut.isa", "CISA");
    expect(run("check", "cut.isa")).toMatchObject({ status: 1 });
  });

  test("files of two instruction sets are not one program", () => {
    expect(run("check", "--link", "scale.ptx", "triple.visaasm")).toMatchObject({ status: 2 });
  });
});

describe("run", () => {
  test("a program's data, with the address of a function in it", () => {
    const through = kernel.replace(".decl F ", ".decl TABLE v_type=G type=uq num_elts=1 align=GRF\n.decl F ").replace(
      "faddr times3 F(0,0)<1>",
      `faddr table TABLE(0,0)<1>
    svm_gather.8.1 (M1_NM, 1) TABLE.0 TABLE.0
    mov (M1_NM, 1) F(0,0)<1> TABLE(0,0)<0;1,0>`,
    );
    cli.write("table.visaasm", through);
    cli.write("table.bin", "\0".repeat(16));
    const data = ["--section", ".data.const=table.bin", "--symbol", "table=.data.const+8"];
    const program = ["run", "table.visaasm", "times3.visaasm", ...launch, ...inputs, ...data];
    const { status, stdout } = run(...program, "--relocation", ".data.const+0x8=times3");
    expect({ status, stdout }).toEqual({ status: 0, stdout: `argument 0, u32[32]: ${threes(16).join(" ")} ...\n` });
    expect(run(...program, "--relocation", ".data.const+9=times3").stderr).toContain("the section has 16 bytes");
    expect(run(...program, "--relocation", "times3").stderr).toContain("expected SECTION+OFFSET=NAME");
    // A binary has the names and the addresses in itself.
    const sections = { ".visaasm": through, ".visaasm.times3": times3, ".text.triple": "", ".text.times3": "" };
    const addresses = [{ section: ".data.const", offset: 8, symbol: "times3", type: 1 }];
    const zebin = zebinOf({
      sections: { ...sections, ".data.const": new Uint8Array(16) },
      symbols: { table: [".data.const", 8], times3: [".text.times3", 0] },
      addresses,
    });
    cli.write("table.zebin", zebin);
    expect(run("run", "table.zebin", ...launch, ...inputs)).toMatchObject({ status: 0, stdout });
  });

  test("a zebin of two kernels, one of which has more declarations than 64 KiB", () => {
    const decls = Array.from({ length: 1500 }, (_, i) => `.decl D${i} v_type=G type=ud num_elts=16 align=GRF`);
    const large = kernel.replace(".input OUT", `${decls.join("\n")}\n.input OUT`);
    expect(large.indexOf("SimdSize")).toBeGreaterThan(0x1_0000);
    const small = kernel.replace("triple", "other");
    // Without SimdSize the text would not be known as that of the kernel with 16 lanes.
    const info = `${zeinfo}${zeinfo.slice(zeinfo.indexOf("  - name")).replace("triple", "other")}`;
    const sections = { ".text.triple": "", ".text.other": "", ".visaasm.triple": large, ".visaasm.other": small };
    const all = { ...sections, ".visaasm.times3": times3, ".ze_info": info };
    cli.write("large.zebin", zebinOf({ sections: all, symbols: {}, addresses: [] }));
    expect(json("list", "large.zebin").files[0].kernels.map((k: { name: string }) => k.name)).toEqual([
      "triple",
      "other",
    ]);
  });

  test.each([
    ["text, with its inputs", [...files, ...launch, ...inputs]],
    ["one text with all routines", ["both.isaasm", ...launch, ...inputs]],
    ["a CISA file", ["triple.isa", ...launch, ...inputs]],
  ])("%s", (_, args) => {
    const { status, stdout } = run("run", ...args);
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: `argument 0, u32[32]: ${threes(16).join(" ")} ...\n`,
    });
  });

  test("with .ze_info", () => {
    const ids = ["--arg", `u32v:${Array.from({ length: 16 }, (_, i) => i).join(",")}`];
    const sizes = ["--kernel", "triple", "--global", "16", "--local", "16"];
    const args = [...files, "--zeinfo", "triple.yaml", ...sizes, "--arg", "u32[16]", ...ids];
    expect(run("run", ...args).stdout).toBe(`argument 0, u32[16]: ${threes(16).join(" ")}\n`);
  });

  test.each([
    [[...launch], 'kernel "triple" has an input OUT, and nothing says what that holds'],
    [[...launch, "--zeinfo", "wrong.yaml"], ".ze_info: kernels[0].execution_env.simd_size: 5 lanes are not possible"],
    [[...launch, "--zeinfo", "broken.yaml"], "lanewise: broken.yaml: "],
    [[...launch, "--zeinfo", "none.yaml"], "lanewise: cannot read none.yaml: there is no such file"],
    [[...launch, "--input", "OUT=buffer"], "--input OUT=buffer: expected NAME=arg"],
    [[...launch, "--input", "OUT=arg", "--input", "NO=lane-id"], 'kernel "triple" has an input ID'],
    [["--kernel", "triple", "--global", "30", "--local", "16", ...inputs, "--arg", "u32[32]"], "is not a multiple of"],
    [["--kernel", "triple", ...inputs], 'kernel "triple" has 1 parameter, not 0: `OUT` (a pointer)'],
    [["--kernel", "tripel", ...inputs], 'there is no kernel "tripel"; did you mean "triple"?'],
  ])("%j is wrong usage", (args, message) => {
    const { status, stderr } = run("run", ...files, ...args);
    expect(stderr).toContain(message);
    expect(status).toBe(2);
  });
});

describe("jobs", () => {
  test("passed, failed, faulted, expected", () => {
    expect(run("run", "job.json")).toMatchObject({ status: 0 });
    expect(run("run", "wrong.json")).toMatchObject({ status: 1 });
    expect(run("run", "fault.json")).toMatchObject({ status: 3 });
    expect(run("run", "expected.json")).toMatchObject({ status: 0 });
    const { status, stdout } = run("run", "elsewhere.json");
    expect(stdout).toContain("expected global-out-of-bounds at times3.visaasm, line 21, but it reported");
    expect(status).toBe(1);
  });

  test("as JSON", () => {
    expect(json("run", "job.json")).toMatchObject({
      ok: true,
      jobs: [{ id: "triple", variant: "skl.simd16", ok: true, launches: [{ kernel: "triple", threads: 32 }] }],
    });
    const [{ reports }] = json("run", "fault.json").jobs;
    expect(reports[0]).toMatchObject({
      code: "global-out-of-bounds",
      path: "triple.visaasm",
      range: { start: { line: 21, column: 5 } },
      threads: [{ block: [1, 0, 0], thread: [15, 0, 0] }],
    });
  });
});

describe("fmt and isa", () => {
  test("canonical text is stable", () => {
    cli.write("loose.visaasm", kernel.replace("    faddr", " faddr"));
    expect(run("fmt", "--check", "loose.visaasm")).toMatchObject({ status: 1 });
    expect(run("fmt", "loose.visaasm").status).toBe(0);
    expect(run("fmt", "--check", "loose.visaasm")).toMatchObject({ status: 0 });
    expect(run("check", "--link", "loose.visaasm", "times3.visaasm").status).toBe(0);
  });

  test("an instruction by its mnemonic, its name, its opcode", () => {
    for (const word of ["ifcall", "IFCALL", "0x4f"]) {
      const { status, stdout } = run("isa", word);
      expect(status).toBe(0);
      expect(stdout).toContain("(P) ifcall{.hint} E address argSize returnSize");
      expect(stdout).toContain("executable: interpreter");
    }
    expect(run("isa", "add").stdout).toContain('vISA has "add" too: lanewise isa --isa visa add');
    expect(run("isa", "--isa", "visa", "add").stdout).toContain("(P) add{.sat} E dst src0 src1");
    expect(run("isa", "avs").stdout).toContain("not executable: ");
    expect(run("isa", "ifcal").stderr).toContain('there is no instruction "ifcal"; did you mean "ifcall"?');
    expect(json("isa", "ifcall").instructions[0]).toMatchObject({ isa: "visa", opcode: 0x4f, executable: true });
  });

  test("all of them", () => {
    const { stdout } = run("isa", "--isa", "visa");
    expect(stdout.split("\n").length).toBeGreaterThan(140);
    expect(stdout).toMatch(/yes +0x4f +ifcall +indirect call of a function/);
  });
});
