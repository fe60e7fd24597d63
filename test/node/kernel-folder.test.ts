import { spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { afterEach, beforeEach, expect, test } from "vitest";
import { cacheFolder } from "../../src/node/cache-folder.ts";
import { KernelFolder } from "../../src/node/kernel-folder.ts";

const source = fileURLToPath(new URL("../../src/node/kernel-folder.ts", import.meta.url));

let path = "";
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), "lanewise-kernels-"));
});
afterEach(() => rmSync(path, { recursive: true, force: true }));

const entry = (length: number, seed = 1): Uint8Array => Uint8Array.from({ length }, (_, i) => (i * 37 + seed) & 0xff);
const open = (most = 1 << 20, build = "b1"): KernelFolder => new KernelFolder(path, build, most);
const onlyFile = (): string => join(path, readdirSync(path)[0]!);

test("a process finds what another one has kept", () => {
  open().write("saxpy 8 true", entry(1000));
  expect(open().read("saxpy 8 true")).toEqual(entry(1000));
  expect(open().read("saxpy 4 true")).toBeNull();
  expect(readdirSync(path)).toHaveLength(1);
});

test("a newer entry replaces an older one", () => {
  open().write("k", entry(100, 1));
  open().write("k", entry(50, 2));
  expect(open().read("k")).toEqual(entry(50, 2));
});

test("another build of Lanewise finds nothing", () => {
  open(1 << 20, "b1").write("k", entry(10));
  expect(open(1 << 20, "b2").read("k")).toBeNull();
  expect(open(1 << 20, "b1").read("k")).toEqual(entry(10));
});

test("a file with a byte changed or missing is not used, and is removed", () => {
  open().write("k", entry(20));
  const file = onlyFile();
  const whole = readFileSync(file);
  for (let at = 0; at < whole.length; at++) {
    const changed = Uint8Array.from(whole);
    changed[at]! ^= 1 << (at % 8);
    for (const bad of [changed, whole.subarray(0, at)]) {
      writeFileSync(file, bad);
      expect({ at, read: open().read("k"), left: readdirSync(path) }).toEqual({ at, read: null, left: [] });
    }
  }
  writeFileSync(file, whole);
  expect(open().read("k")).toEqual(entry(20));
});

test("an entry under the name of another one is not used", () => {
  open().write("a", entry(20));
  const a = readFileSync(onlyFile());
  open().remove("a");
  open().write("b", entry(20));
  writeFileSync(onlyFile(), a);
  expect(open().read("b")).toBeNull();
});

test("the least recently used entries are removed when there are too many", () => {
  const folder = open(4000);
  const old = (key: string, seconds: number): void => {
    const before = new Set(readdirSync(path));
    open(4000).write(key, entry(1000));
    const file = readdirSync(path).find((f) => !before.has(f))!;
    const time = Date.now() / 1000 - seconds;
    utimesSync(join(path, file), time, time);
  };
  old("a", 300);
  old("b", 200);
  old("c", 100);
  // Reading it makes it the most recently used one.
  expect(folder.read("a")).not.toBeNull();
  folder.write("d", entry(1000));
  const left = ["a", "b", "c", "d"].filter((key) => folder.read(key) !== null);
  expect(left).toEqual(["a", "c", "d"]);
  folder.write("large", entry(4000));
  expect(folder.read("large")).toBeNull();
});

test("foreign files stay, and unfinished ones are removed", () => {
  writeFileSync(join(path, "notes.txt"), "mine".repeat(1000));
  writeFileSync(join(path, "1-0-x.tmp"), "half");
  utimesSync(join(path, "1-0-x.tmp"), 1, 1);
  writeFileSync(join(path, "2-0-x.tmp"), "just now");
  mkdirSync(join(path, "folder.kernel"));
  open(1000).write("k", entry(100));
  expect(readdirSync(path).filter((f) => !f.endsWith(".kernel"))).toEqual(["2-0-x.tmp", "notes.txt"]);
  expect(readdirSync(path)).toContain("folder.kernel");
});

