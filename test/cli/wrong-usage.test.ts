import { spawnSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BuiltCli } from "./built-cli.ts";

/* What a newcomer mistypes, and what hostile files hold. With `--json` each has one document on stdout all the same. */

const ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n    ret;\n}\n";
const job = (change: object = {}): string =>
  JSON.stringify({
    variants: { plain: ["k.ptx"] },
    buffers: { out: { type: "u32", n: 1 } },
    launches: [{ kernel: "k", grid: [1], block: [1], args: [{ buf: "out" }] }],
    ...change,
  });
const launch = ["run", "k.ptx", "--kernel", "k", "--arg", "u32[1]"];

let cli: BuiltCli;
beforeAll(async () => {
  cli = await BuiltCli.build();
  cli.write("k.ptx", ptx);
  cli.write("folder/k.ptx", ptx);
  cli.write("job.json", job());
  cli.write("list.json", "[]");
  cli.write("missing.json", job({ variants: { plain: ["none.ptx"] } }));
  cli.write("program.elf", Uint8Array.of(0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0));
  cli.write("wrong-name.bin", "CISA and more");
  cli.write("empty.isa", "");
  cli.write("x.npy", new Uint8Array(4));
  symlinkSync("k.ptx", join(cli.work, "link.ptx"));
});
afterAll(() => cli?.remove());

