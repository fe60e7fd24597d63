import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "sarif";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BuiltCli } from "./built-cli.ts";

let cli: BuiltCli;
const run = (...args: string[]) => cli.run(...args);
const written = (path: string): string => readFileSync(join(cli.work, path), "utf8");
const sarif = (path: string): Log => JSON.parse(written(path)) as Log;

const header = ".version 8.0\n.target sm_75\n.address_size 64\n";

/** Each thread adds 1 by a load and a store. */
const racy = `${header}
.visible .entry count(.param .u64 sum)
{
    .reg .b32 %n;
    .reg .b64 %d;
    ld.param.u64 %d, [sum];
    ld.global.u32 %n, [%d];
    add.u32 %n, %n, 1;
    st.global.u32 [%d], %n;
    ret;
}
`;

/** An uninitialised register decides a store, by line 10; the other store is good. */
const careless = `${header}
.visible .entry careless(.param .u64 out)
{
    .reg .b32 %n;
    .reg .b64 %d;
    .reg .pred %p;
    setp.eq.u32 %p, %n, 7;
    ld.param.u64 %d, [out];
    @%p st.global.u32 [%d+4], 1;
    st.global.u32 [%d], 5;
    ret;
}
`;

const twoErrors = racy.replace("add.u32 %n, %n, 1", "add.u32 %m, %n, 1").replace("ret;", "back;");

beforeAll(async () => {
  cli = await BuiltCli.build();
  cli.write("racy.ptx", racy);
  cli.write("careless.ptx", careless);
  cli.write("bad.ptx", twoErrors);
});
afterAll(() => cli.remove());

const launchCareless = ["careless.ptx", "--kernel", "careless", "--arg", "u32[2]", "--sanitize", "init"];

describe("suppressions", () => {
  test("a check whose only errors are suppressed", () => {
    const codes = sarifCodes("bad.ptx");
    expect(codes).toHaveLength(2);
    const all = run("check", "bad.ptx", ...codes.flatMap((code) => ["--allow", `${code} bad.ptx in count`]));
    expect(all).toMatchObject({ status: 0, stdout: "1 file checked, no errors\n" });
    expect(run("check", "bad.ptx", "--allow", codes[0]!).status).toBe(1);
    expect(run("check", "bad.ptx", "--allow", `${codes[0]} other.ptx`).status).toBe(1);
  });

  const sarifCodes = (file: string): string[] => {
    expect(run("check", file, "--sarif", "codes.sarif").status).toBe(1);
    return sarif("codes.sarif").runs[0]!.results!.map((r) => r.ruleId!);
  };

  test("a file of rules, and rules that suppress nothing", () => {
    cli.write("rules.txt", "# known\nuninitialized-read careless.ptx:10\ndata-race\nmissing-version\n");
    const { status, stdout, stderr } = run("run", ...launchCareless, "--suppress", "rules.txt");
    expect({ status, stdout }).toEqual({ status: 0, stdout: "argument 0, u32[2]: 5 0\n" });
    expect(stderr).toContain('lanewise: rules.txt:3: "data-race" suppresses nothing\n');
    // A run cannot find this one.
    expect(stderr).not.toContain("missing-version");
  });

  test("a code that does not exist", () => {
    const rules = ["--allow", "unitialized-read", "--allow", "visa-*"];
    const { status, stderr } = run("run", ...launchCareless, ...rules);
    expect(status).toBe(3);
    expect(stderr).toContain(
      'lanewise: --allow: there is no code "unitialized-read"; did you mean "uninitialized-read"?\n',
    );
    expect(stderr).not.toContain("visa-");
  });

  test("a comment", () => {
    cli.write("allowed.ptx", careless.replace("%n, 7;", "%n, 7; // lanewise: allow uninitialized-read"));
    const { status, stdout } = run("run", "allowed.ptx", ...launchCareless.slice(1));
    expect({ status, stdout }).toEqual({ status: 0, stdout: "argument 0, u32[2]: 5 0\n" });
  });

  test("a comment in the source that the program was compiled from", () => {
    const compiled = careless
      .replace(".address_size 64\n", '.address_size 64\n.file 1 "careless.cu"\n')
      .replace("    setp", "    .loc 1 2 3\n    setp");
    cli.write("compiled.ptx", compiled);
    const source = (comment: string): string => `int n;\nif (n == 7) out[1] = 1; // ${comment}\n`;
    const status = (comment: string): number | null => {
      cli.write("careless.cu", source(comment));
      return run("run", "compiled.ptx", ...launchCareless.slice(1)).status;
    };
    expect(status("lanewise: allow uninitialized-read")).toBe(0);
    expect(status("lanewise: allow data-race")).toBe(3);
  });

  test("an invalid rule", () => {
    cli.write("wrong.txt", "a b c d\n");
    const { status, stderr } = run("check", "racy.ptx", "--suppress", "wrong.txt");
    expect(status).toBe(2);
    expect(stderr).toContain('wrong.txt:1: "a b c d" is not a rule');
  });
});

