// Compares engines on random programs (`npm run fuzz -- --help`): bundles test/fuzz/ and runs it.
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dir = mkdtempSync(join(tmpdir(), "lanewise-fuzz-bundle-"));
process.on("exit", () => rmSync(dir, { recursive: true, force: true }));
// Machine code is run by the add-on, which is looked for beside the bundle.
symlinkSync(join(root, "dist/native"), join(dir, "native"));
const bundle = await rolldown({ input: join(root, "test/fuzz/command.ts"), platform: "node", logLevel: "warn" });
const file = join(dir, "fuzz.mjs");
await bundle.write({ file, format: "esm" });
await import(pathToFileURL(file).href);
