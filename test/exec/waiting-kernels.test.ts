import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BuiltCli } from "../cli/built-cli.ts";
import { builtWith, whyNotNative } from "./native-libraries.ts";

const why = whyNotNative();
if (why !== null) console.warn(`kernels that wait for the host are not tried: ${why}`);

describe.skipIf(why !== null)("a kernel that waits for a host that calls CUDA meanwhile", () => {
  const name = "waits-for-host";
  let cli: BuiltCli;
  beforeAll(async () => {
    cli = await builtWith(name);
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
