// Sets up what a fresh clone lacks, so that `npm test` and `npm run demo` work with Node and npm alone.
//
//     node scripts/setup.mjs [--without-tests]
//
// --without-tests: only what running needs, a tenth of what development does.
import { execSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const run = (command) => execSync(command, { cwd: root, stdio: ["ignore", 2, 2] });

const newest = (folder) =>
  Math.max(
    0,
    ...readdirSync(folder, { recursive: true, encoding: "utf8" }).map((f) => statSync(join(folder, f)).mtimeMs),
  );

const cli = join(root, "dist/cli/main.js");
const has = (path) => existsSync(join(root, "node_modules", path));
if (process.argv.includes("--without-tests")) {
  if (!has("rolldown")) {
    console.error("lanewise: installing a bundler (28 MB)");
    run("npm ci --no-audit --no-fund --ignore-scripts --workspace scripts/bundle-tools --include-workspace-root=false");
  }
} else if (!has(".bin/vitest")) {
  console.error("lanewise: installing development tools (npm ci)");
  run("npm ci --no-audit --no-fund");
}
if (!existsSync(cli) || statSync(cli).mtimeMs < newest(join(root, "src"))) {
  console.error("lanewise: building dist/");
  run("node scripts/build.mjs");
}
