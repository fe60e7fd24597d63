import { rolldown } from "rolldown";
import { CircleCheck } from "./circle-check.mjs";

/**
 * Bundles modules into a few minified files in a folder and refuses files that import each other in a circle. `files`:
 * pairs of a pattern of paths and the name of the file for the modules that match; the first match counts, and what
 * matches none goes where it is used. The rest are the bundler's own options.
 */
export async function writeBundle(root, { files, input, output, codeSplitting }) {
  const circles = new CircleCheck();
  const bundle = await rolldown({ logLevel: "warn", plugins: [circles.plugin], ...input });
  const name = (id) => files.find(([path]) => path.test(id))?.[1] ?? null;
  const written = await bundle.write({
    entryFileNames: "[name].js",
    format: "esm",
    comments: false,
    minify: true,
    ...output,
    codeSplitting: { groups: [{ name, debugName: "rooms" }], ...codeSplitting },
  });
  circles.refuse(written.output, root);
}
