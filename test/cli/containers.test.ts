import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fixture } from "../container/fixtures.ts";
import { zipOf } from "../container/zip-of.ts";
import { BuiltCli } from "./built-cli.ts";

/* Programs as compilers write them, where a file of assembly may stand. */

let cli: BuiltCli;
const sum = [
  "--kernel",
  "_Z3sumPKfPfi",
  "--block",
  "256",
  "--arg",
  "f32[1000]=iota",
  "--arg",
  "f32[1]",
  "--arg",
  "1000",
];
const opencl = ["--global", "4", "--local", "4", "--arg", "f32[4]=iota", "--arg", "2"];

beforeAll(async () => {
  cli = await BuiltCli.build();
  for (const name of ["sum-zstd.fatbin", "sum-raw.fatbin", "fill.fatbin", "two.exe", "other.cubin", "scale.bin"]) {
    cli.write(name, fixture(name));
  }
  cli.write("linked.a", fixture("linked-with-a-long-name.a"));
  cli.write("dumps/OCL_asm1.progbin", fixture("scale.bin"));
  cli.write("dumps.zip", zipOf({ "OCL_asm1.progbin": fixture("scale.bin"), "readme.txt": "" }, true));
  cli.write("reduce.cu", "__global__ void k() {}\n");
  cli.write("job.json", JSON.stringify(job));
});
afterAll(() => cli?.remove());

const job = {
  id: "fill",
  variants: { fatbin: ["fill.fatbin"], exe: ["two.exe"] },
  buffers: { out: { type: "s32", n: 4 } },
  launches: [{ kernel: "_Z4fillPii", grid: [1], block: [4], args: [{ buf: "out" }, { s32: 5 }] }],
  checks: [{ buf: "out", type: "s32", n: 4, cmp: "exact", all: [5, 5, 5, 5] }],
};

describe("run", () => {
  test.each(["sum-zstd.fatbin", "sum-raw.fatbin"])("%s", (name) => {
    const { stdout, status } = cli.run("run", name, ...sum);
    expect(stdout).toBe("argument 1, f32[1]: 999000\n");
    expect(status).toBe(0);
  });
  test("an archive of objects that are to be linked", () => {
    expect(cli.run("run", "linked.a", "--block", "4", "--arg", "s32[4]").stdout).toBe("argument 0, s32[4]: 0 2 4 6\n");
  });
  test.each(["scale.bin", "dumps", "dumps.zip"])("OpenCL: %s", (name) => {
    expect(cli.run("run", name, ...opencl)).toMatchObject({ stdout: "argument 0, f32[4]: 0 2 4 6\n", status: 0 });
  });
  test("a job names OpenCL programs", () => {
    const variants = ["scale.bin", "dumps", "dumps.zip"].map((path) => [path, { modules: [`../${path}`] }]);
    const program = { id: "scale", isa: "visa", variants: Object.fromEntries(variants) };
    const args = [{ buf: "x" }, { f32: 3 }];
    const launches = [{ kernel: "scale", global: [4], local: [4], args }];
    const buffers = { x: { type: "f32", n: 4, init: { gen: "iota" } } };
    const checks = [{ buf: "x", type: "f32", n: 4, cmp: "exact", all: [0, 3, 6, 9] }];
    cli.write("jobs/scale.json", JSON.stringify({ ...program, buffers, launches, checks }));
    const { stdout, stderr, status } = cli.run("run", "jobs/scale.json");
    // On a busy machine there is progress to tell.
    const said = stderr.replace(/^.*: block \d+ of \d+.*\n/gm, "");
    expect({ said, status }).toEqual({ said: "", status: 0 });
    expect(stdout.match(/^ok/gm)).toHaveLength(3);
    cli.write("jobs/none.json", JSON.stringify({ ...program, variants: { x: { modules: ["."] } }, buffers, launches }));
    const none = cli.run("run", "jobs/none.json");
    expect(none.stdout + none.stderr).toContain("jobs is a folder that has no vISA text");
    expect(none.status).toBe(2);
  });
  test("a job names an executable", () => {
    const { stdout, stderr } = cli.run("run", "job.json");
    expect(stderr).toBe("");
    expect(stdout).toMatch(/^ok {4}fill fatbin.*\nok {4}fill exe.*\n2 passed\n$/);
  });
  test("the module where several have the kernel", () => {
    const words = ["run", "two.exe", "--kernel", "_Z3ownPi", "--arg", "s32[1]"];
    expect(cli.run(...words).stderr).toContain('several modules have a kernel "own(int*)": fill, other');
    // What the sources say: fill.cu stores 1, other.cu stores 2.
    expect(cli.run(...words, "--module", "fill").stdout).toBe("argument 0, s32[1]: 1\n");
    expect(cli.run(...words, "--module", "other").stdout).toBe("argument 0, s32[1]: 2\n");
  });
  test("findings name the member and its line", () => {
    const { stdout, status } = cli.run(
      "run",
      "two.exe",
      "--kernel",
      "_Z4fillPii",
      "--block",
      "2",
      "--arg",
      "s32[1]",
      "--arg",
      "1",
    );
    expect(stdout).toContain("two.exe:fill.sm_75.ptx:");
    expect(status).toBe(3);
  });
});

