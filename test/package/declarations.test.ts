import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "lanewise-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The oldest compiler that the declarations are for. */
const compiler = join(root, "test/package/consumer/node_modules/typescript/lib/tsc.js");

/** A package that uses all entry points of ours, which is installed there as npm installs it. */
const installed = join(folder, "node_modules/lanewise");
mkdirSync(dirname(installed), { recursive: true });
for (const part of ["package.json", "dist", "examples"]) {
  cpSync(join(root, part), join(installed, part), { recursive: true });
}
mkdirSync(join(folder, "node_modules/@types"));
symlinkSync(join(root, "node_modules/@types/node"), join(folder, "node_modules/@types/node"));
writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
const program = `import { Device, type KernelResult } from "lanewise";
import * as debug from "lanewise/debugger";
import { Workspace } from "lanewise/ide";
import * as ir from "lanewise/ir";
import { loadKernel } from "lanewise/loader";
import { openKernelFolder } from "lanewise/node";
import { parsePtx } from "lanewise/ptx";
import { SourceText } from "lanewise/source";
import { parseVisa } from "lanewise/visa";

const launched = new Device().load("").kernel("k").launch({ grid: 1, block: 1, args: [] });
const result: KernelResult = launched;
export const used = [result.ok, debug, Workspace, ir, loadKernel, openKernelFolder, parsePtx, SourceText, parseVisa];
export const wrong: string = launched;
`;
writeFileSync(join(folder, "use.ts"), program);

describe("the declarations in strict TypeScript 5.0, the libraries checked too", () => {
  test.each([
    ["node16", "node16"],
    ["esnext", "node10"],
  ])("module %s, resolution %s", (module, resolution) => {
    const settings = ["--module", module, "--moduleResolution", resolution, "--target", "es2022"];
    const libraries = ["--lib", "es2023,dom", "--types", "node"];
    const { stdout } = spawnSync(
      process.execPath,
      [compiler, "--strict", "--noEmit", ...settings, ...libraries, "use.ts"],
      {
        cwd: folder,
        encoding: "utf8",
      },
    );
    // The last line of the program is wrong on purpose: what the compiler knows of a launch is its real type.
    const last = program.trimEnd().split("\n").length;
    expect(
      stdout
        .trim()
        .split("\n")
        .filter((line) => !line.startsWith(" ")),
    ).toEqual([`use.ts(${last},14): error TS2322: Type 'KernelResult' is not assignable to type 'string'.`]);
  });
});
