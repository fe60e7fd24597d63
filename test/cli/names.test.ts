import { spawn, spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeNumpy } from "../../src/runtime/data/npy.ts";
import { BuiltCli } from "./built-cli.ts";

let cli: BuiltCli;

beforeAll(async () => {
  cli = await BuiltCli.build();
  cli.write("k.ptx", readFileSync(new URL("../names/kernels.ptx", import.meta.url)));
  cli.write("x64.npy", writeNumpy({ type: "f64", shape: [2], bytes: new Uint8Array(new Float64Array([1, 2]).buffer) }));
});

afterAll(() => cli.remove());

const run = (...args: string[]) => cli.run("run", "k.ptx", ...args);

describe("kernels by name", () => {
  test.each([
    ["uses", "uses(int*)"],
    ["scale<double>", "scale<double>(double*, double, int)"],
    ["ns::shows(int *)", "ns::shows(int*)"],
    ["hidden", "ns::(anonymous namespace)::hidden(float4*, uchar2)"],
  ])("%s", (name, shown) => {
    const { status, stderr } = run("--kernel", name);
    expect(status).toBe(2);
    expect(stderr).toContain(`kernel "${shown}" has`);
  });

  test("several, none, and none given", () => {
    expect(run("--kernel", "scale").stderr).toBe(
      [
        'lanewise: "scale" may be one of 3 kernels:',
        "  scale<float>(float*, float, int)",
        "  scale<double>(double*, double, int)",
        "  scale<__half>(__half*, __half, int)\n",
      ].join("\n"),
    );
    expect(run("--kernel", "redcue").stderr).toContain(
      'there is no kernel "redcue"; did you mean "reduce"? There are 12:',
    );
    expect(run().stderr).toContain("which kernel? There are 12:\n  reduce(float const*, float*, int)\n");
  });
});

test("reports, progress and JSON have the name in C++", () => {
  const args = ["--kernel", "ns::reduce", "--arg", "s32[0]"];
  const { status, stdout, stderr } = run(...args);
  expect(status).toBe(3);
  expect(stdout).toContain("note: kernel `ns::reduce(int*)`, thread 0 of block (0,0,0)");
  expect(stderr).toContain("ns::reduce(int*): 1 thread");
  const { jobs } = JSON.parse(run(...args, "--json", "--sarif", "out.sarif").stdout);
  const names = { kernel: "_ZN2ns6reduceEPi", kernelName: "ns::reduce(int*)" };
  expect(jobs[0].launches[0]).toMatchObject(names);
  expect(jobs[0].reports[0]).toMatchObject(names);
  expect(jobs[0].reports[0].stack[0]).toMatchObject({ function: "_ZN2ns6reduceEPi", functionName: "ns::reduce(int*)" });
  const sarif = JSON.parse(readFileSync(join(cli.work, "out.sarif"), "utf8"));
  expect(sarif.runs[0].results[0].locations[0].logicalLocations).toEqual([
    {
      name: "ns::reduce",
      fullyQualifiedName: "ns::reduce(int*)",
      decoratedName: "_ZN2ns6reduceEPi",
      kind: "function",
    },
  ]);
  expect(run(...args, "--allow", 'global-out-of-bounds in "ns::reduce(int*)"').status).toBe(0);
});

test("the profile and the debugger have the names in C++", () => {
  const program = ["k.ptx", "--kernel", "uses", "--arg", "s32[4]"];
  expect(cli.run("profile", ...program).stdout).toMatch(/\bhelper\(int\)[\s\S]*\bhiddenHelper\(int\)/);
  const { jobs } = JSON.parse(cli.run("profile", ...program, "--json").stdout);
  expect(jobs[0].profile.functions.map((f: { functionName: string }) => f.functionName)).toContain("helper(int)");
  const { stdout } = cli.run(
    "debug",
    ...program,
    "--command",
    "break helper",
    "--command",
    "continue",
    "--command",
    "bt",
  );
  expect(stdout).toContain("→ #0  helper(int) at k.ptx");
  expect(stdout).toContain("#1  uses(int*) at k.ptx");
});

