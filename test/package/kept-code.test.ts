import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const lazy = new URL("../../dist/lazy/", import.meta.url).pathname;
const moduleFile = (name: string): string => JSON.stringify(join(lazy, `${name}.js`));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lanewise-code-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Opens the folder, if `opening` is its text, and adds a number to each of 64 others in a kernel. */
const adding = (n: number, opening: string): string => `
  import { Device, LoadError } from ${moduleFile("index")};
  import { openKernelFolder } from ${moduleFile("node")};
  const text = \`.version 8.0
    .target sm_80
    .address_size 64
    .visible .entry add(.param .u64 at)
    {
      .reg .b32 %r<3>; .reg .b64 %rd<4>;
      ld.param.u64 %rd1, [at]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;
      ld.global.u32 %r2, [%rd3]; add.u32 %r2, %r2, ${n}; st.global.u32 [%rd3], %r2;
      ret;
    }\`;
  const device = new Device({ kernelStore: ${opening} });
  const numbers = device.buffer(new Uint32Array(64).fill(5));
  const result = device.load(text).kernel("add").launch({ grid: 1, block: 64, args: [numbers] });
  if (!result.ok || result.engine !== "jit" || numbers.read().some((n) => n !== ${5 + n})) {
    throw new Error("a wrong result");
  }
  // A room that is opened by Node itself and one that is opened with kept code have the same classes.
  const { parsePtx } = await import(${moduleFile("ptx")});
  if (typeof parsePtx !== "function") throw new Error("nothing to read PTX with");
  try {
    device.load("what");
    throw new Error("it was loaded");
  } catch (error) {
    if (!(error instanceof LoadError)) throw error;
  }
  console.log("right");`;

/** Runs such a program and returns what it prints. */
function run(
  n: number,
  { flags = [] as string[], env = {}, opening = `openKernelFolder({ path: ${JSON.stringify(folder)} })` } = {},
): string {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [...flags, "--input-type=module", "--eval", adding(n, opening)],
    {
      encoding: "utf8",
      env: { ...process.env, ...env },
    },
  );
  return `${stdout}${stderr}`.trim();
}

/** The kept code: the numbers of the files by their names. */
const kept = (): ReadonlyMap<string, number> => {
  const code = join(folder, "code");
  if (!existsSync(code)) return new Map();
  return new Map(readdirSync(code).map((name) => [name, statSync(join(code, name)).ino]));
};

const largest = (): string =>
  Array.from(kept().keys(), (name) => join(folder, "code", name)).sort(
    (a, b) => statSync(b).size - statSync(a).size,
  )[0]!;

describe("V8's code of the library", () => {
  test("is kept in the folder of kernels, and used for other kernels", () => {
    expect(run(1)).toBe("right");
    const first = kept();
    expect(first.size).toBeGreaterThan(3);
    // The compiler alone has some hundred kilobytes.
    expect(statSync(largest()).size).toBeGreaterThan(300_000);
    expect(statSync(join(folder, "code")).mode & 0o077).toBe(0);
    expect(run(2)).toBe("right");
    expect(kept()).toEqual(first);
  });

  test("is made again if it is damaged", () => {
    expect(run(1)).toBe("right");
    const first = kept();
    const path = largest();
    const bytes = readFileSync(path);
    bytes[bytes.length >> 1]! ^= 1;
    writeFileSync(path, bytes);
    expect(run(2)).toBe("right");
    expect([...kept().keys()].sort()).toEqual([...first.keys()].sort());
    expect(readFileSync(path).equals(bytes)).toBe(false);
    const second = kept();
    expect(run(3)).toBe("right");
    expect(kept()).toEqual(second);
  });

  test("is not that of processes with other flags", () => {
    expect(run(1)).toBe("right");
    const first = kept();
    expect(run(2, { flags: ["--no-opt"] })).toBe("right");
    expect(kept().size).toBe(2 * first.size);
    expect(run(3, { flags: ["--no-opt"] })).toBe("right");
    expect(kept().size).toBe(2 * first.size);
  });

  test("is left alone where Node is asked for stacks in terms of the sources", () => {
    expect(run(1, { flags: ["--enable-source-maps"] })).toBe("right");
    expect(kept().size).toBe(0);
  });

  test("is not kept, and nothing is written, where no folder is opened", () => {
    expect(run(1, { opening: "null", env: { HOME: folder, XDG_CACHE_HOME: folder, LANEWISE_CACHE: folder } })).toBe(
      "right",
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  test("is not kept where nothing can be written", () => {
    const file = join(folder, "file");
    writeFileSync(file, "");
    expect(run(1, { opening: `openKernelFolder({ path: ${JSON.stringify(join(file, "in"))} })` })).toBe("right");
    expect(readdirSync(folder)).toEqual(["file"]);
  });

  test.skipIf(process.getuid === undefined)("is not taken from a folder to which others can write", () => {
    mkdirSync(join(folder, "code"));
    chmodSync(join(folder, "code"), 0o777);
    expect(run(1)).toBe("right");
    expect(kept().size).toBe(0);
  });

  test("is kept by workers of a program", () => {
    const program = join(folder, "worker.mjs");
    writeFileSync(program, adding(7, `openKernelFolder({ path: ${JSON.stringify(folder)} })`));
    const main = join(folder, "main.mjs");
    const starting = `import { Worker } from "node:worker_threads";\nnew Worker(${JSON.stringify(program)});\n`;
    writeFileSync(main, starting);
    for (let round = 0; round < 2; round++) {
      const { stdout, stderr } = spawnSync(process.execPath, [main], { encoding: "utf8" });
      expect(`${stdout}${stderr}`.trim()).toBe("right");
    }
    expect(kept().size).toBeGreaterThan(3);
  });
});
