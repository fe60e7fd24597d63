import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readNumpy } from "../../src/runtime/data/npy.ts";
import { BuiltCli } from "./built-cli.ts";

let cli: BuiltCli;
const run = (...args: string[]) => cli.run(...args);

const header = ".version 8.0\n.target sm_80\n.address_size 64\n";

/** y[i] = x[i] * k */
const scale = `${header}
.visible .entry scale(.param .u32 k, .param .u64 x, .param .u64 y)
{
    .reg .b32 %i, %k, %v;
    .reg .b64 %x, %y, %o;
    ld.param.u32 %k, [k];
    ld.param.u64 %x, [x];
    ld.param.u64 %y, [y];
    mov.u32 %i, %tid.x;
    mul.wide.u32 %o, %i, 4;
    add.u64 %x, %x, %o;
    add.u64 %y, %y, %o;
    ld.global.u32 %v, [%x];
    mul.lo.u32 %v, %v, %k;
    st.global.u32 [%y], %v;
    ret;
}
`;

const job = (change: object = {}) =>
  JSON.stringify({
    id: "scale",
    variants: { plain: ["scale.ptx"] },
    buffers: {
      x: { type: "s32", n: 32, init: { gen: "iota" } },
      y: { type: "s32", n: 32, init: { gen: "zero" } },
    },
    launches: [{ kernel: "scale", grid: [1], block: [32], args: [{ s32: 3 }, { buf: "x" }, { buf: "y" }] }],
    checks: [{ buf: "y", type: "s32", n: 32, all: Array.from({ length: 32 }, (_, i) => 3 * i) }],
    ...change,
  });

beforeAll(async () => {
  cli = await BuiltCli.build();
  cli.write("scale.ptx", scale);
  cli.write("bad.ptx", scale.replace("mov.u32 %i", "mov.u32 %j"));
  cli.write("two.ptx", `${scale}.visible .entry other() { ret; }\n`);
  cli.write("job.json", job());
  cli.write("wrong.json", job({ checks: [{ buf: "y", type: "s32", n: 32, all: Array(32).fill(0) }] }));
  // Lane 31 reads past the end of x, in line 16 of the module.
  cli.write("fault.json", job({ buffers: { x: { type: "s32", n: 31 }, y: { type: "s32", n: 32 } }, checks: [] }));
  const report = { report: "global-out-of-bounds", line: 16 };
  const faulty = { buffers: { x: { type: "s32", n: 31 }, y: { type: "s32", n: 32 } }, checks: [] };
  cli.write("expected.json", job({ ...faulty, expect: report }));
  cli.write("elsewhere.json", job({ ...faulty, expect: { ...report, line: 17 } }));
  cli.write("malformed.json", '{"id": "a",\n "variants": {"v": 1}}');
});

afterAll(() => cli?.remove());

