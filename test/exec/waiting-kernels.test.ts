import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BuiltCli } from "../cli/built-cli.ts";
import { buildNative, whyNotNative } from "./native-libraries.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = fileURLToPath(new URL("programs/", import.meta.url));

const why = whyNotNative();
if (why !== null) console.warn(`kernels that wait for the host are not tried: ${why}`);

describe.skipIf(why !== null)("a kernel that waits for a host that calls CUDA meanwhile", () => {
  const name = "waits-for-host";
  let cli: BuiltCli;
  beforeAll(async () => {
    cli = await BuiltCli.build();
    buildNative(root, join(cli.folder, "dist/native"));
    execFileSync("cc", ["-w", "-o", join(cli.work, name), join(folder, `${name}.c`), "-ldl"]);
  });
  afterAll(() => cli?.remove());

  test.each([
    [[]],
    [["--engine", "interpreter"]],
    [["--sanitize", "all"]],
    [["--seed", "3"]],
    [["--explore", "2"]],
    [["--record", "run.lanewise"]],
    [["--profile", "page.html"]],
  ])("ends: %j", (options) => {
    // More than this is for ever.
    const { status, stdout } = cli.run("exec", ...options, "timeout", "30", `./${name}`);
    expect({ status, stdout }).toEqual({ status: 0, stdout: "600 600 0 4\n0 0 42\n" });
  });
});
