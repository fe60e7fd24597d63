// Builds dist/: the library as modules with their types, and the command line as one file, which starts faster.
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = (name) => join(root, "node_modules", ".bin", name);
if (!existsSync(bin("tsc"))) {
  console.error("lanewise: development tools are not installed; run `npm ci` first");
  process.exit(existsSync(join(root, "dist")) ? 0 : 1);
}
rmSync(join(root, "dist"), { recursive: true, force: true });
execFileSync(bin("tsc"), ["-p", join(root, "tsconfig.build.json")], { cwd: root, stdio: "inherit" });
if (existsSync(join(root, "src/cli/main.ts"))) {
  const { rolldown } = await import("rolldown");
  const bundle = await rolldown({ input: join(root, "src/cli/main.ts"), platform: "node", logLevel: "warn" });
  await bundle.write({ file: join(root, "dist/cli/main.js"), format: "esm", minify: false, codeSplitting: false });
  chmodSync(join(root, "dist/cli/main.js"), 0o755);
}
