// Builds dist/: the library as modules with their types, and the command line in few files, which starts faster. What was
// there stays until the new build is whole.
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const fresh = join(root, "dist.new");
const tsc = join(root, "node_modules", ".bin", "tsc");
if (!existsSync(tsc)) {
  // An installed package brings its dist/ along and has no development tools.
  if (existsSync(join(root, "dist"))) process.exit(0);
  console.error("lanewise: development tools are not installed; run `npm ci` first");
  process.exit(1);
}
rmSync(fresh, { recursive: true, force: true });
try {
  execFileSync(tsc, ["-p", join(root, "tsconfig.build.json"), "--outDir", fresh], { cwd: root, stdio: "inherit" });
} catch {
  rmSync(fresh, { recursive: true, force: true });
  process.exit(1);
}
const { buildId } = await import("./build-id.mjs");
writeFileSync(join(fresh, "build-id"), buildId(root));
const { bundleCli } = await import("./bundle-cli.mjs");
await bundleCli(root, join(fresh, "cli"));
chmodSync(join(fresh, "cli/main.js"), 0o755);
// The YAML library is part of the command line, so that the package depends on nothing; its licence wants to come along.
copyFileSync(join(root, "node_modules/yaml/LICENSE"), join(fresh, "cli/LICENSE-yaml"));
rmSync(join(root, "dist"), { recursive: true, force: true });
renameSync(fresh, join(root, "dist"));