describe("arguments and the signature", () => {
  test.each([
    [["reduce", "@x64.npy", "f32[1]", "0"], "a buffer of f64 is given for `float const*`, which points to f32"],
    [["reduce", "f32[1]", "s32[1]", "0"], "argument 1 of reduce(float const*, float*, int): a buffer of s32 is given"],
    [["reduce", "f32[1]", "f32[1]", "1.5"], "1.5 is not an integer, which s32 holds: `int` (.u32)"],
    [["ns::shows", "{s32:1}"], "4 bytes given for `int*` (.u64)"],
  ])("%j", ([kernel, ...args], message) => {
    const { status, stderr } = run("--kernel", kernel!, ...args.flatMap((arg) => ["--arg", arg]));
    expect(stderr).toContain(message);
    expect(status).toBe(2);
  });

  test.each([
    [["scale<float>", "f32[4]=iota", "2", "3"], "argument 0, f32[4]: 0 1 2 6"],
    [["scale<__half>", "u16[1]=0x3c00", "2.5", "0"], "argument 0, u16[1]: 16640"],
    [["scale<double>", "f64@x64.npy", "10", "1"], "argument 0, f64[2]: 1 20"],
    [["ns::reduce", "u8[4]"], "argument 0, u8[4]: 1 0 0 0"],
    [["structured", "{f32:1, u64:2, s32[2]}", "bytes:0000000000000000", "0", "0", "1", "2", "3", "4"], null],
    [["structured", "{f32:1, u64:2, s32[2]}", "u8[24]", "0", "0", "1", "2", "3", "4"], null],
    [
      ["structured", "{f32:1,u64:2,s32[2]=8,9}", "f32[1]=7", "0", "0", "1", "2", "3", "4"],
      "argument 0, byte 16, s32[2]: 7 9",
    ],
  ])("%j", ([kernel, ...args], shown) => {
    const { status, stdout, stderr } = run("--kernel", kernel!, ...args.flatMap((arg) => ["--arg", arg]));
    if (shown === null) expect(stderr).not.toContain("lanewise:");
    else {
      expect(stdout.trim()).toBe(shown);
      expect(status).toBe(0);
    }
  });
});

test("the buffer of a pointer in a struct can be saved", () => {
  const args = ["{f32:1,u64:2,s32[2]=8,9}", "f32[1]=7", "0", "0", "1", "2", "3", "4"].flatMap((arg) => ["--arg", arg]);
  const save = (out: string) => run("--kernel", "structured", ...args, "--out", out);
  expect(save("0+16=member.json").status).toBe(0);
  expect(JSON.parse(readFileSync(join(cli.work, "member.json"), "utf8"))).toEqual([7, 9]);
  expect(save("0+8=member.json").stderr).toContain(
    "--out 0+8=member.json: argument 0+8 is not a buffer (they count from 0; 0+16, 1 are)",
  );
});

test("compute-sanitizer's tools are known by their names", () => {
  const args = ["--kernel", "uses", "--arg", "s32[4]", "--sanitize"];
  for (const tool of ["memcheck", "racecheck", "initcheck,synccheck"]) expect(run(...args, tool).status).toBe(0);
  expect(run(...args, "memchek").stderr).toContain('there is no sanitizer "memchek"; did you mean "memcheck"?');
});

describe.skipIf(process.platform === "win32")("output files", () => {
  const args = ["--kernel", "ns::shows", "--arg", "s32[4000]"];

  test("a pipe that nobody reads is an error, one that is read gets the bytes", async () => {
    spawnSync("mkfifo", [join(cli.work, "pipe.bin")]);
    const { status, stderr } = run(...args, "--out", "0=pipe.bin");
    expect([status, stderr]).toEqual([2, "lanewise: --out 0=pipe.bin: it is a pipe that nobody reads\n"]);
    const reader = spawn("wc", ["-c", join(cli.work, "pipe.bin")]);
    const counted = new Promise((resolve) =>
      reader.stdout.on("data", (data) => resolve(Number.parseInt(String(data), 10))),
    );
    let written = run(...args, "--out", "0=pipe.bin");
    // Until the reader has come.
    for (let i = 0; written.status !== 0 && i < 50; i++) written = run(...args, "--out", "0=pipe.bin");
    expect(written.status).toBe(0);
    expect(await counted).toBe(16_000);
  });

  test("what cannot be written whole leaves the old file", () => {
    writeFileSync(join(cli.work, "y.npy"), "old");
    const main = join(cli.folder, "dist/cli/main.js");
    const words = ["run", "k.ptx", "--no-cache", ...args, "--out", "0=y.npy"];
    const command = `ulimit -f 1; exec "$0" "$@"`;
    const { status, stderr } = spawnSync("bash", ["-c", command, process.execPath, main, ...words], {
      cwd: cli.work,
      encoding: "utf8",
    });
    expect(stderr).toContain("lanewise: cannot write y.npy: the file would be larger than is allowed");
    expect(status).toBe(2);
    expect(readFileSync(join(cli.work, "y.npy"), "utf8")).toBe("old");
    expect(readdirSync(cli.work).filter((name) => name.includes(".part"))).toEqual([]);
  });
});

test("diagnostics name functions as C++ does, and parameters and help as PTX does", () => {
  const text = `.version 8.0
.target sm_80
.address_size 64
.visible .entry _Z1kPf(.param .u64 _Z1kPf_param_0)
{
    .reg .b64 %a;
    ld.param.u64 %a, [_Z1kPf_param_1];
    call _Z6helperi;
    ret;
}
`;
  cli.write("bad.ptx", text);
  const { stdout } = cli.run("check", "bad.ptx");
  expect(stdout).toContain("unknown name '_Z1kPf_param_1'");
  expect(stdout).toContain("did you mean '_Z1kPf_param_0'?");
  expect(stdout).toContain("unknown name 'helper(int)'");
});
