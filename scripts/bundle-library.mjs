// The library as few files: an entry point takes a tenth of the time to import that its modules would take one by one.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { lazyRooms, loaderText, roomEntries } from "./lazy-rooms.mjs";
import { writeBundle } from "./write-bundle.mjs";

/** The rooms of `src/`, by the file that holds them. Entry points only load the files that they use. */
const files = [
  [/\/src\/source\//, "source"],
  [/\/src\/(numeric|wasm|semantics|ir|tiles)\//, "ir"],
  [/\/src\/ptx\//, "ptx"],
  [/\/src\/visa\//, "visa"],
];

/** The entry points that package.json exports, by the name of their file in `dist/`. */
export const entryPoints = (packageJson) =>
  Object.values(packageJson.exports)
    .flatMap(({ default: file }) => (file?.startsWith("./dist/") ? [file] : []))
    .map((file) => file.replace("./dist/", "").replace(/\.js$/, ""));

/** Writes the entry points and what they share into a folder, for browsers and for Node. `root` is the project's. */
export async function bundleLibrary(root, dir, entries) {
  const moduleOf = (name) => join(root, "src", `${name}.ts`);
  await write(root, dir, { modules: Object.fromEntries(entries.map((name) => [name, moduleOf(name)])) });
  const lazy = join(dir, "lazy");
  await write(root, lazy, {
    // All in one folder, which is as deep as that of the entry point `node`, which reads files of the package.
    modules: {
      ...Object.fromEntries(entries.map((name) => [name.replace(/\/index$/, ""), moduleOf(name)])),
      ...roomEntries(),
    },
    plugins: [lazyRooms(root)],
    first: moduleOf("index"),
    second: [["room:engines", "launch"]],
  });
  writeFileSync(join(lazy, "rooms.cjs"), loaderText());
}

const write = (root, dir, { modules, plugins = [], first, second }) =>
  writeBundle(root, {
    files,
    first,
    second,
    input: {
      plugins,
      input: modules,
      platform: "neutral",
      external: /^node:/,
      resolve: { mainFields: ["module", "main"] },
      preserveEntrySignatures: "strict",
    },
    // Reading code is most of what an import costs. Who wants to see names in a stack starts Node with
    // --enable-source-maps.
    output: { dir, chunkFileNames: "shared/[name]-[hash].js", sourcemap: first !== undefined },
  });