describe("usage", () => {
  test("help and version", () => {
    expect(run("--help")).toMatchObject({ status: 0, stderr: "" });
    expect(run("--help").stdout).toContain("check    parse and check PTX");
    expect(run("run", "--help").stdout).toContain("--arg VALUE");
    expect(run("help", "isa").stdout).toContain("lanewise isa OPCODE");
    expect(run("--version").stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  test.each([
    [[], "usage: lanewise COMMAND"],
    [["chek", "a.ptx"], 'lanewise: there is no command "chek"; did you mean "check"?'],
    [["check"], "lanewise: check: no file given"],
    [["check", "--jsn", "scale.ptx"], "lanewise: there is no option --jsn; --json exists"],
    [["check", "none.ptx"], "lanewise: cannot read none.ptx: there is no such file"],
    [["check", "."], "lanewise: . is a folder that has no vISA text (.visaasm), nor a binary of ocloc with some"],
    [["check", "a.visaasm"], "lanewise: cannot read a.visaasm: there is no such file"],
    [["check", "saxpy.cl"], "lanewise: saxpy.cl is OpenCL C; `ocloc compile -file FILE.cl"],
    [["run", "saxpy.yaml"], "saxpy.yaml is no program; if it is the .ze_info of a vISA kernel, name it with --zeinfo"],
    [["list", "kernel.ll"], "kernel.ll is LLVM IR; `llc -march=nvptx64"],
    [["check", "kernel.ll", "--isa", "ptx"], "lanewise: cannot read kernel.ll: there is no such file"],
    [["link", "a.visaasm"], "a.visaasm: only PTX modules are linked"],
    [["fmt", "a.isa"], "a.isa is binary; `lanewise disasm` gives its text"],
    [["run", "a.visaasm", "--kernel", "k", "--grid", "1"], "run: --grid is for PTX; a launch of vISA has --global and"],
    [["run", "a.ptx", "--kernel", "k", "--global", "1"], "run: --global is for vISA; a launch of PTX has --grid and"],
    [["explain", "no-such-code"], 'there is no code "no-such-code"'],
    [["isa", "adc"], 'there is no instruction "adc"'],
    [["bench"], "bench: the benchmarks are in the repository, not in the package"],
    [["bench", "saxpi"], 'there is no benchmark "saxpi"; did you mean "saxpy"?'],
    [["run"], "lanewise: run: no job or program given"],
    [["run", "job.json", "scale.ptx"], "give either jobs (.json) or the files of one program"],
    [["run", "scale.ptx"], 'kernel "scale" has 3 parameters, not 0: `k` (.u32), `x` (.u64), `y` (.u64)'],
    [["run", "two.ptx"], "which kernel? There are 2:\n  scale\n  other"],
    [["run", "scale.ptx", "--kernel", "x"], 'there is no kernel "x". The only one is scale'],
    [["run", "scale.ptx", "--kernel", "scale", "--arg", "1"], 'kernel "scale" has 3 parameters, not 1'],
    [
      ["run", "scale.ptx", "--arg", "one"],
      "--arg one: expected a number (42, 0xff, 1.5, f32:1e-3), a buffer (f32[1024],",
    ],
    [["run", "job.json", "--sanitize", "all,heap"], 'there is no sanitizer "heap"'],
    [["run", "job.json", "--variant", "v"], 'job.json has no variant "v"; it has plain'],
    [["run", "none.json"], "cannot read none.json"],
    [["run", "malformed.json"], "malformed.json:2:20: error: variants.v: expected a list, found a number"],
  ])("%j", (args, message) => {
    const { status, stdout, stderr } = run(...args);
    expect(stderr).toContain(message);
    expect(stdout).toBe("");
    expect(status).toBe(2);
  });

  test("a reader that stops early is not an error", () => {
    const main = join(cli.folder, "dist/cli/main.js");
    const { status, stderr } = spawnSync(
      "bash",
      ["-c", `set -o pipefail; "${process.execPath}" "${main}" isa --json | head -c 10`],
      {
        encoding: "utf8",
      },
    );
    expect(stderr).toBe("");
    expect(status).toBe(0);
  });
});

describe("check", () => {
  test("sound", () => {
    expect(run("check", "scale.ptx")).toEqual(
      expect.objectContaining({ status: 0, stdout: "1 file checked, no errors\n", stderr: "" }),
    );
  });

  test("with an error: its place and line, and a summary", () => {
    const { status, stdout } = run("check", "scale.ptx", "bad.ptx");
    expect(status).toBe(1);
    expect(stdout).toMatch(/^bad\.ptx:12:13: error: .*%j.*\n {3}12 \| {5}mov\.u32 %j, %tid\.x;\n {6}\| {13}\^\^\n/);
    expect(stdout.endsWith("2 files checked, 1 error\n")).toBe(true);
  });

  test("as JSON", () => {
    const { status, stdout } = run("check", "--json", "scale.ptx", "bad.ptx");
    expect(status).toBe(1);
    const { files } = JSON.parse(stdout);
    expect(files[0]).toEqual({ path: "scale.ptx", ok: true, diagnostics: [] });
    expect(files[1]).toMatchObject({ path: "bad.ptx", ok: false });
    expect(files[1].diagnostics).toHaveLength(1);
    expect(files[1].diagnostics[0]).toMatchObject({
      severity: "error",
      range: { start: { line: 12, column: 13 }, end: { line: 12, column: 15 } },
    });
  });

  test("colours only where they are wanted", () => {
    expect(run("check", "bad.ptx").stdout).not.toContain("\x1b[");
    expect(run("check", "--color", "always", "bad.ptx").stdout).toContain("\x1b[1;31merror:");
    expect(run("check", "--color", "never", "bad.ptx").stdout).not.toContain("\x1b[");
    expect(run("check", "--color", "maybe", "bad.ptx").status).toBe(2);
  });

  test("arbitrary bytes are checked without throwing", () => {
    cli.write(
      "noise.ptx",
      Uint8Array.from({ length: 5000 }, (_, i) => (i * i * 31 + (i >> 3)) & 0xff),
    );
    expect(run("check", "noise.ptx").status).toBe(1);
    cli.write("empty.ptx", "");
    expect(run("check", "empty.ptx").status).toBe(1);
  });
});

describe("run with jobs", () => {
  test.each([
    ["job.json", 0, /^ok {4}scale plain/],
    ["wrong.json", 1, /^FAIL {2}scale plain: 31 of 32 elements of "y" differ, first at 1: got 3, want 0/],
    ["fault.json", 3, /^FAIL {2}scale plain: global-out-of-bounds at line 16/],
    ["expected.json", 0, /^ok {4}scale plain/],
    ["elsewhere.json", 1, /^FAIL {2}scale plain: expected global-out-of-bounds at line 17, but it reported/],
  ])("%s", (file, status, stdout) => {
    const outcome = run("run", file);
    expect(outcome.stderr).toBe("");
    expect(outcome.stdout).toMatch(stdout);
    expect(outcome.status).toBe(status);
  });

  test("a fault is shown at its instruction", () => {
    const { stdout } = run("run", "fault.json");
    expect(stdout).toContain("   16 |     ld.global.u32 %v, [%x];");
    expect(stdout).toContain("kernel `scale`, thread 31 of block (0,0,0)");
    expect(stdout).toContain('buffer "x" (124 bytes)');
  });

  test("as JSON", () => {
    const { status, stdout } = run("run", "--json", "job.json", "wrong.json", "fault.json");
    expect(status).toBe(3);
    const { ok, jobs } = JSON.parse(stdout);
    expect(ok).toBe(false);
    expect(jobs[0]).toMatchObject({
      id: "scale",
      variant: "plain",
      engine: "jit",
      ok: true,
      launches: [{ kernel: "scale", threads: 32 }],
      checks: [{ buf: "y", ok: true, mismatches: 0 }],
      stdout: "",
      reports: [],
    });
    // Compiled code does not count.
    expect(jobs[0].launches[0].steps).toBeNull();
    expect(jobs[1].checks).toEqual([{ buf: "y", ok: false, mismatches: 31, first: { index: 1, got: 3, want: 0 } }]);
    expect(jobs[2].reports[0]).toMatchObject({
      code: "global-out-of-bounds",
      severity: "error",
      kernel: "scale",
      path: "scale.ptx",
      range: { start: { line: 16, column: 5 } },
      threads: [{ block: [0, 0, 0], thread: [31, 0, 0] }],
      count: 1,
    });
  });

  test("the engine that ran a job is reported: a seed needs the interpreter", () => {
    const engineOf = (...more: string[]): string =>
      JSON.parse(run("run", "--json", "--engine", "jit", ...more, "job.json").stdout).jobs[0].engine;
    expect(engineOf()).toBe("jit");
    expect(engineOf("--sanitize", "all")).toBe("jit");
    expect(engineOf("--seed", "1")).toBe("interpreter");
  });
});

describe("run with arguments", () => {
  const launch = ["run", "scale.ptx", "--kernel", "scale", "--block", "32"];
  const args = ["--arg", "5", "--arg", "s32[32]=iota", "--arg", "s32[32]"];

  test("shows the buffers that changed; the only kernel needs no name", () => {
    const { status, stdout } = run("run", "scale.ptx", "--block", "32", ...args);
    expect(stdout).toBe("argument 2, s32[32]: 0 5 10 15 20 25 30 35 40 45 50 55 60 65 70 75 ...\n");
    expect(status).toBe(0);
  });

  test("saves them", () => {
    const { status, stdout } = run(...launch, ...args, "--out", "2=y.npy", "--out", "2=y.json", "--out", "2=y.bin");
    expect(stdout).toBe("");
    expect(status).toBe(0);
    const want = Int32Array.from({ length: 32 }, (_, i) => 5 * i);
    const array = readNumpy(readFileSync(join(cli.work, "y.npy")));
    expect(array).toMatchObject({ type: "s32", shape: [32] });
    expect(new Uint8Array(want.buffer)).toEqual(array.bytes);
    expect(new Uint8Array(readFileSync(join(cli.work, "y.bin")))).toEqual(array.bytes);
    expect(JSON.parse(readFileSync(join(cli.work, "y.json"), "utf8"))).toEqual([...want]);

    const again = run(...launch, "--arg", "2", "--arg", "@y.npy", "--arg", "s32@y.bin");
    expect(again.stdout).toBe("argument 2, s32[32]: 0 10 20 30 40 50 60 70 80 90 100 110 120 130 140 150 ...\n");
  });

  test("an --out that cannot be satisfied is rejected before the launch", () => {
    const { status, stderr } = run(...launch, ...args, "--out", "0=y.npy");
    expect(stderr).toContain("argument 0 is not a buffer (they count from 0; 1, 2 are)");
    expect(status).toBe(2);
    expect(run(...launch, ...args, "--out", "2=y.txt").stderr).toContain("must end in .npy, .png, .bin or .json");
  });

  test("a fault", () => {
    const { status, stdout } = run(...launch, "--arg", "1", "--arg", "s32[31]", "--arg", "s32[32]");
    expect(status).toBe(3);
    expect(stdout).toContain("[global-out-of-bounds]");
  });

  test("a limit", () => {
    cli.write("spin.ptx", `${header}.visible .entry spin()\n{\nL: bra L;\n}\n`);
    const { status, stdout } = run("run", "spin.ptx", "--kernel", "spin", "--max-steps", "1000");
    expect(stdout).toContain("[no-progress]");
    expect(status).toBe(3);
  });

  test("a program with errors", () => {
    const { status, stdout } = run("run", "bad.ptx", "--kernel", "scale", ...args);
    expect(stdout).toContain("bad.ptx:12:13: error:");
    expect(status).toBe(1);
  });
});

describe("several modules", () => {
  const signature = ".func (.param .b32 r) twice(.param .b32 x)";

  beforeAll(() => {
    cli.write(
      "lib.ptx",
      `${header}.visible ${signature}\n{\n.reg .b32 %a;\nld.param.b32 %a, [x];\nadd.u32 %a, %a, %a;\nst.param.b32 [r], %a;\nret;\n}\n`,
    );
    cli.write(
      "main.ptx",
      `${header}.extern ${signature};
.visible .entry k(.param .u64 out)
{
    .reg .b64 %o;
    .reg .b32 %a;
    .param .b32 p, q;
    ld.param.u64 %o, [out];
    st.param.b32 [p], 21;
    call.uni (q), twice, (p);
    ld.param.b32 %a, [q];
    st.global.u32 [%o], %a;
    ret;
}
`,
    );
  });
  const launch = ["--kernel", "k", "--arg", "u32[1]"];

  test("are run as one program", () => {
    expect(run("run", "main.ptx", "lib.ptx", ...launch)).toMatchObject({
      status: 0,
      stdout: "argument 0, u32[1]: 42\n",
    });
  });

  test("are linked into one text that runs alone", () => {
    expect(run("link", "main.ptx", "lib.ptx", "-o", "linked.ptx")).toMatchObject({ status: 0, stdout: "", stderr: "" });
    expect(run("check", "linked.ptx").status).toBe(0);
    expect(run("run", "linked.ptx", ...launch).stdout).toBe("argument 0, u32[1]: 42\n");
  });

  test("are checked as one program", () => {
    expect(run("check", "--link", "main.ptx", "lib.ptx").status).toBe(0);
    const { status, stdout } = run("check", "--link", "main.ptx");
    expect(status).toBe(1);
    expect(stdout).toContain("[unresolved-symbol]");
    expect(run("link", "lib.ptx", "lib.ptx").stderr).toContain("[duplicate-symbol]");
  });
});

describe("--target", () => {
  test("checks for another target than the module's own", () => {
    cli.write("redux.ptx", `${header}.visible .entry k()\n{\n.reg .b32 %a;\nredux.sync.add.s32 %a, %a, -1;\nret;\n}\n`);
    expect(run("check", "redux.ptx").status).toBe(0);
    expect(run("check", "--target", "sm_75", "redux.ptx").stdout).toMatch(/sm_80/);
    expect(run("check", "--target", "sm_75", "redux.ptx").status).toBe(1);
    expect(run("check", "--target", "gfx90a", "redux.ptx").status).toBe(2);
  });
});

describe("fmt, explain, isa", () => {
  test("fmt writes canonical text once", () => {
    cli.write("messy.ptx", scale.replace("    ret;", "ret ;"));
    expect(run("fmt", "--check", "messy.ptx")).toMatchObject({
      status: 1,
      stdout: "messy.ptx is not in canonical form\n",
    });
    expect(run("fmt", "messy.ptx")).toMatchObject({ status: 0, stdout: "messy.ptx rewritten\n" });
    expect(run("fmt", "messy.ptx")).toMatchObject({ status: 0, stdout: "" });
    expect(run("fmt", "--check", "messy.ptx").status).toBe(0);
    expect(run("check", "messy.ptx").status).toBe(0);
  });

  test("explain", () => {
    expect(run("explain", "job-field").stdout).toContain("a field of a job is missing or has the wrong shape");
    const { codes } = JSON.parse(run("explain", "--json").stdout);
    for (const { title } of codes) expect(title).toMatch(/^[^A-Z].*[^.]$/);
  });

  test("isa", () => {
    const { stdout } = run("isa", "add");
    expect(stdout).toContain("add.type d, a, b");
    expect(stdout).toContain("d = a + b");
    expect(stdout).toContain("add{.rnd}{.ftz}{.sat}.f32 d, a, b");
    expect(run("isa", "add.u32")).toMatchObject({ status: 0, stderr: "" });
    expect(run("isa", "add.u32").stdout).not.toContain(".f32");
    expect(run("isa", "add.sat").stderr).toBe(
      'lanewise: "add.sat" is not a whole opcode; these begin in the same way:\n',
    );
    expect(run("isa", "cp.reduce.async")).toMatchObject({ status: 0 });
    const { instructions } = JSON.parse(run("isa", "--json").stdout);
    expect(instructions.length).toBeGreaterThan(60);
    expect(instructions.find((i: { name: string }) => i.name === "add").forms[0].executable).toBe(true);
    expect(run("isa", "bar").stdout.match(/executable: .*/g)).toEqual(Array(5).fill("executable: interpreter, jit"));
    expect(run("isa", "--isa", "visa", "ifcall").stdout).toContain("executable: interpreter, jit");
  });
});
