import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readNumpy, writeNumpy } from "../../src/runtime/data/npy.ts";
import { BuiltCli } from "./built-cli.ts";

/* y = c0 + c1 x + c2 x^2 + c3 x^3 for x = 0, 1, 2, ...; all results are small integers, computed by hand. */
let cli: BuiltCli;
const example = (name: string): string => readFileSync(new URL(`../../examples/${name}`, import.meta.url), "utf8");
const program = ["polynomial.ptx", "--block", "8"];
const buffers = ["--arg", "f32[8]=iota", "--arg", "f32[8]"];
const run = (...options: string[]) => cli.run("run", ...program, ...options, ...buffers);
const shown = (values: string) => `argument 1, f32[8]: ${values}\n`;

beforeAll(async () => {
  cli = await BuiltCli.build();
  cli.write("polynomial.ptx", example("polynomial.ptx"));
  cli.write("job.json", example("polynomial.json").replace("examples/", ""));
  const four = new Uint8Array(new Float32Array([-3, 1, 0, 0]).buffer);
  cli.write("coeff.bin", four);
  cli.write("coeff.npy", writeNumpy({ type: "f32", shape: [4], bytes: four }));
  cli.write("n.npy", writeNumpy({ type: "f32", shape: [1], bytes: four.subarray(0, 4) }));
});
afterAll(() => cli.remove());

describe.each(["jit", "interpreter"])("--symbol (%s)", (engine) => {
  test.each(["f32:-3,1", "f32:-3,1,0,0", "@coeff.npy", "@coeff.bin", "f32@coeff.bin"])("coeff=%s", (value) => {
    const { status, stdout } = run("--engine", engine, "--symbol", `coeff=${value}`);
    expect(stdout).toBe(shown("-3 -2 -1 0 1 2 3 4"));
    expect(status).toBe(0);
  });

  test("several, and reading back", () => {
    const symbols = ["--symbol", "coeff=f32:-3,1", "--symbol", "n=2"];
    const outs = ["--out", "1=y.json", "--out", "negative=negative.npy", "--out", "coeff=coeff.json"];
    const { status, stdout } = run("--engine", engine, ...symbols, ...outs);
    expect([status, stdout]).toEqual([0, ""]);
    expect(JSON.parse(readFileSync(join(cli.work, "y.json"), "utf8"))).toEqual([-3, -2, 0, 0, 0, 0, 0, 0]);
    const negative = readNumpy(readFileSync(join(cli.work, "negative.npy")));
    expect(negative).toMatchObject({ type: "u32", shape: [1] });
    expect([...negative.bytes]).toEqual([2, 0, 0, 0]);
    expect(JSON.parse(readFileSync(join(cli.work, "coeff.json"), "utf8"))).toEqual([-3, 1, 0, 0]);
  });

  test("a variable that is named and changes is shown", () => {
    const { stdout } = run("--engine", engine, "--symbol", "coeff=f32:-3,1", "--symbol", "negative=40");
    expect(stdout).toBe(`${shown("-3 -2 -1 0 1 2 3 4")}symbol negative, u32[1]: 43\n`);
  });

  test("a job sets, copies and checks variables", () => {
    const { status, stdout } = cli.run("run", "job.json", "--engine", engine, "--json");
    const [job] = (JSON.parse(stdout) as { jobs: { checks: object[] }[] }).jobs;
    expect(status).toBe(0);
    expect(job!.checks).toEqual([
      { buf: "y", ok: true, mismatches: 0 },
      { buf: "z", ok: true, mismatches: 0 },
      { symbol: "negative", ok: true, mismatches: 0 },
      { symbol: "coeff", ok: true, mismatches: 0 },
    ]);
    cli.write("wrong.json", example("polynomial.json").replace('"all": [2]', '"all": [3]'));
    const wrong = cli.run("run", "wrong.json", "--engine", engine);
    expect(wrong.status).toBe(1);
    expect(wrong.stdout).toContain('1 of 1 elements of "negative" differ, first at 0: got 2, want 3');
  });
});

test("profile, debug and explore take it too", () => {
  const options = [...program, "--symbol", "n=3", "--symbol", "coeff=f32:1", ...buffers];
  expect(cli.run("profile", ...options).status).toBe(0);
  const profile = cli.run("profile", ...options, "--json").stdout;
  expect(profile).toContain('"kernel":"polynomial"');
  expect(cli.run("run", ...options, "--explore", "4", "--json").status).toBe(0);
  const debug = cli.run("debug", ...options, "--command", "x/4f32 coeff");
  expect(debug.stdout).toContain("1.0  0.0  0.0  0.0");
});

test("a debugger that goes back finds the constants of the earlier launch", () => {
  const look = "x/4f32 coeff";
  const commands = [look, "goto 100", look, "goto 0", look, "goto 120", look];
  const { status, stdout } = cli.run("debug", "job.json", ...commands.flatMap((c) => ["--command", c]));
  expect(status).toBe(0);
  const found = [...stdout.matchAll(/^0x7f1030000000: +(.*)$/gm)].map(([, values]) => values!.split(/ +/).map(Number));
  const [first, second] = [
    [1, 2, 3, 0],
    [1, 0, 0, -1],
  ];
  expect(found).toEqual([first, second, first, second]);
});

test.each([
  ["coeff=1,2", 'symbol "coeff": its 16 bytes are declared without a type: give one, as in f32:1,2,3'],
  ["coef=1", 'there is no variable "coef"; did you mean "coeff"?'],
  ["n=1.5", 'symbol "n": 1.5 is not an integer, which u32 holds'],
  ["n=u32:1.5", "--symbol n=u32:1.5: 1.5 is not an integer, which u32 holds"],
  ["n=1,2", 'symbol "n": 2 values of u32 (8 bytes) do not fit its 4 bytes'],
  ["n=@n.npy", 'symbol "n": values of f32 for a variable of type u32'],
  ["coeff=f32[5]", 'symbol "coeff": 5 values of f32 (20 bytes) do not fit its 16 bytes'],
  ["n=x", '--symbol n=x: "x" is not a number'],
  ["n", "--symbol n: expected NAME=VALUE, as in coeff=1,2,3 or coeff=@x.npy"],
  ["n=local:4", "--symbol n=local:4: a variable holds numbers or a struct of numbers"],
  ["coeff=@none.npy", "cannot read none.npy: there is no such file"],
])("--symbol %s is refused", (value, message) => {
  const { status, stderr } = run("--symbol", value);
  expect(stderr).toBe(`lanewise: ${message}\n`);
  expect(status).toBe(2);
});

test("what else is refused", () => {
  expect(run("--symbol", "n=1", "--symbol", "n=2").stderr).toContain("--symbol n is given twice");
  expect(run("--out", "nothing=y.npy").stderr).toContain('there is no variable "nothing"');
  expect(cli.run("run", "job.json", "--symbol", "n=1").stderr).toContain("a job says that itself");
});
