// Builds dist/: the library and the command line, each in few files, which start faster, and the library's types. What
// was there stays until the new build is whole.
//
//     node scripts/build.mjs [--without-types]
//
// --without-types: nothing for those who compile against the library; a fifth of the time.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const fresh = join(root, "dist.new");
const tsc = join(root, "node_modules", ".bin", "tsc");
/** Types are for those who write programs with the library: the compiler alone is larger than the rest of the tools. */
const withTypes = existsSync(tsc) && !process.argv.includes("--without-types");
if (!existsSync(tsc) && !existsSync(join(root, "node_modules", "rolldown"))) {
  // An installed package brings its dist/ along and has no development tools.
  if (existsSync(join(root, "dist"))) process.exit(0);
  console.error("lanewise: development tools are not installed; run `npm ci` first");
  process.exit(1);
}
rmSync(fresh, { recursive: true, force: true });
try {
  if (withTypes) {
    execFileSync(tsc, ["-p", join(root, "tsconfig.build.json"), "--outDir", fresh], { cwd: root, stdio: "inherit" });
  } else mkdirSync(fresh);
} catch {
  rmSync(fresh, { recursive: true, force: true });
  process.exit(1);
}
const { buildId } = await import("./build-id.mjs");
writeFileSync(join(fresh, "build-id"), buildId(root));
const { bundleLibrary, entryPoints } = await import("./bundle-library.mjs");
const { prepareDeclarations } = await import("./declarations.mjs");
const entries = entryPoints(JSON.parse(readFileSync(join(root, "package.json"), "utf8")));
if (withTypes) prepareDeclarations(fresh, entries);
const { bundleBeside, bundleCli } = await import("./bundle-cli.mjs");
try {
  await bundleLibrary(root, fresh, entries);
  await bundleCli(root, join(fresh, "cli"));
} catch (error) {
  console.error(`lanewise: ${error instanceof Error ? error.message : error}`);
  rmSync(fresh, { recursive: true, force: true });
  process.exit(1);
}
const { buildNative } = await import("./build-native.mjs");
const whyNot = buildNative(root, join(fresh, "native"));
if (whyNot !== null) console.error(`lanewise: \`lanewise exec\` is left out: ${whyNot}`);
else await bundleBeside(root, join(fresh, "native"));
chmodSync(join(fresh, "cli/main.js"), 0o755);
// The command line has these libraries in it, whose licences want to come along.
for (const name of ["yaml", "fast-png", "fflate", "iobuffer"]) {
  copyFileSync(join(root, `node_modules/${name}/LICENSE`), join(fresh, `cli/LICENSE-${name}`));
}
copyFileSync(
  join(root, "node_modules/vscode-languageserver/License.txt"),
  join(fresh, "cli/LICENSE-vscode-languageserver"),
);
rmSync(join(root, "dist"), { recursive: true, force: true });
renameSync(fresh, join(root, "dist"));
