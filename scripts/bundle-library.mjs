// The library as few files: an entry point takes a tenth of the time to import that its modules would take one by one.
import { rolldown } from "rolldown";
import { CircleCheck } from "./circle-check.mjs";

/** The rooms of `src/`, by the file that holds them. Entry points only load the files that they use. */
const files = [
  [/\/src\/source\//, "source"],
  [/\/src\/(numeric|wasm|semantics|ir|tiles)\//, "ir"],
  [/\/src\/ptx\//, "ptx"],
  [/\/src\/visa\//, "visa"],
];
const fileOf = (id) => files.find(([path]) => path.test(id))?.[1] ?? null;

/** The entry points that package.json exports, by the name of their file in `dist/`. */
export const entryPoints = (packageJson) =>
  Object.values(packageJson.exports)
    .flatMap(({ default: file }) => (file?.startsWith("./dist/") ? [file] : []))
    .map((file) => file.replace("./dist/", "").replace(/\.js$/, ""));

/** Writes the entry points and what they share into a folder. `root` is the project's. */
export async function bundleLibrary(root, dir, entries) {
  const circles = new CircleCheck();
  const bundle = await rolldown({
    input: Object.fromEntries(entries.map((name) => [name, `${root}/src/${name}.ts`])),
    platform: "neutral",
    external: /^node:/,
    resolve: { mainFields: ["module", "main"] },
    logLevel: "warn",
    preserveEntrySignatures: "strict",
    plugins: [circles.plugin],
  });
  const { output } = await bundle.write({
    dir,
    entryFileNames: "[name].js",
    chunkFileNames: "shared/[name]-[hash].js",
    format: "esm",
    // Reading code is most of what an import costs. Who wants to see names in a stack starts Node with
    // --enable-source-maps.
    comments: false,
    minify: true,
    sourcemap: true,
    codeSplitting: { groups: [{ name: fileOf, debugName: "rooms" }] },
  });
  circles.refuse(output, root);
}
