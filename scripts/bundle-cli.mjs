// The command line as few files: what starts a command, PTX, vISA, the engine, YAML, PNG and the readers of binaries
// each in some of their own, loaded when a command needs them. One file of all would cost every command the time to
// read what it does not need.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { cliLoaderText, cliRoomEntries, cliRooms, lazyBuiltins, lazyRooms } from "./lazy-rooms.mjs";
import { writeBundle } from "./write-bundle.mjs";

/** The first that a module's path matches; the rest goes where it is used. */
const files = [
  [/^late:|\?lazy$|\/src\/names\//, "base"],
  [/\/node_modules\/yaml\//, "yaml"],
  [/\/node_modules\/vscode-/, "language-server"],
  [/\/src\/ide\//, "ide"],
  [/\/node_modules\/(fast-png|fflate|iobuffer)\//, "png"],
  [/\/src\/(container\/sniff|runtime\/visa\/is-opencl)\.ts/, "base"],
  [/\/src\/(container\/|runtime\/visa\/opencl-program\.ts)/, "container"],
  [/\/src\/(source\/|runtime\/data\/(errors|isa|source-file)\.ts|visa\/isa\/row\.ts)/, "base"],
  [/\/src\/node\/(cache-folder|build-id|clock)\.ts/, "base"],
  [
    /\/src\/cli\/(options\/(command|options|open-terminal|isa-of-file|is-opencl)|terminal\/(terminal|files|origin-files|wrap))\.ts/,
    "base",
  ],
  [/\/src\/(visa\/|runtime\/visa\/check\.ts)/, "visa"],
  [/\/src\/(numeric|wasm|dwarf|semantics|ir)\//, "semantics"],
  [/\/src\/(ptx\/|runtime\/(device\/compile|launch\/provided-names)\.ts)/, "ptx"],
  [/\/src\/runtime\/(visa\/|standalone\/|device\/(device|visa-listing)\.ts)/, "visa-programs"],
  [/\/src\/(machine\/|program\/)/, "engine"],
  [/\/src\/runtime\//, "runtime"],
];

/**
 * Writes `main.js` and what it loads into a folder. `root` is the project's. The rest are files of CommonJS, for which
 * Node can store what it has compiled.
 */
export async function bundleCli(root, dir) {
  await writeBundle(root, {
    files: [],
    input: { input: { main: `${root}/src/cli/main.ts` }, platform: "node" },
    output: { dir, format: "cjs" },
  });
  // Node begins with CommonJS at once, and with an ES module only after it has loaded what loads those.
  writeFileSync(join(dir, "package.json"), '{ "type": "commonjs" }\n');
  await writeBundle(root, {
    files,
    start: [
      [`${root}/src/cli/command-line.ts`, "start"],
      [`${root}/src/cli/commands/check.ts`, "checking"],
    ],
    first: `${root}/src/cli/commands/run.ts`,
    firstName: (id) => (/\/src\/(cli|node|reports)\//.test(id) ? "running" : "launch"),
    second: [["room:host", "hosting"]],
    input: {
      plugins: [lazyRooms(root, cliRooms), lazyBuiltins()],
      transform: { inject: { performance: [`${root}/src/node/clock.ts`, "performance"] } },
      input: {
        ...cliRoomEntries(),
        "command-line": `${root}/src/cli/command-line.ts`,
        // `lanewise bench` shares its parts with the command line; the package leaves the file out.
        "bench-suite": `${root}/bench/suite/command.ts`,
      },
      platform: "node",
      preserveEntrySignatures: "allow-extension",
    },
    // Minified, half as much is read at every start. Where the stack of a defect must be readable, there is the
    // library.
    output: { dir, format: "cjs", entryFileNames: "[name].cjs", chunkFileNames: "[name].cjs" },
    codeSplitting: { includeDependenciesRecursively: false },
  });
  writeFileSync(join(dir, "rooms.cjs"), cliLoaderText());
}

/** Writes the program of the process that makes machine code for another one, a single file. */
export const bundleBeside = (root, dir) =>
  writeBundle(root, {
    files: [],
    input: { input: { beside: `${root}/src/node/native/beside.ts` }, platform: "node" },
    output: { dir, entryFileNames: "[name].mjs" },
  });
