import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BuiltCli } from "../cli/built-cli.ts";
import { builtWith, whyNotNative } from "./native-libraries.ts";

const why = whyNotNative();
if (why !== null) console.warn(`registered memory is not tried: ${why}`);

describe.skipIf(why !== null)("memory that a program registers", () => {
  const name = "registers-stack";
  let cli: BuiltCli;
  beforeAll(async () => {
    cli = await builtWith(name);
  });
  afterAll(() => cli?.remove());

  test("may be on the stack of the function that does so", () => {
    const { status, stdout } = cli.run("exec", `./${name}`);
    expect({ status, stdout }).toEqual({ status: 0, stdout: "1 7 3 7 0\n1 8 3 8 0\n1 9 3 9 0\n3\n" });
  });
});
