import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BuiltCli } from "../cli/built-cli.ts";
import { buildNative, whyNotNative } from "./native-libraries.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = fileURLToPath(new URL("programs/", import.meta.url));

const why = whyNotNative();
if (why !== null) console.warn(`registered memory is not tried: ${why}`);

describe.skipIf(why !== null)("memory that a program registers", () => {
  const name = "registers-stack";
  let cli: BuiltCli;
  beforeAll(async () => {
    cli = await BuiltCli.build();
    buildNative(root, join(cli.folder, "dist/native"));
    execFileSync("cc", ["-w", "-o", join(cli.work, name), join(folder, `${name}.c`), "-ldl"]);
  });
  afterAll(() => cli?.remove());

  test("may be on the stack of the function that does so", () => {
    const { status, stdout } = cli.run("exec", `./${name}`);
    expect({ status, stdout }).toEqual({ status: 0, stdout: "1 7 3 7 0\n1 8 3 8 0\n1 9 3 9 0\n3\n" });
  });
});