test("where nothing can be written, nothing is kept and nothing is thrown", () => {
  writeFileSync(join(path, "file"), "");
  const folder = new KernelFolder(join(path, "file", "kernels"), "b1", 1 << 20);
  folder.write("k", entry(10));
  expect(folder.read("k")).toBeNull();
  folder.remove("k");
});

// In a child process, which can be killed.
test.runIf(process.platform === "linux")(
  "a pipe, or a place where no folders can be created, does not block",
  async () => {
    const script = join(path, "folder.mjs");
    await build({ input: source, output: { file: script }, platform: "node", logLevel: "silent" });
    const use = (folder: string): string =>
      `const { KernelFolder } = await import(${JSON.stringify(script)});
     const folder = new KernelFolder(${JSON.stringify(folder)}, "b1", 1 << 20);
     console.log(folder.read("k"));
     folder.write("k", new Uint8Array(10));`;
    const kernels = join(path, "kernels");
    new KernelFolder(kernels, "b1", 1 << 20).write("k", entry(20));
    const file = join(kernels, readdirSync(kernels)[0]!);
    rmSync(file);
    expect(spawnSync("mkfifo", [file]).status).toBe(0);
    for (const folder of [kernels, "/proc/lanewise/kernels"]) {
      const options = { timeout: 120_000, encoding: "utf8" } as const;
      const ended = spawnSync(process.execPath, ["--input-type=module", "-e", use(folder)], options);
      expect({ folder, ...ended }).toMatchObject({ folder, status: 0, stdout: "null\n" });
    }
    expect(new KernelFolder(kernels, "b1", 1 << 20).read("k")).toEqual(new Uint8Array(10));
  },
);

test.runIf(process.getuid !== undefined)("a folder to which others can write is refused, with a reason", () => {
  const whole = join(path, "user", "kernels");
  const refusedOf = (): { readonly found: Uint8Array | null; readonly reasons: string[] } => {
    const reasons: string[] = [];
    const folder = new KernelFolder(whole, "b1", 1 << 20, (why) => reasons.push(why));
    const found = folder.read("k");
    folder.write("other", entry(5));
    return { found, reasons };
  };
  expect(refusedOf()).toEqual({ found: null, reasons: [] });
  new KernelFolder(whole, "b1", 1 << 20).write("k", entry(10));
  for (const [folder, mode] of [
    [whole, 0o777],
    [whole, 0o770],
    [whole, 0o702],
    [join(path, "user"), 0o777],
  ] as const) {
    const before = readdirSync(whole);
    chmodSync(folder, mode);
    expect(refusedOf()).toEqual({ found: null, reasons: [`others can write to ${folder}`] });
    expect(readdirSync(whole)).toEqual(before);
    chmodSync(folder, 0o755);
    expect(refusedOf()).toEqual({ found: entry(10), reasons: [] });
  }
  // As /tmp is: nobody else can move what the user has put there.
  chmodSync(join(path, "user"), 0o1777);
  expect(refusedOf()).toEqual({ found: entry(10), reasons: [] });
});

test("the folder and its parents are created", () => {
  const folder = new KernelFolder(join(path, "a", "b"), "b1", 1 << 20);
  folder.write("k", entry(10));
  expect(folder.read("k")).toEqual(entry(10));
});

test("the folder is the platform's, or the one of LANEWISE_CACHE", () => {
  expect(cacheFolder({ LANEWISE_CACHE: "/x" }, "linux")).toBe("/x");
  expect(cacheFolder({ LANEWISE_CACHE: "" }, "linux")).toBeNull();
  expect(cacheFolder({ LANEWISE_CACHE: "off" }, "darwin")).toBeNull();
  expect(cacheFolder({ XDG_CACHE_HOME: "/c" }, "linux")).toBe("/c/lanewise");
  expect(cacheFolder({ XDG_CACHE_HOME: "relative" }, "linux")).toMatch(/\/\.cache\/lanewise$/);
  expect(cacheFolder({}, "darwin")).toMatch(/\/Library\/Caches\/lanewise$/);
  expect(cacheFolder({ LOCALAPPDATA: "/local" }, "win32")).toBe("/local/lanewise");
});
