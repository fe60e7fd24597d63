// The library as few files: an entry point takes a tenth of the time to import that its modules would take one by one.
import { mkdirSync, writeFileSync } from "node:fs";
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
  const written = await write(root, lazy, {
    // All in one folder, which is as deep as that of the entry point `node`, which reads files of the package.
    modules: {
      ...Object.fromEntries(entries.map((name) => [name.replace(/\/index$/, ""), moduleOf(name)])),
      ...roomEntries(),
    },
    plugins: [lazyRooms(root)],
    first: moduleOf("index"),
    second: [
      ["room:engines", "launch"],
      ["room:ptx", "source-loading", "source"],
      ["room:ptx", "ir-loading", "ir"],
      ["room:ptx", "ptx-loading", "ptx"],
      ["room:interpreter", "ir-interpreting", "ir"],
      ["room:compiler", "ir-compiling", "ir"],
    ],
    format: "cjs",
  });
  writeFileSync(join(lazy, "rooms.cjs"), loaderText());
  mkdirSync(join(lazy, "entries"));
  for (const { type, isEntry, name, exports: names } of written) {
    if (type !== "chunk" || !isEntry || name.startsWith("rooms/")) continue;
    // Node searches the text of CommonJS for exports when an ES module imports it, which takes longer than to load it.
    writeFileSync(join(lazy, `entries/${name}.cjs`), `"use strict";\nexports.library = require("../${name}.cjs");\n`);
    const text = `import entry from "./entries/${name}.cjs";\nexport const { ${names.join(", ")} } = entry.library;\n`;
    writeFileSync(join(lazy, `${name}.js`), text);
  }
}

/**
 * In CommonJS the name of what an ES module has as its address, with the text that comes before a file which uses it:
 * the address of the entry point `node`, also in a room. Where a bundler makes an ES module of it, nothing has it.
 */
const fileAddress = "lanewiseFileAddress";
const addressText = (fromFile) => `const ${fileAddress} = typeof __dirname === "string"
  ? require("node:url").pathToFileURL(require("node:path").join(__dirname, "${fromFile}")).href : "file:///";`;

/** `format`: "cjs" for Node, which can keep V8's code of CommonJS and opens it without waiting. */
const write = (root, dir, { modules, plugins = [], first, second, format = "esm" }) =>
  writeBundle(root, {
    files,
    first,
    second,
    input: {
      plugins,
      input: modules,
      platform: "neutral",
      ...(format === "cjs" && { transform: { define: { "import.meta.url": fileAddress } } }),
      external: /^node:/,
      resolve: { mainFields: ["module", "main"] },
      preserveEntrySignatures: "strict",
    },
    // Reading code is most of what an import costs. Who wants to see names in a stack starts Node with
    // --enable-source-maps.
    output: {
      dir,
      format,
      ...(format === "cjs" && {
        entryFileNames: "[name].cjs",
        intro: ({ name, isEntry, moduleIds }) => {
          if (!moduleIds.some((id) => /\/src\/node\//.test(id))) return "";
          return addressText(isEntry && !name.includes("/") ? "node.cjs" : "../node.cjs");
        },
      }),
      chunkFileNames: `shared/[name]-[hash].${format === "cjs" ? "cjs" : "js"}`,
      sourcemap: first !== undefined,
    },
  });
