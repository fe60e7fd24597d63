import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = new URL("../..", import.meta.url).pathname;
const folder = join(root, "docs/api");
const json = (file: string): unknown => JSON.parse(readFileSync(file, "utf8"));

/** The entry points of TypeScript that the package exports; `./loader` is JavaScript with a declaration of its own. */
const exportedModules = (): string[] =>
  Object.values((json(join(root, "package.json")) as { exports: Record<string, { types?: string }> }).exports)
    .flatMap(({ types }) => (types?.startsWith("./dist/") ? [types] : []))
    .map((types) => types.replace("./dist/", "../../src/").replace(/\.d\.ts$/, ".ts"));

test("the API reference is about all that the package exports", () => {
  const { entryPoints } = json(join(folder, "typedoc.json")) as { entryPoints: string[] };
  expect(entryPoints.toSorted()).toEqual(exportedModules().toSorted());
});

test("TypeDoc finds every exported name documented, and every type that a signature names exported", (context) => {
  const typedoc = join(folder, "node_modules/typedoc/bin/typedoc");
  if (!existsSync(typedoc)) context.skip("TypeDoc is not installed: `npm ci` at the root installs it");
  const { status, stdout, stderr } = spawnSync(process.execPath, [typedoc, "--emit", "none"], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1" },
  });
  expect(`${stdout}${stderr}`.split("\n").filter((line) => /^\[(warning|error)\]/.test(line))).toEqual([]);
  expect(status).toBe(0);
});
