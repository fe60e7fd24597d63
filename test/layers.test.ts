import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { expect, test } from "vitest";

/** Room to the rooms that it may import. The order is the architecture: read top to bottom. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  names: [],
  source: ["names"],
  numeric: [],
  container: ["source"],
  wasm: [],
  cc: ["wasm"],
  semantics: ["numeric", "wasm"],
  dwarf: ["names"],
  ir: ["source", "numeric", "dwarf", "semantics"],
  ptx: ["source", "numeric", "dwarf", "semantics", "ir"],
  visa: ["source", "numeric", "semantics", "ir"],
  machine: ["source", "numeric", "wasm", "semantics", "ir"],
  tiles: ["numeric", "wasm", "ir"],
  program: ["numeric", "semantics", "ir", "machine", "tiles"],
  interpreter: ["numeric", "semantics", "ir", "machine", "program"],
  jit: ["source", "numeric", "wasm", "semantics", "ir", "machine", "tiles", "program", "interpreter"],
  sanitizers: ["source", "semantics", "ir", "machine"],
  runtime: [
    "source",
    "names",
    "numeric",
    "container",
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
  ide: ["source", "names", "semantics", "ir", "ptx", "visa"],
  profiler: ["source", "names", "semantics", "ir", "machine"],
  reports: ["source", "names", "machine"],
  debugger: ["source", "names", "numeric", "dwarf", "semantics", "ir", "machine", "program", "interpreter", "runtime"],
  cuda: ["source", "names", "numeric", "container", "ir", "ptx", "machine", "runtime"],
  node: ["names", "container", "machine", "dwarf", "wasm", "cc", "jit", "runtime", "cuda"],
  index: ["source", "names", "container", "ir", "ptx", "visa", "machine", "runtime", "profiler"],
  cli: [
    "source",
    "names",
    "numeric",
    "container",
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
    "cuda",
    "node",
    "index",
    "ide",
  ],
};
/** The rooms that may use Node; everything else runs in a browser. */
const nodeRooms = ["node", "cli"];

/**
 * Sub-room to its place in the order of its room: a file imports from its own sub-room and from those above it. A room
 * that has files of its own beside its sub-rooms stands in its list by its own name.
 */
const subRooms: Readonly<Record<string, readonly string[]>> = {
  machine: ["reports", "images", "memory", "state", "faults", "."],
  interpreter: ["compile", "ops", "schedule", "."],
  jit: [
    "abi",
    "compile/lanes",
    "compile/analysis/code",
    "compile/analysis/values",
    "compile/analysis/flow",
    "compile/analysis/access",
    "compile/analysis/versions",
    "compile/analysis",
    "compile/watch",
    "compile/plan",
    "compile/module",
    "compile/emit",
    "compile/memory",
    "compile/sync",
    "compile/control",
    "compile/regions",
    "compile/calls",
    "compile/kernel",
    "threads",
    "run",
  ],
  ide: ["base", "ptx", "visa", "."],
  cuda: ["base", "record", "work", "state", "run", "api", "api/graphs", "api/textures", "api/driver", "."],
  runtime: ["data", "launch", "visa", "device", "job", "explore", "standalone", "."],
  cli: ["terminal", "options", "runs", "profile", "schemas", "lsp", "commands", "."],
};

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
/** Imports between files of `src/`, type imports included. */
const inside = imports
  .filter(({ to }) => to.startsWith("."))
  .map(({ file, to }) => ({ file, to: normalize(join(dirname(file), to)) }));

test("every import points to a room above", () => {
  const wrong = inside.filter(
    ({ file, to }) => roomOf(to) !== roomOf(file) && !rooms[roomOf(file)]?.includes(roomOf(to)),
  );
  expect(wrong).toEqual([]);
});

test.each(Object.keys(subRooms))("within %s every import points to a sub-room above", (room) => {
  const order = subRooms[room]!;
  const placeOf = (file: string): number => order.indexOf(relative(`src/${room}`, dirname(file)) || ".");
  const own = files.filter((file) => roomOf(file) === room);
  expect(own.filter((file) => placeOf(file) < 0)).toEqual([]);
  const wrong = inside.filter(
    ({ file, to }) => roomOf(file) === room && roomOf(to) === room && placeOf(to) > placeOf(file),
  );
  expect(wrong).toEqual([]);
});

test("no files import each other in a circle, types included", () => {
  expect(circlesIn(files, inside)).toEqual([]);
});

test("the search for circles finds them", () => {
  const edges = ["ab", "bc", "ca", "cd", "de", "ed", "ff"].map(([file, to]) => ({ file: file!, to: to! }));
  expect(circlesIn([..."abcdefg"], edges)).toEqual([["a", "b", "c"], ["d", "e"], ["f"]]);
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

test("no file is longer than 400 lines", () => {
  const long = files
    .map((file) => ({ file, lines: readFileSync(join(root, file), "utf8").split("\n").length }))
    .filter((f) => f.lines > 401);
  expect(long).toEqual([]);
});

test("no line of a comment is longer than 120 columns", () => {
  const isComment = /^\s*(\/\/|\/\*|\*)/;
  const long = files.flatMap((file) =>
    readFileSync(join(root, file), "utf8")
      .split("\n")
      .flatMap((line, i) => (line.length > 120 && isComment.test(line) ? [`${file}:${i + 1}`] : [])),
  );
  expect(long).toEqual([]);
});

/** Groups of files of which each imports every other, directly or through others of the group. */
function circlesIn(nodes: readonly string[], edges: readonly { file: string; to: string }[]): string[][] {
  const next = new Map(nodes.map((node) => [node, edges.filter(({ file }) => file === node).map(({ to }) => to)]));
  const reachable = new Map(
    nodes.map((node) => {
      const seen = new Set<string>();
      const todo = [...next.get(node)!];
      for (let at = todo.pop(); at !== undefined; at = todo.pop()) {
        if (seen.has(at)) continue;
        seen.add(at);
        todo.push(...(next.get(at) ?? []));
      }
      return [node, seen];
    }),
  );
  const circles = nodes
    .filter((node) => reachable.get(node)!.has(node))
    .map((node) => nodes.filter((other) => reachable.get(node)!.has(other) && reachable.get(other)!.has(node)));
  return circles.filter((circle, i) => circles.findIndex((c) => c[0] === circle[0]) === i);
}
