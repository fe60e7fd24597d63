import { spawnSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BuiltCli } from "./built-cli.ts";

const hasCompiler = spawnSync("gcc", ["--version"]).status === 0;
const positive = expect.toSatisfy((ms: number) => ms > 0);

const times = { ms: positive, firstMs: positive, first: { loadMs: positive, runMs: positive } };
/** Linux alone says how much memory a process takes. */
const host = process.platform === "linux" ? { hostBytes: expect.toSatisfy((bytes: number) => bytes > 2e7) } : {};
const interpreter = ["--quick", "--engine", "interpreter"];

let cli: BuiltCli;
beforeAll(async () => {
  cli = await BuiltCli.build();
  cpSync(fileURLToPath(new URL("../../bench", import.meta.url)), join(cli.folder, "bench"), { recursive: true });
});
afterAll(() => cli.remove());

interface Row {
  readonly name: string;
  readonly ok: boolean;
}

test("small sizes, as JSON", () => {
  const { status, stdout, stderr } = cli.run("bench", "recursion", "saxpy", ...interpreter, "--json", "--peers=native");
  const { kernels, ...rest } = JSON.parse(stdout) as { kernels: readonly Row[] };
  expect(rest).toEqual({ machine: expect.any(String), node: process.version, runs: 1 });
  const native = hasCompiler ? { native: { ms: expect.any(Number), compiler: expect.stringMatching(/^gcc /) } } : {};
  for (const row of kernels) {
    expect(row).toEqual({ name: row.name, group: "usual", interpreter: times, ...native, ...host, ok: true });
  }
  expect(kernels.map((k) => k.name)).toEqual(["saxpy", "recursion"]);
  expect(stderr).toContain("1 of 2: saxpy");
  expect(status).toBe(0);
});

test("compiled code, and the interpreter beside it", () => {
  const { status, stdout } = cli.run("bench", "saxpy", "--quick", "--peers=none", "--interpreter", "--json");
  const { kernels } = JSON.parse(stdout) as { kernels: readonly Row[] };
  expect(kernels).toEqual([
    { name: "saxpy", group: "usual", jit: { ...times, threads: 1 }, interpreter: times, ...host, ok: true },
  ]);
  expect(status).toBe(0);
});

test("with all threads, compiled code and peers once more", () => {
  const words = ["bench", "matmul-naive", "--runs", "1", "--peers=native"];
  const { stdout } = cli.run(...words, "--json");
  const { kernels } = JSON.parse(stdout) as { kernels: readonly Row[] };
  const threads = cpus().length;
  const several = { jitAllThreads: { ms: positive, threads: expect.any(Number) } };
  expect(kernels).toEqual([
    {
      name: "matmul-naive",
      group: "usual",
      jit: { ...times, threads: 1 },
      ...(threads > 1 ? several : {}),
      ...(hasCompiler ? { native: { ms: positive, compiler: expect.any(String) } } : {}),
      ...(hasCompiler && threads > 1 ? { nativeAllThreads: { ms: positive, threads } } : {}),
      ...host,
      ok: true,
    },
  ]);
  const table = cli.run(...words);
  expect(table.stdout.includes(`With all ${threads} threads:\n\nms  `)).toBe(threads > 1);
  expect(table.stderr).toBe("");
  expect(table.status).toBe(0);
});

test("small sizes, as a table", () => {
  const { status, stdout } = cli.run("bench", "saxpy", "scan", ...interpreter, "--peers=none");
  const [head, ...rows] = stdout.trimEnd().split("\n");
  expect(head).toMatch(/^ms +interpr\. 1st +interpr\. +native C +tuned C +PoCL +\/ native C +\/ tuned C +\/ PoCL$/);
  expect(rows.map((row) => row.split(/\s{2,}/)[0])).toEqual(["saxpy", "scan", "geometric mean"]);
  expect(rows[0]).toMatch(/ ok$/);
  expect(status).toBe(0);
});

test.each([
  ["setp.ge.s32", "setp.lt.s32", 1, /^copy: interpreter: c\[0\] is 0, not /],
  ["%rd4, %r1, 8", "%rd4, %r1, 16", 3, /^copy: interpreter: .* after the end of a/],
])("%s instead of %s in the PTX ends with status %i", (from, to, expected, message) => {
  const path = join(cli.folder, "bench/kernels/copy.ptx");
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replace(from, to));
  const { status, stderr } = cli.run("bench", "copy", ...interpreter, "--peers=none");
  writeFileSync(path, text);
  expect(stderr).toMatch(new RegExp(message.source, "m"));
  expect(status).toBe(expected);
});
