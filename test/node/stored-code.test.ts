import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { CodeFolder } from "../../src/node/code-folder.ts";
import { StoredCode } from "../../src/node/stored-code.ts";

const folder = mkdtempSync(join(tmpdir(), "lanewise-code-"));
afterAll(() => rmSync(folder, { recursive: true }));

const sources = join(folder, "sources");
const store = join(folder, "private", "store");
mkdirSync(sources);
const write = (name: string, text: string): void => writeFileSync(join(sources, name), text);
write("main.cjs", `const { twice } = require("./part.cjs"); exports.answer = (n) => twice(n) + __filename.length;`);
write("part.cjs", `const { basename } = require("node:path"); exports.twice = (n) => 2 * n + basename("a/b").length;`);
const nameLength = join(sources, "main.cjs").length;

/** The answer of a process that begins now, and what it has had to compile. */
function answer(): { readonly value: number; readonly compiled: readonly string[] } {
  const code = new StoredCode(sources, new CodeFolder(store));
  const { answer: of } = code.load("main.cjs") as { answer: (n: number) => number };
  const value = of(20) - nameLength;
  const before = new Map(stored().map((name) => [name, statSync(join(store, name)).ino]));
  code.save();
  return { value, compiled: stored().filter((name) => statSync(join(store, name)).ino !== before.get(name)) };
}

function stored(): readonly string[] {
  try {
    return readdirSync(store).sort();
  } catch {
    return [];
  }
}

describe("code that V8 has compiled", () => {
  test("is stored once, and taken from then on", () => {
    expect(answer()).toEqual({ value: 41, compiled: ["main.code", "part.code"] });
    expect(statSync(store).mode & 0o077).toBe(0);
    expect(answer()).toEqual({ value: 41, compiled: [] });
  });

  test("is that of the text as it is", () => {
    answer();
    // As long as before: V8 itself only compares lengths.
    write("part.cjs", readFileSync(join(sources, "part.cjs"), "utf8").replace("2 * n", "3 * n"));
    expect(answer()).toEqual({ value: 61, compiled: ["part.code"] });
    write("part.cjs", readFileSync(join(sources, "part.cjs"), "utf8").replace("3 * n", "2 * n"));
    expect(answer()).toEqual({ value: 41, compiled: ["part.code"] });
  });

  test("may be of text that is not ASCII", () => {
    const ascii = readFileSync(join(sources, "part.cjs"), "utf8");
    write("part.cjs", `${ascii} const [a, b] = ["→", "é\u{1f600}"]; exports.text = a + b;`);
    for (const compiled of [["part.code"], []]) {
      expect(answer()).toEqual({ value: 41, compiled });
      const part = new StoredCode(sources, new CodeFolder(store)).load("part.cjs");
      expect(part).toMatchObject({ text: "\u2192\u00e9\u{1f600}" });
    }
    write("part.cjs", ascii);
    answer();
  });

  test.each<[string, (bytes: Buffer) => Uint8Array]>([
    ["empty", () => new Uint8Array()],
    ["a part of a header", (bytes) => bytes.subarray(0, 9)],
    ["a header alone", (bytes) => bytes.subarray(0, 16)],
    ["cut off", (bytes) => bytes.subarray(0, bytes.length >> 1)],
    [
      "changed in the middle",
      (bytes) => bytes.fill(bytes[bytes.length >> 1]! ^ 1, bytes.length >> 1, (bytes.length >> 1) + 1),
    ],
    ["random", (bytes) => bytes.map((_, i) => (i * 2654435761) >>> 24)],
  ])("is compiled again if the file is %s", (_, damage) => {
    answer();
    const path = join(store, "part.code");
    writeFileSync(path, damage(readFileSync(path)));
    expect(answer()).toEqual({ value: 41, compiled: ["part.code"] });
    expect(answer()).toEqual({ value: 41, compiled: [] });
  });

  test("is not stored where nothing can be", () => {
    const code = new StoredCode(sources, new CodeFolder(join(sources, "main.cjs", "store")));
    expect((code.load("main.cjs") as { answer: (n: number) => number }).answer(1) - nameLength).toBe(3);
    code.save();
    expect(readdirSync(sources)).toEqual(["main.cjs", "part.cjs"]);
  });
});