test("--fail-on decides the exit status", () => {
  expect(run("run", ...launchCareless).status).toBe(3);
  expect(run("run", ...launchCareless, "--fail-on", "never").status).toBe(0);
  expect(run("check", "bad.ptx", "--fail-on", "never").status).toBe(0);
  cli.write("warns.ptx", racy.replace("add.u32 %n, %n, 1;", "div.u32 %n, %n, 0;"));
  const launch = ["run", "warns.ptx", "--kernel", "count", "--arg", "u32[1]", "--sanitize", "init"];
  expect(run(...launch).status).toBe(0);
  expect(run(...launch, "--fail-on", "warning").status).toBe(3);
  expect(run(...launch, "--fail-on", "sometimes").status).toBe(2);
});

test("SARIF of a check and of a run", () => {
  run("check", "bad.ptx", "--sarif", "check.sarif");
  const [checked] = sarif("check.sarif").runs;
  expect(checked!.results!.map((r) => r.locations![0]!.physicalLocation!.region!.startLine)).toEqual([11, 13]);
  expect(checked!.tool.driver.rules!.every((rule) => rule.shortDescription!.text.length > 0)).toBe(true);
  run("run", ...launchCareless, "--sarif", "run.sarif", "--allow", "uninitialized-read");
  const [ran] = sarif("run.sarif").runs;
  expect(ran!.results!).toMatchObject([
    {
      ruleId: "uninitialized-read",
      level: "error",
      suppressions: [{ kind: "external" }],
      properties: { kernel: "careless" },
    },
  ]);
});

test("a self-contained HTML page", () => {
  run("run", ...launchCareless, "--report", "run.html");
  const page = written("run.html");
  expect(page).toContain("<mark>setp.eq.u32 %p, %n, 7;</mark>");
  expect(page).toContain("uninitialized-read");
  expect(page).not.toMatch(/(src|href)="(https?:)?\/\//);
  run("check", "racy.ptx", "--report", "good.html");
  expect(written("good.html")).toContain("Nothing was found.");
});

describe("--explore", () => {
  const launch = ["run", "racy.ptx", "--kernel", "count", "--grid", "2", "--arg", "u32[1]"];

  test("names the place and a schedule, which repeats what it found", () => {
    const { status, stdout } = run(...launch, "--explore", "50");
    expect(status).toBe(1);
    expect(stdout).toContain("DIFF");
    expect(stdout).toContain("warp 0 of block (0,0,0) is interrupted before racy.ptx:12");
    const [, schedule] = /--schedule (\S+) repeats it/.exec(stdout)!;
    expect(run(...launch, "--schedule", schedule!).stdout).toBe("argument 0, u32[1]: 1\n");
    expect(run(...launch).stdout).toBe("argument 0, u32[1]: 2\n");
  });

  test("a program without races, completely", () => {
    cli.write(
      "atomic.ptx",
      racy.replace("ld.global.u32 %n, [%d];", "red.global.add.u32 [%d], 1;").replace(/st\.global.*/, ""),
    );
    const { status, stdout } = run("run", "atomic.ptx", ...launch.slice(2), "--explore", "50");
    expect({ status, stdout }).toEqual({ status: 0, stdout: "same  atomic.ptx: 2 schedules, all that there are\n" });
  });

  test("as JSON", () => {
    const { stdout } = run(...launch, "--explore", "50", "--json");
    const found = JSON.parse(stdout) as {
      ok: boolean;
      jobs: { ok: boolean; explored: { found: { schedule: string } } }[];
    };
    expect([found.ok, found.jobs[0]!.ok]).toEqual([false, false]);
    expect(found.jobs[0]!.explored.found).toMatchObject({
      seed: null,
      interruptions: [{ path: "racy.ptx", line: 12 }],
    });
  });

  test.each([
    [["--explore", "5", "--schedule", "0:1"]],
    [["--seed", "5", "--schedule", "0:1"]],
    [["--schedule", "x"]],
    [["--schedule", "0:9"]],
  ])("%s cannot be", (options) => {
    expect(run(...launch, ...options).status).toBe(2);
  });
});

describe("profile", () => {
  const launch = ["profile", "racy.ptx", "--kernel", "count", "--grid", "2", "--block", "32", "--arg", "u32[1]"];

  test("a table", () => {
    const { status, stdout } = run(...launch, "--by", "sectors");
    expect(status).toBe(0);
    expect(stdout).toMatch(/global sectors +4 in 4 requests/);
    expect(stdout).toMatch(/2 +2 +50% +100% +10 +ld\.global\.u32 %n, \[%d\]; +\[1 sector\]/);
  });

  test("twice the same", () => {
    const [one, two] = [run(...launch, "--json"), run(...launch, "--json")];
    const profile = (text: string): unknown => (JSON.parse(text) as { jobs: { profile: unknown }[] }).jobs[0]!.profile;
    expect(profile(one.stdout)).toEqual(profile(two.stdout));
    expect(profile(one.stdout)).toMatchObject({ totals: { warpInstructions: 10, threadInstructions: 320 } });
  });
});
