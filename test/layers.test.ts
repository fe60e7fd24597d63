import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";

/** Room to the rooms that it may import. The order is the architecture: read top to bottom. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  source: [],
  numeric: [],
  wasm: [],
  semantics: ["numeric", "wasm"],
  ir: ["source", "semantics"],
  ptx: ["source", "numeric", "semantics", "ir"],
  visa: ["source", "numeric", "semantics", "ir"],
  machine: ["source", "numeric", "wasm", "semantics", "ir"],
  program: ["semantics", "ir", "machine"],
  interpreter: ["numeric", "semantics", "ir", "machine", "program"],
  jit: ["source", "numeric", "wasm", "semantics", "ir", "machine", "program", "interpreter"],
  sanitizers: ["source", "semantics", "ir", "machine"],
  runtime: [
    "source",
    "numeric",
    "wasm",
    "semantics",
    "ir",
    "ptx",
    "visa",
    "machine",
    "program",
    "interpreter",
    "jit",
    "sanitizers",
  ],
  profiler: ["source", "ir", "machine"],
  reports: ["source", "machine"],
  debugger: ["source", "semantics", "ir", "machine", "interpreter", "runtime"],
  node: ["jit", "runtime"],
  index: ["source", "ir", "ptx", "visa", "machine", "runtime", "profiler"],
  cli: [
    "source",
    "numeric",
    "semantics",
    "ir",
    "ptx",
    "visa",
    "machine",
    "interpreter",
    "sanitizers",
    "runtime",
    "profiler",
    "reports",
    "debugger",
    "node",
    "index",
  ],
};
/** The rooms that may use Node; everything else runs in a browser. */
const nodeRooms = ["node", "cli"];

const root = new URL("..", import.meta.url).pathname;
const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((f) => f.endsWith(".ts"))
  .map((f) => join("src", f));
const roomOf = (file: string) =>
  file
    .replace(/^src\//, "")
    .split("/")[0]!
    .replace(/\.ts$/, "");
const importsOf = (file: string) =>
  [...readFileSync(join(root, file), "utf8").matchAll(/\bfrom\s+"([^"]+)"|(?<![".])\bimport\s*\(?\s*"([^"]+)"/g)].map(
    (m) => (m[1] ?? m[2])!,
  );

const imports = files.flatMap((file) => importsOf(file).map((to) => ({ file, to })));

test("every import points to a room above", () => {
  const wrong = imports
    .filter(({ to }) => to.startsWith("."))
    .map(({ file, to }) => ({ file, to: normalize(join(dirname(file), to)) }))
    .filter(({ file, to }) => roomOf(to) !== roomOf(file) && !rooms[roomOf(file)]?.includes(roomOf(to)));
  expect(wrong).toEqual([]);
});

test("the table of rooms is complete and acyclic", () => {
  expect(files.map(roomOf).filter((room) => !(room in rooms))).toEqual([]);
  const seen: string[] = [];
  for (const [room, above] of Object.entries(rooms)) {
    for (const other of above) expect(seen).toContain(other);
    seen.push(room);
  }
});

test("only the rooms for Node import it, or a package", () => {
  const foreign = imports.filter(({ file, to }) => !to.startsWith(".") && !nodeRooms.includes(roomOf(file)));
  expect(foreign).toEqual([]);
});

test("no file is longer than 800 lines", () => {
  const long = files
    .map((file) => ({ file, lines: readFileSync(join(root, file), "utf8").split("\n").length }))
    .filter((f) => f.lines > 800);
  expect(long).toEqual([]);
});
