import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BuiltCli } from "./built-cli.ts";

let cli: BuiltCli;
beforeAll(async () => {
  cli = await BuiltCli.build();
  writeFileSync(join(cli.folder, "dist/build-id"), "this build");
  const saxpy = new URL("../../examples/saxpy.ptx", import.meta.url);
  cli.write("saxpy.ptx", readFileSync(saxpy, "utf8"));
});
afterAll(() => cli.remove());

const saxpy = ["run", "saxpy.ptx", "--kernel", "saxpy", "--block", "32", "--engine", "jit"].concat(
  ["20", "2.5", "f32[32]=iota", "f32[32]"].flatMap((arg) => ["--arg", arg]),
);
const right = /^argument 3, f32\[32\]: 0 2\.5 5 7\.5 10 /;
const kept = (folder: string): string[] => {
  try {
    return readdirSync(join(cli.work, folder, "kernels"));
  } catch {
    return [];
  }
};

test("--cache keeps compiled kernels, --no-cache does not", () => {
  expect(cli.run(...saxpy, "--cache", "a", "--no-cache").stdout).toMatch(right);
  expect(kept("a")).toEqual([]);
  expect(cli.run(...saxpy, "--cache", "a").stdout).toMatch(right);
  // The kernel, its first launch, the shape of that, what the kernel knows of its threads, and the machine's features.
  expect(kept("a")).toHaveLength(5);
  expect(cli.run(...saxpy, "--cache", "a").stdout).toMatch(right);
  expect(kept("a")).toHaveLength(5);
});

test("a damaged entry is replaced", () => {
  cli.run(...saxpy, "--cache", "b");
  // Not the note of the first launch, which has a time in it.
  const files = kept("b").map((name) => join(cli.work, "b/kernels", name));
  const file = files.find((path) => !readFileSync(path, "latin1").includes("blockMs"))!;
  const whole = readFileSync(file);
  writeFileSync(file, whole.subarray(0, whole.length - 100));
  expect(cli.run(...saxpy, "--cache", "b").stdout).toMatch(right);
  expect(readFileSync(file)).toEqual(whole);
});

test("a folder that cannot be created is not an error", () => {
  cli.write("file", "");
  const { stdout, status, stderr } = cli.run(...saxpy, "--cache", "file/cache");
  expect(stdout).toMatch(right);
  expect({ status, stderr: stderr.replace(/[\d.]+ ms/, "1 ms") }).toEqual({
    status: 0,
    stderr: "saxpy: 32 threads, 1 ms\n",
  });
});

test.runIf(process.getuid !== undefined)("a folder that others can write is not used, and that is no error", () => {
  cli.run(...saxpy, "--cache", "open");
  chmodSync(join(cli.work, "open/kernels"), 0o777);
  const before = kept("open");
  for (const json of [[], ["--json"]]) {
    const { stdout, status, stderr } = cli.run(...saxpy, "--cache", "open", ...json);
    expect(status).toBe(0);
    expect(stdout).toMatch(json.length === 0 ? right : /^\{"ok":true/);
    expect(stderr).toContain("lanewise: compiled kernels are not kept: others can write to open/kernels (`chmod go-w`");
  }
  expect(kept("open")).toEqual(before);
});

test("processes that compile the same at the same time do not disturb each other", async () => {
  const main = join(cli.folder, "dist/cli/main.js");
  const run = async (): Promise<string> => {
    const child = spawn(process.execPath, [main, ...saxpy, "--cache", "c"], { cwd: cli.work });
    let out = "";
    for await (const piece of child.stdout) out += String(piece);
    return out;
  };
  mkdirSync(join(cli.work, "c"));
  const outs = await Promise.all(Array.from({ length: 6 }, run));
  for (const out of outs) expect(out).toMatch(right);
  expect(kept("c")).toHaveLength(5);
  rmSync(join(cli.work, "c"), { recursive: true });
});
