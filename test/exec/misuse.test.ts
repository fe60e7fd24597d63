import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BuiltCli } from "../cli/built-cli.ts";
import { builtExec, whyNoPrograms } from "./native-libraries.ts";

const folder = fileURLToPath(new URL("misuse/", import.meta.url));

const why = whyNoPrograms();
if (why !== null) console.warn(`planted mistakes are not looked for: ${why}`);

/** The mistakes in a program, and what is to be said of each. */
const casesOf = (program: string, file: string): [name: string, program: string, report: string][] =>
  readFileSync(join(folder, file), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => line.split(" | ") as [string, string])
    .map(([name, report]) => [name, program, report]);

const cases = [...casesOf("programs", "misuse.txt"), ...casesOf("orders", "orders.txt")];

describe.skipIf(why !== null)("--sanitize all names a planted mistake", () => {
  let cli: BuiltCli;
  beforeAll(async () => {
    cli = await builtExec();
    const how = ["-g", "-lineinfo", "-arch=sm_80", "-cudart", "shared"];
    for (const program of ["programs", "orders"]) {
      execFileSync("nvcc", [...how, "-o", join(cli.work, program), join(folder, `${program}.cu`)]);
    }
  });
  afterAll(() => cli?.remove());

  test.each(cases)("%s", (name, program, report) => {
    const { stderr } = cli.run("exec", "--sanitize", "all", `./${program}`, name);
    expect(stderr).toMatch(new RegExp(report));
    // The stack of the program is below, with lines.
    expect(stderr).toMatch(new RegExp(`at ${name}\\(\\) \\(.*${program}\\.cu:\\d+\\)`));
  });

  test.each([
    ["programs", "waits_for_managed"],
    ["programs", "callback_after_copy"],
    ["orders", "source_after_event"],
  ])("and nothing in a program that is right: %s %s", (program, name) => {
    expect(cli.run("exec", "--sanitize", "all", `./${program}`, name)).toMatchObject({
      status: 0,
      stdout: "",
      stderr: "",
    });
  });

  test("accesses of the host that are wrong make the exit status 3", () => {
    expect(cli.run("exec", "--sanitize", "all", "./programs", "reads_managed_too_soon").status).toBe(3);
  });
});
