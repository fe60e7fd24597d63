// What measures parts that the package does not export bundles the sources, with what runs them.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

/** A file of `src` as the text of an import names it. */
export const source = (file) => JSON.stringify(fileURLToPath(new URL(`../src/${file}`, import.meta.url)));

/** The exports of a module of this text. */
export async function load(text) {
  const folder = mkdtempSync(join(tmpdir(), "lanewise-"));
  try {
    const input = join(folder, "entry.ts");
    const file = join(folder, "entry.mjs");
    writeFileSync(input, text);
    const bundle = await rolldown({ input, platform: "node" });
    await bundle.write({ file, format: "esm" });
    return await import(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