test("check has all PTX of all modules", () => {
  const { stdout } = cli.run("check", "fill.fatbin", "two.exe", "--json");
  const { files } = JSON.parse(stdout) as { files: { path: string; ok: boolean }[] };
  expect(files.map(({ path, ok }) => `${path} ${ok}`)).toEqual([
    "fill.fatbin:fill.sm_90a.ptx true",
    "fill.fatbin:fill.sm_80.ptx true",
    "two.exe:fill.sm_75.ptx true",
    "two.exe:other.sm_75.ptx true",
  ]);
});

test("link takes the PTX of a program out", () => {
  expect(cli.run("link", "linked.a").stdout).toContain(".visible .entry _Z7doubledPi");
  expect(cli.run("link", "two.exe", "--module", "other").stdout).toContain(".entry _Z3ownPi");
});

describe("list", () => {
  test("for people", () => {
    const { stdout, status } = cli.run("list", "fill.fatbin");
    expect(stdout).toBe(`fill.fatbin: fat binary, 2 kernels

  module  code          target  version  compressed  bytes
  fill    PTX           sm_80   9.0      zstd          618
          PTX           sm_90a  9.0      zstd          619  taken
          machine code  sm_90a                       5,200

  runs here  shared  registers  kernel
  yes             0          8  own(int*)
  yes             0         10  fill(int*, int)
`);
    expect(status).toBe(0);
  });
  test("for machines, of several files", () => {
    const { stdout, status } = cli.run("list", "sum-raw.fatbin", "none", "scale.bin", "--json");
    const { files, errors } = JSON.parse(stdout) as { files: object[]; errors: string[] };
    expect(errors).toEqual(["cannot read none: there is no such file"]);
    expect(status).toBe(2);
    expect(files).toEqual([
      {
        path: "sum-raw.fatbin",
        format: "fat binary",
        modules: [
          {
            name: "sum",
            relocatable: false,
            images: [
              {
                ...{ kind: "ptx", target: "sm_75", version: "9.0", options: "--generate-line-info" },
                ...{ compression: "none", storedBytes: 2432, bytes: 2432, taken: true },
              },
            ],
          },
        ],
        kernels: [
          kernel("_Z3sumPKfPfi", "sum(float const*, float*, int)", { module: "sum", sharedBytes: 1024 }),
          kernel("_Z5scaleIfEvPT_S0_", "scale<float>(float*, float)", { module: "sum" }),
        ],
        problems: [],
      },
      {
        ...{ path: "scale.bin", format: "OpenCL binary (zebin)", modules: [], problems: [] },
        kernels: [kernel("scale", "scale(pointer x, f32 k)", {})],
      },
    ]);
  });
  test("why a kernel cannot be run", () => {
    const { stdout, stderr, status } = cli.run("list", "other.cubin");
    expect(stdout).toContain("there is machine code alone, no PTX");
    expect(stderr).toContain("compile with -gencode arch=compute_80,code=compute_80, or with nvcc -ptx");
    expect(status).toBe(1);
  });
});

const kernel = (name: string, signature: string, more: object): object => ({
  ...{
    name,
    signature,
    module: "",
    sharedBytes: 0,
    dynamicShared: false,
    registers: null,
    obstacle: null,
  },
  ...more,
});

describe("a source of CUDA", () => {
  /** Runs the command line with this script as the only nvcc. */
  const withCompiler = (script: string, ...args: string[]) => {
    const bin = join(cli.folder, "bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "nvcc"), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, "nvcc"), 0o755);
    const before = process.env["PATH"];
    process.env["PATH"] = [bin, before].join(delimiter);
    try {
      return cli.run(...args);
    } finally {
      process.env["PATH"] = before;
    }
  };
  const ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n    ret;\n}\n";

  test("is compiled by nvcc", () => {
    const script = `[ "$1 $2 $3" = "-ptx -lineinfo -arch=sm_80" ] && printf '%s' '${ptx}' > "$5"`;
    const { stdout, status } = withCompiler(script, "list", "reduce.cu", "--target", "sm_80");
    expect(stdout).toMatch(/^reduce\.cu:reduce\.ptx: PTX, 1 kernel\n/);
    expect(status).toBe(0);
    expect(withCompiler(script, "run", "reduce.cu", "--target", "sm_80").stderr).toMatch(/^k: 1 thread/);
  });
  test("has its compiler's errors shown", () => {
    const { stdout, stderr, status } = withCompiler(
      "echo 'reduce.cu(1): error' >&2; exit 2",
      "run",
      "reduce.cu",
      "--json",
    );
    expect(stderr).toBe("reduce.cu(1): error\nlanewise: reduce.cu does not compile (nvcc)\n");
    expect(JSON.parse(stdout)).toEqual({ ok: false, error: "reduce.cu does not compile (nvcc)" });
    expect(status).toBe(1);
  });
  test("is explained where there is no compiler", () => {
    const { PATH, CUDA_PATH } = process.env;
    Object.assign(process.env, { PATH: join(cli.folder, "none"), CUDA_PATH: join(cli.folder, "none") });
    try {
      const { stderr, status } = cli.run("run", "reduce.cu", "--target", "sm_90");
      expect(stderr).toContain("reduce.cu is CUDA C++, and there is no compiler for it here");
      expect(stderr).toContain("run: nvcc -ptx -lineinfo -arch=sm_90 -o reduce.ptx reduce.cu");
      expect(status).toBe(2);
    } finally {
      process.env["PATH"] = PATH;
      if (CUDA_PATH === undefined) delete process.env["CUDA_PATH"];
      else process.env["CUDA_PATH"] = CUDA_PATH;
    }
  });
});
