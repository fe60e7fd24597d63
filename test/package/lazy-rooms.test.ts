import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const dist = new URL("../../dist/", import.meta.url).pathname;
const entries = [
  "index",
  "debugger/index",
  "ide/index",
  "ir/index",
  "node/index",
  "ptx/index",
  "source/index",
  "visa/index",
];

/** The files that Node reads when it imports one, which is among them. */
function filesRead(first: string): ReadonlySet<string> {
  const files = new Set([first]);
  // A set may grow while it is iterated.
  for (const file of files) {
    for (const [, name] of readFileSync(file, "utf8").matchAll(/\b(?:from|import)"(\.[^"]+)"/g)) {
      files.add(join(dirname(file), name!));
    }
  }
  return files;
}

const bytesOf = (files: Iterable<string>): number =>
  Array.from(files, (file) => statSync(file).size).reduce((sum, size) => sum + size, 0);

test("in Node, importing the library reads no room that is loaded late", () => {
  const early = filesRead(join(dist, "lazy/index.js"));
  const rooms = ["ptx", "visa", "engines", "sanitizers"].map((room) => join(dist, `lazy/rooms/${room}.js`));
  for (const room of rooms) expect(early).not.toContain(room);
  const everything = new Set([...early, ...rooms.flatMap((room) => [...filesRead(room)])]);
  expect(bytesOf(early)).toBeLessThan(bytesOf(everything) / 3);
});

test.each(entries)("lanewise/%s exports the same in Node and in browsers", async (entry) => {
  const inNode = (await import(join(dist, `lazy/${entry.replace(/\/index$/, "")}.js`))) as object;
  const inBrowsers = (await import(join(dist, `${entry}.js`))) as object;
  expect(Object.keys(inNode)).toEqual(Object.keys(inBrowsers));
});
