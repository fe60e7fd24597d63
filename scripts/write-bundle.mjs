import { rolldown } from "rolldown";
import { CircleCheck } from "./circle-check.mjs";
import { inAscii } from "./in-ascii.mjs";

/**
 * Bundles modules into a few minified files in a folder and refuses files that import each other in a circle. `files`:
 * pairs of a pattern of paths and the name of the file for the modules that match; the first match counts, and what
 * matches none goes where it is used. `start`: a module, and the name of the file for all that it needs. `first`: the
 * path of a module; of each of these files what that module needs besides is in one of its own, and what is in none of
 * them in the file `firstName`, a text or a function of the path. `second`: triples of a module, a name and, if only the
 * modules of one of these files are meant, that file's name; what that module needs of them besides is in a file of the
 * given name. The rest are the bundler's own options. Returns the files.
 */
export async function writeBundle(
  root,
  { files, start = [], first = null, firstName = "base", second = [], input, output, codeSplitting },
) {
  const circles = new CircleCheck();
  const plugins = [circles.plugin, ...(input.plugins ?? []), inAscii];
  const bundle = await rolldown({ logLevel: "warn", ...input, plugins });
  const written = await bundle.write({
    entryFileNames: "[name].js",
    format: "esm",
    comments: false,
    // Node prints the line of an error that nobody catches, which would be the whole library if that were one line.
    // Names of classes are what people see of objects and errors.
    minify: {
      compress: true,
      mangle: { keepNames: { class: true, function: false } },
      codegen: { removeWhitespace: false },
    },
    ...output,
    codeSplitting: {
      groups: groupsOf(files, { start, first, firstName, second }, (id) => circles.neededBy(id)),
      ...codeSplitting,
    },
  });
  circles.refuse(written.output, root);
  return written.output;
}

/** The files for modules, as the bundler wants them. `neededBy`: the modules that one needs, once all have been read. */
function groupsOf(files, { start, first, firstName, second }, neededBy) {
  const nameOf = (id) => files.find(([path]) => path.test(id))?.[1] ?? null;
  if (first === null) return [{ name: nameOf, debugName: "rooms" }];
  const isNeededBy = (module) => {
    let modules = null;
    return (id) => (modules ??= neededBy(module)).has(id);
  };
  const isNeeded = isNeededBy(first);
  const names = [...new Set(files.map(([, name]) => name))];
  const groups = [
    ...start.map(([module, name]) => ({ name, test: isNeededBy(module) })),
    ...names.map((own) => ({ name: `${own}-base`, test: (id) => isNeeded(id) && nameOf(id) === own })),
    { name: firstName, debugName: "first", test: isNeeded },
    ...second.map(([module, name, own]) => {
      const needed = isNeededBy(module);
      return { name, test: (id) => (own === undefined || nameOf(id) === own) && needed(id) };
    }),
    ...names.map((own) => ({ name: own, test: (id) => nameOf(id) === own })),
  ];
  // A file takes along what its modules need, so that those that need little come first.
  return groups.map((group, i) => ({ ...group, priority: groups.length - i }));
}
