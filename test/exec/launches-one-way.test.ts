import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BuiltCli } from "../cli/built-cli.ts";
import { builtExec, whyNoPrograms } from "./native-libraries.ts";

const folder = fileURLToPath(new URL("programs/", import.meta.url));

const why = whyNoPrograms();
if (why !== null) console.warn(`launches that go one way are not tried: ${why}`);

describe.skipIf(why !== null)("launches that go one way", () => {
  let cli: BuiltCli;
  beforeAll(async () => {
    cli = await builtExec();
  });
  afterAll(() => cli?.remove());

  // CUDA Runtime API, "Error Handling": an invalid handle is the error of one call, after which others go on.
  test("not into a stream that has been destroyed, or never was: that is the error of the launch alone", () => {
    const name = "destroyed-stream";
    const how = ["-arch=sm_80", "-cudart", "shared", "-o", join(cli.work, name)];
    execFileSync("nvcc", [...how, join(folder, `${name}.cu`)]);
    const gone = ["cudaErrorContextIsDestroyed", "cudaSuccess"];
    const none = ["cudaErrorInvalidResourceHandle", "cudaSuccess"];
    const { status, stdout } = cli.run("exec", `./${name}`);
    expect(stdout.split("\n")).toEqual(["cudaSuccess", ...gone, ...none, "cudaSuccess", "4", ""]);
    expect(status).toBe(0);
  });
});