describe("is reported, with status 2", () => {
  test.each<[string, string]>([
    // Commands and options.
    ["chek k.ptx", 'there is no command "chek"; did you mean "check"?'],
    ["frobnicate", 'there is no command "frobnicate"; `lanewise help` lists them'],
    ["--engine jit run job.json", "the command comes first: lanewise COMMAND --engine"],
    ["help chek", 'there is no command "chek"; did you mean "check"?'],
    ["run job.json --threads 0", "--threads 0: expected an integer of at least 1"],
    ["run job.json --max-steps 0", "--max-steps 0: expected an integer of at least 1"],
    ["run job.json --explore 0", "--explore 0: expected an integer of at least 1"],
    ["run job.json --timeout nan", "--timeout nan: expected a number of seconds, as in 1.5"],
    ["run job.json --color no", "--color no: expected auto, always or never"],
    ["run job.json --target sm_1", 'there is no target "sm_1" of PTX; did you mean "sm_10"?'],
    ["profile job.json --top 0", "--top 0: expected an integer of at least 1"],
    ["explain race-condition", 'there is no code "race-condition"; `lanewise explain` lists all'],
    ["explain race", 'there is no code "race"; there is '],
    ["isa add.q32", 'there is no opcode "add.q32"; did you mean "add.u32"?'],
    ["isa mad.lo.s3", 'there is no opcode "mad.lo.s3"; did you mean "mad.lo.s32"?'],
    ["isa ld.v2.globl.f32", 'there is no opcode "ld.v2.globl.f32"; did you mean "ld.v2.global.f32"?'],
    ["isa add.zzzzzz", 'there is no opcode "add.zzzzzz"; `lanewise isa add` shows its forms'],
    ["isa ifcall.unifrm", 'there is no opcode "ifcall.unifrm"; did you mean "ifcall.uniform"?'],
    ["isa lsc_load.ugn --isa visa", 'there is no opcode "lsc_load.ugn"; did you mean "lsc_load.ugm"?'],
    ["isa svm_gather.4.3", 'there is no opcode "svm_gather.4.3"; `lanewise isa svm_gather` shows its forms'],
    ["isa 0xff", 'there is no instruction "0xff"; `lanewise isa` lists all'],
    // Options that do not apply.
    ["run job.json --kernel k", "run: --kernel is for programs; a job says that itself"],
    ["profile job.json --grid 4", "profile: --grid is for programs; a job says that itself"],
    ["run job.json --out 0=y.npy", "run: --out is for programs; a job says that itself"],
    [`${launch.join(" ")} --variant v`, "run: --variant is for jobs (.json)"],
    [
      `${launch.join(" ")} --grid 2147483648`,
      "--grid 2147483648: expected X[,Y[,Z]] or XxYxZ, each from 1 to 2147483647",
    ],
    [`${launch.join(" ")} --shared 1e12`, "1000000000000 bytes of shared memory; it has at most 67108864"],
    [`${launch.join(" ")} --explore 5 --schedule 1:1`, "--explore looks for schedules, and --schedule gives one"],
    [`${launch.join(" ")} --explore 5 --out 0=y.npy`, "--out saves what one run leaves, and --explore makes many"],
    // Files.
    ["check folder", "folder is a folder that has no vISA text (.visaasm), nor a binary of ocloc with some"],
    ["fmt folder", "fmt: folder holds programs; `lanewise link folder -o OUT.ptx` takes PTX out"],
    ["asm folder -o x.isa", "cannot read folder: it is a directory"],
    ["check /dev/zero", "cannot read /dev/zero: it is not a regular file (- stands for stdin)"],
    ["check program.elf", "program.elf: ends after 8 bytes, within what should be there (at byte 0x8)"],
    ["asm program.elf -o x.isa", "program.elf is not assembly: it is an ELF file (an executable or an object)"],
    ["fmt program.elf", "fmt: program.elf holds programs"],
    ["run program.elf --kernel k", "program.elf: ends after 8 bytes, within what should be there"],
    ["list program.elf", "program.elf: ends after 8 bytes, within what should be there"],
    ["list", "list: no file given"],
    ["list job.json", "job.json is not PTX, which has a line with .version, and holds none"],
    ["list wrong-name.bin", "wrong-name.bin is not assembly: it is a CISA file; the name of one ends in .isa"],
    ["check wrong-name.bin", "wrong-name.bin is not assembly: it is a CISA file; the name of one ends in .isa"],
    ["run list.json", "list.json:1:1: error: job: expected an object, found a list"],
    ["run missing.json", "cannot read none.ptx: there is no such file"],
    ["asm k.ptx -o k.isa", "asm: k.ptx is PTX; only vISA has a binary form here"],
    ["debug job.json -x none", "cannot read none: there is no such file"],
    // Outputs that would overwrite something; found before anything runs.
    ["check k.ptx --sarif o --report o", "--report o: --sarif o is the same file"],
    ["check k.ptx --sarif o --report folder/../o", "--report folder/../o: --sarif o is the same file"],
    ["check k.ptx --sarif k.ptx", "--sarif k.ptx: k.ptx is read, and would be overwritten"],
    ["check k.ptx --report link.ptx", "--report link.ptx: k.ptx is read, and would be overwritten"],
    ["link k.ptx -o k.ptx", "--output k.ptx: k.ptx is read, and would be overwritten"],
    ["disasm empty.isa -o empty.isa", "--output empty.isa: empty.isa is read, and would be overwritten"],
    ["profile job.json --html job.json", "--html job.json: job.json is read, and would be overwritten"],
    ["run k.ptx --kernel k --arg u32@x.npy --out 0=x.npy", "x.npy is read, and would be overwritten"],
    [`${launch.join(" ")} --out 0=y.npy --out 0=y.npy`, "--out 0=y.npy: --out 0=y.npy is the same file"],
    ["check k.ptx --sarif k.ptx/o", "--sarif k.ptx/o: there is no directory k.ptx"],
    ["check k.ptx --sarif none/o", "--sarif none/o: there is no directory none"],
    ["check k.ptx --sarif folder", "--sarif folder: it is a directory"],
    ["check k.ptx --sarif -", "--sarif -: nothing is written to stdout"],
  ])("lanewise %s", (line, message) => {
    const { status, stdout, stderr } = cli.run(...line.split(" "), "--json");
    const { ok, error, errors, jobs = [] } = JSON.parse(stdout);
    expect(ok).toBe(false);
    if (error !== undefined) expect(stderr).toContain(`lanewise: ${error}`);
    if (jobs.length === 0) expect(error ?? errors[0]).toBeTruthy();
    // The problem of a single job does not keep the others from running, so it is reported with that job.
    expect([stderr, ...jobs.map((j: { failure: string }) => j.failure)].join("\n")).toContain(message);
    expect(status).toBe(2);
  });
});

