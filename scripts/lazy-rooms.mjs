// Node reads code that a program does not use yet only when it is used: the library for Node has rooms that are loaded
// when one of their functions is called first, and so has the command line. In a browser, where nothing can be loaded
// without waiting, all is there from the beginning.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { parseAst } from "rolldown/parseAst";

/** The modules by which others enter a room. They export functions and types, nothing else. */
const rooms = {
  ptx: ["runtime/device/compile.ts", "runtime/device/needed-modules.ts"],
  visa: ["runtime/visa/compile.ts"],
  engines: ["runtime/device/open-engines.ts"],
  // Launches of kernels that are kept by a store need neither of these.
  compiler: ["jit/run/open-compiler.ts"],
  host: ["jit/run/open-host.ts"],
  // Kernels of vISA that run as their work items.
  items: ["ir/flow/work-items.ts", "ir/flow/call-turns.ts", "ir/flow/file-promotion.ts"],
  interpreter: ["interpreter/index.ts", "runtime/device/begin-execution.ts"],
  // What units of the machine do for the lanes of a warp.
  units: ["program/units/index.ts"],
  standalone: ["runtime/standalone/standalone.ts"],
  schema: ["runtime/job/job-schema-rules.ts"],
  explore: ["runtime/explore/explore.ts"],
  containers: ["container/read-container.ts", "container/fat-binary.ts", "container/cubin.ts", "container/inflate.ts"],
  names: ["names/read-name.ts"],
  sanitizers: ["sanitizers/index.ts"],
  watch: ["jit/compile/watch/weave.ts"],
  native: ["node/native/index.ts"],
};

/**
 * The file that loads rooms, as package.json names it among its `imports`. All of the library for Node is CommonJS: an
 * ES module cannot load another without waiting, and Node takes stored code for CommonJS alone.
 */
const loader = "#rooms";

/** The module that says how rooms are loaded: in the sources none is, since all is there from the beginning. */
const lateRooms = "node/late-rooms.ts";

/** The entry points of the rooms, by the name of their file. */
export const roomEntries = () =>
  Object.fromEntries(Object.keys(rooms).map((room) => [`rooms/${room}`, `room:${room}`]));

/**
 * The rooms that the command line loads late: most commands need none of them. Its files lie in one folder, and the one
 * of this name loads the rooms.
 */
export const cliRooms = {
  names: [
    "compiler",
    "host",
    "items",
    "interpreter",
    "units",
    "standalone",
    "schema",
    "explore",
    "sanitizers",
    "watch",
  ],
  loader: "./rooms.cjs",
};

export const cliRoomEntries = () => Object.fromEntries(cliRooms.names.map((room) => [`room-${room}`, `room:${room}`]));

export const cliLoaderText = () => `"use strict";
${cliRooms.names.map((room) => `exports.${room} = () => require("./room-${room}.cjs");\n`).join("")}`;

/**
 * The text of the file that loads the rooms. Bundlers follow calls of `require` with a constant. Where one has put the
 * rooms into a file of its own, or something else than Node loads them, they are loaded in no other way.
 */
export const loaderText = () => `"use strict";
let load = null;
${Object.keys(rooms)
  .map(
    (room) => `exports.${room} = () => load === null ? require("./rooms/${room}.cjs") : load("rooms/${room}.cjs");\n`,
  )
  .join("")}
exports.loadWith = (loaderOf) => {
  if (typeof __filename !== "string" || require.cache?.[__filename] !== module) return;
  load ??= loaderOf(__dirname);
};
`;

/**
 * Replaces what is imported from rooms by functions that load them. `root` is the project's; `names`: of the rooms;
 * `from`: the file that loads them.
 */
export function lazyRooms(root, { names, loader: from } = { names: Object.keys(rooms), loader }) {
  const roomOf = new Map(names.flatMap((room) => rooms[room].map((file) => [join(root, "src", file), room])));
  return {
    name: "lazy-rooms",
    resolveId(id, importer) {
      if (id.startsWith("room:")) return id;
      if (id === from) return { id, external: true };
      if (importer === undefined || importer.startsWith("room:") || !id.startsWith(".")) return null;
      const path = resolve(dirname(importer), id);
      return roomOf.has(path) ? `${path}?lazy` : null;
    },
    load(id) {
      if (id.startsWith("room:")) {
        const files = rooms[id.slice("room:".length)];
        return files.map((file) => `export * from ${JSON.stringify(join(root, "src", file))};\n`).join("");
      }
      if (id === join(root, "src", lateRooms) && from === loader) {
        return `import rooms from ${JSON.stringify(loader)};\nexport const lateRooms = rooms;\n`;
      }
      if (!id.endsWith("?lazy")) return null;
      const path = id.slice(0, -"?lazy".length);
      const forward = functionsOf(path).map(
        (name) => `export const ${name} = (...values) => rooms.${roomOf.get(path)}().${name}(...values);\n`,
      );
      return `import rooms from ${JSON.stringify(from)};\n${forward.join("")}`;
    },
  };
}

/** Modules of Node that take some milliseconds to load, and of which few commands need any. Their functions are used. */
const lateBuiltins = ["node:child_process", "node:crypto"];

/** Loads these modules when one of their functions is called first. */
export function lazyBuiltins() {
  const require = createRequire(import.meta.url);
  return {
    name: "lazy-builtins",
    resolveId: (id) => (lateBuiltins.includes(id) ? `late:${id}` : null),
    load(id) {
      if (!id.startsWith("late:")) return null;
      const name = id.slice("late:".length);
      const exported = Object.entries(require(name));
      const functions = exported.filter(([key, value]) => typeof value === "function" && /^[a-z]\w*$/.test(key));
      const own = `const own = () => process.getBuiltinModule(${JSON.stringify(name)});\n`;
      return own + functions.map(([key]) => `export const ${key} = (...values) => own().${key}(...values);\n`).join("");
    },
  };
}

/** The names of the functions that a module exports, itself or from others. Throws if it exports other values. */
function functionsOf(path) {
  const { body } = parseAst(readFileSync(path, "utf8"), { lang: "ts" });
  return body.flatMap((node) => {
    if (node.type !== "ExportNamedDeclaration" || node.exportKind === "type") return [];
    const { declaration, source, specifiers } = node;
    const fromOther = source ? functionsOf(resolve(dirname(path), source.value)) : [];
    const names = specifiers.filter(({ exportKind }) => exportKind !== "type").map(({ exported }) => exported.name);
    if (names.length > 0 && names.every((name) => fromOther.includes(name))) return names;
    if (declaration?.type === "FunctionDeclaration") return [declaration.id.name];
    const functions = declaration?.type === "VariableDeclaration" ? declaration.declarations : [];
    if (functions.length > 0 && functions.every(({ init }) => init?.type === "ArrowFunctionExpression")) {
      return functions.map(({ id }) => id.name);
    }
    throw new Error(`${path}: it is loaded late, and may export functions and types alone`);
  });
}
