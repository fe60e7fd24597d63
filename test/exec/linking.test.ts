import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildNative, whyNotNative } from "./native-libraries.ts";

// Expectation: the manual of ld. A library that is given by -l is looked for by the name libNAME.so; undefined symbols
// of libraries that it needs are errors unless they are weak.
const root = join(import.meta.dirname, "../..");

describe.skipIf(whyNotNative() !== null)("programs are linked with -lcuda and -lcudart", () => {
  const folder = mkdtempSync(join(tmpdir(), "lanewise-linking-"));
  const built = join(folder, "native");
  const names = join(folder, "names");

  beforeAll(() => {
    mkdirSync(names);
    buildNative(root, built);
    writeFileSync(
      join(folder, "a.c"),
      "int cuInit(unsigned); int cudaDeviceSynchronize(void);\n" +
        "int main(int n, char **a) { (void)a; return n > 1 ? cuInit(0) + cudaDeviceSynchronize() : 0; }\n",
    );
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const link = () =>
    spawnSync("cc", ["-o", join(folder, "a.out"), join(folder, "a.c"), `-L${names}`, "-lcuda", "-lcudart"], {
      encoding: "utf8",
    });

  // A library names the versions of the functions that it needs from the C library. 2.17 is that of the oldest systems.
  it("where glibc is 2.17 or newer", () => {
    const files = readdirSync(built).filter((name) => /\.(so|node)\b/.test(name));
    const newest = files.map((name) => {
      const minors = readFileSync(join(built, name), "latin1").matchAll(/GLIBC_2\.(\d+)/g);
      return [name, Math.max(0, ...Array.from(minors, ([, minor]) => Number(minor)))] as const;
    });
    expect(newest).toHaveLength(4);
    expect(newest.filter(([, minor]) => minor > 17)).toEqual([]);
  });

  it("by links in a folder without the client library", () => {
    symlinkSync(join(built, "libcuda.so.1"), join(names, "libcuda.so"));
    symlinkSync(join(built, "libcudart.so.13"), join(names, "libcudart.so"));
    const { status, stderr } = link();
    expect(status, stderr).toBe(0);
  });

  it("and find what they call there when they are started", () => {
    for (const name of ["libcuda.so.1", "libcudart.so.13", "liblanewise.so"])
      copyFileSync(join(built, name), join(names, name));
    expect(link().status).toBe(0);
    const ran = spawnSync(join(folder, "a.out"), [], { encoding: "utf8", env: { LD_LIBRARY_PATH: names } });
    expect(ran.status, ran.stderr).toBe(0);
  });
});
