// The types of the library, for compilers back to TypeScript 5.0.
import { readdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** The files that the text of a declaration file imports, resolved. */
const importsOf = (file, text) =>
  [...text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*"(\.[^"]*)\.ts"/g)].map(
    ([, path]) => `${resolve(dirname(file), path)}.d.ts`,
  );

/**
 * A declaration as compilers before 5.7 read it too. There typed arrays had no parameter; a constructor's `of` returns
 * the array over an `ArrayBuffer` in all of them.
 */
const forOldCompilers = (text) =>
  text
    .replace(/\b(\w+Array)<ArrayBuffer>/g, 'ReturnType<$1Constructor["of"]>')
    .replace(/\b(\w+Array|DataView)<ArrayBuffer(?:Like)?>/g, "$1")
    .replace(/(\bfrom\s*"|\bimport\s*\(\s*")(\.[^"]*)\.ts"/g, '$1$2.js"');

/** Keeps the declarations that entry points refer to, in a form for all compilers, and removes the others. */
export function prepareDeclarations(dir, entries) {
  const reached = new Set();
  const todo = entries.map((name) => join(dir, `${name}.d.ts`));
  for (let file = todo.pop(); file !== undefined; file = todo.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    const text = readFileSync(file, "utf8");
    todo.push(...importsOf(file, text));
    writeFileSync(file, forOldCompilers(text));
  }
  // Backwards, so that folders come after what is in them.
  for (const name of readdirSync(dir, { recursive: true, encoding: "utf8" }).sort().reverse()) {
    const path = join(dir, name);
    if (name.endsWith(".d.ts") && !reached.has(path)) rmSync(path);
    else if (statSync(path).isDirectory() && readdirSync(path).length === 0) rmdirSync(path);
  }
}
