// The library as few files: an entry point takes a tenth of the time to import that its modules would take one by one.
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

/** Writes the entry points and what they share into a folder. `root` is the project's. */
export const bundleLibrary = (root, dir, entries) =>
  writeBundle(root, {
    files,
    input: {
      input: Object.fromEntries(entries.map((name) => [name, `${root}/src/${name}.ts`])),
      platform: "neutral",
      external: /^node:/,
      resolve: { mainFields: ["module", "main"] },
      preserveEntrySignatures: "strict",
    },
    // Reading code is most of what an import costs. Who wants to see names in a stack starts Node with
    // --enable-source-maps.
    output: { dir, chunkFileNames: "shared/[name]-[hash].js", sourcemap: true },
  });
