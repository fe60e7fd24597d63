import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadKernel } from "../../examples/standalone/loader.mjs";
import { BuiltCli } from "./built-cli.ts";

let cli: BuiltCli;
beforeAll(async () => {
  cli = await BuiltCli.build();
  for (const name of ["saxpy.ptx", "saxpy.visaasm", "saxpy.yaml"]) {
    cli.write(name, readFileSync(new URL(`../../examples/${name}`, import.meta.url)));
  }
});
afterAll(() => cli.remove());

const read = (name: string): Buffer => readFileSync(join(cli.work, name));

test("build writes a module and its description, which can be launched", async () => {
  const { status, stdout, stderr } = cli.run("build", "saxpy.ptx", "-o", "saxpy.wasm");
  expect({ status, stdout, stderr: stderr.replace(/[\d.]+ KB/, "9 KB") }).toEqual({
    status: 0,
    stdout: "",
    stderr: "saxpy: 9 KB in saxpy.wasm, described in saxpy.json\n",
  });
  const description = JSON.parse(read("saxpy.json").toString());
  expect(description).toMatchObject({ module: "saxpy.wasm", kernel: "saxpy", source: "saxpy.ptx", block: null });
  const saxpy = await loadKernel(description, read("saxpy.wasm"));
  const [x, y] = [saxpy.buffer(new Float32Array([1, 2, 3, 4])), saxpy.buffer(16)];
  saxpy.launch({ grid: 1, block: 4, args: [4, 2.5, x, y] });
  expect([...y.read(Float32Array)]).toEqual([2.5, 5, 7.5, 10]);
});

test("a compiled kernel of vISA has its arguments in the order of its source, and learns the launch's sizes", async () => {
  const files = ["saxpy.visaasm", "--zeinfo", "saxpy.yaml", "-o", "visa.wasm", "--target", "skl"];
  expect(cli.run("build", ...files)).toMatchObject({ status: 0, stdout: "" });
  const description = JSON.parse(read("visa.json").toString());
  expect(description).toMatchObject({ format: "lanewise kernel 2", kernel: "saxpy", source: "saxpy.visaasm" });
  const saxpy = await loadKernel(description, read("visa.wasm"));
  const x = saxpy.buffer(new Float32Array(96).map((_, i) => i));
  const y = saxpy.buffer(new Float32Array(96).fill(1));
  // The last thread of 16 lanes has none of the first 40 items, and the last group of 32 none at all.
  saxpy.launch({ grid: 3, block: 32, args: [40, 2.5, x, y] });
  expect([...y.read(Float32Array)]).toEqual(Array.from({ length: 96 }, (_, i) => (i < 40 ? 2.5 * i + 1 : 1)));
});

test("--json, and a block of one shape", () => {
  const { status, stdout } = cli.run("build", "saxpy.ptx", "-o", "s.wasm", "--block", "64,2", "--json");
  expect({ status, ...JSON.parse(stdout) }).toEqual({
    status: 0,
    ok: true,
    output: "s.wasm",
    description: "s.json",
    kernel: "saxpy",
    kernelName: "saxpy",
  });
  expect(JSON.parse(read("s.json").toString()).block).toEqual([64, 2, 1]);
});

test("errors are reported, and nothing is written", () => {
  const failing = (...args: string[]): string => {
    const { status, stderr } = cli.run("build", ...args);
    return `${status} ${stderr}`;
  };
  expect(failing("saxpy.ptx")).toBe("2 lanewise: build: -o says where the module goes\n");
  expect(failing("saxpy.ptx", "-o", "a.txt")).toMatch(/^2 .*ends in \.wasm/);
  expect(failing("saxpy.ptx", "-o", "no.wasm", "--kernel", "saxpi")).toMatch(/^2 .*did you mean "saxpy"/);
  expect(failing("saxpy.visaasm", "-o", "no.wasm")).toMatch(/^2 .*a kernel of vISA needs its .ze_info: --zeinfo FILE/);
  mkdirSync(join(cli.work, "folder.json"));
  expect(failing("saxpy.ptx", "-o", "folder.wasm")).toBe(
    "2 lanewise: --output folder.wasm, with folder.json: it is a directory\n",
  );
  cli.write("own.json", readFileSync(join(cli.work, "saxpy.ptx")));
  expect(failing("own.json", "-o", "own.wasm")).toBe(
    "2 lanewise: --output own.wasm, with own.json: own.json is read, and would be overwritten\n",
  );
  cli.write("bad.ptx", ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { ad.u32 a, b, c; }");
  expect(failing("bad.ptx", "-o", "no.wasm")).toMatch(/^1 bad\.ptx:4:/);
  expect(existsSync(join(cli.work, "no.wasm"))).toBe(false);
});