test.each(["debug bad.ptx --kernel k", "build bad.ptx -o bad.wasm"])("lanewise %s: a program with errors", (line) => {
  cli.write("bad.ptx", ptx.replace("ret;", "rett;"));
  const { status, stdout, stderr } = cli.run(...line.split(" "), "--json");
  expect(stderr).toContain("bad.ptx:6:5: error:");
  expect(JSON.parse(stdout)).toMatchObject({
    ok: false,
    error: "the program has errors",
    diagnostics: [{ path: "bad.ptx", severity: "error", range: { start: { line: 6, column: 5 } } }],
  });
  expect(status).toBe(1);
});

test("without --json nothing is on stdout", () => {
  expect(cli.run("check", "none.ptx")).toMatchObject({
    status: 2,
    stdout: "",
    stderr: "lanewise: cannot read none.ptx: there is no such file\n",
  });
});

test("a full disk is reported, not thrown", () => {
  const main = join(cli.folder, "dist/cli/main.js");
  const { status, stderr } = spawnSync("sh", ["-c", `"${process.execPath}" "${main}" isa add > /dev/full`], {
    encoding: "utf8",
  });
  expect(stderr).toMatch(/^lanewise: cannot write to stdout: ENOSPC/);
  expect(status).toBe(2);
});

test("help: common options are explained once", () => {
  const { stdout } = cli.run("fmt", "--help");
  expect(stdout).toContain("Common options: --json, --color WHEN, -h, --help (`lanewise help options` explains them)");
  expect(stdout).not.toContain("--seed");
  const options = cli.run("help", "options");
  expect(options.stdout).toContain("--seed N           permute the schedule");
  expect(options.status).toBe(0);
});

describe("texts in the forms that other programs write", () => {
  const bad = ptx.replace("ret;", "rett;");
  const utf16 = (text: string): Uint8Array => Uint8Array.from(Buffer.from(`\ufeff${text}`, "utf16le"));

  test.each<[string, string | Uint8Array]>([
    ["Windows line ends", bad.replaceAll("\n", "\r\n")],
    ["a byte order mark", `\ufeff${bad}`],
    ["UTF-16, little end first", utf16(bad)],
    ["UTF-16, big end first", Uint8Array.from(Buffer.from(utf16(bad)).swap16())],
  ])("%s", (_, data) => {
    cli.write("encoded.ptx", data);
    const { status, stdout } = cli.run("check", "encoded.ptx");
    expect(stdout).toMatch(/^encoded\.ptx:6:5: error: .*rett.*\n {4}6 \| {5}rett;\n/);
    expect(status).toBe(1);
  });
});

describe("stdin is -", () => {
  const piped = (input: string, ...args: string[]) =>
    spawnSync(process.execPath, [join(cli.folder, "dist/cli/main.js"), ...args], {
      cwd: cli.work,
      encoding: "utf8",
      input,
      env: { ...process.env, NO_COLOR: "1", LANEWISE_CACHE: "off" },
    });

  test.each<[string[], string, number, string]>([
    [["check", "-"], ptx.replace("ret;", "rett;"), 1, "<stdin>:6:5: error:"],
    [["fmt", "-"], ptx.replace("    ret;", "ret ;"), 0, "\n    ret;\n}\n"],
    [["run", "-"], job(), 0, "ok    job plain"],
    [["run", "-", "--arg", "u32[1]"], ptx, 0, ""],
    [["check", "-"], '.version 3.6\n.kernel "k"\n    ret (M1, 1)\n', 0, "1 file checked, no errors"],
  ])("%j", (args, input, status, stdout) => {
    const outcome = piped(input, ...args);
    expect(outcome.stdout).toContain(stdout);
    expect(outcome.stderr.replace(/^k: 1 thread, [\d.]+ ms\n$/, "")).toBe("");
    expect(outcome.status).toBe(status);
  });

  test("lanewise dap gets input other than messages", () => {
    const { status, stderr } = piped("help\n", "dap");
    expect(stderr).toContain("dap: the input ends within a message");
    expect(status).toBe(2);
  });
});
