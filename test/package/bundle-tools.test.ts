import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = new URL("../../", import.meta.url).pathname;

/** The packages that the sources import, without Node's own. */
function packagesOf(folder: string): ReadonlySet<string> {
  const names = new Set<string>();
  for (const path of readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })) {
    if (!path.endsWith(".ts")) continue;
    const text = readFileSync(join(root, folder, path), "utf8");
    for (const [, from] of text.matchAll(/^(?:import|export|\}) .*from "([^".#][^"]*)";$/gm))
      if (!from!.startsWith("node:")) names.add(/^(?:@[^/]+\/)?[^/]+/.exec(from!)![0]);
    for (const [, from] of text.matchAll(/\bimport\("([a-z@][^"]*)"\)/g))
      if (!from!.startsWith("node:")) names.add(from!.split("/")[0]!);
  }
  return names;
}

test("what a first look installs has every package that dist/ is made of", () => {
  const { devDependencies } = JSON.parse(readFileSync(join(root, "scripts/bundle-tools/package.json"), "utf8")) as {
    devDependencies: Readonly<Record<string, string>>;
  };
  const needed = packagesOf("src");
  expect(needed).toContain("yaml");
  expect(Object.keys(devDependencies)).toEqual(expect.arrayContaining([...needed]));
});
