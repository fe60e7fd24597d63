import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { remaining } from "../../src/cli/terminal/progress.ts";
import { BuiltCli } from "./built-cli.ts";

/* Threads race at line 12, and then each block counts by twos up to a number; up to an odd one for ever. */
const program = `.version 8.0
.target sm_80
.address_size 64
.shared .u32 last;
.visible .entry k(.param .u64 out, .param .u32 last_count)
{
    .reg .b32 %t, %i, %n;
    .reg .b64 %o, %a;
    .reg .pred %p;
    mov.u32 %t, %tid.x;
    mov.u32 %i, 0;
    st.shared.u32 [last], %t;
    ld.param.u32 %n, [last_count];
round:
    add.u32 %i, %i, 2;
    setp.ne.u32 %p, %i, %n;
    @%p bra round;
    ld.param.u64 %o, [out];
    mov.u32 %t, %ctaid.x;
    mul.wide.u32 %a, %t, 4;
    add.u64 %o, %o, %a;
    st.global.u32 [%o], %t;
    ret;
}
`;

let cli: BuiltCli;
beforeAll(async () => {
  cli = await BuiltCli.build();
  cli.write("k.ptx", program);
  const job = {
    variants: { v: ["k.ptx"], w: ["k.ptx"] },
    buffers: { o: { type: "u32", n: 8, init: { gen: "zero" } } },
    launches: [{ kernel: "k", grid: [8], block: [64], args: [{ buf: "o" }, { u32: 1 }] }],
  };
  cli.write("job.json", JSON.stringify(job));
});
afterAll(() => cli.remove());

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command, and sends Ctrl-C as soon as stderr has said something that matches. */
async function interrupt(when: RegExp, ...args: string[]): Promise<Ended> {
  const { FORCE_COLOR: _, ...env } = process.env;
  const child = spawn(process.execPath, [join(cli.folder, "dist/cli/main.js"), ...args], {
    cwd: cli.work,
    env: { ...env, NO_COLOR: "1", LANEWISE_CACHE: "off" },
  });
  let [stdout, stderr, sent] = ["", "", false];
  child.stdout.on("data", (chunk) => (stdout += String(chunk)));
  child.stderr.on("data", (chunk) => {
    stderr += String(chunk);
    if (!sent && when.test(stderr)) sent = child.kill("SIGINT");
  });
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, stdout, stderr };
}

const endless = (grid: number, last = 1): string[] => [
  ...["run", "k.ptx", "--grid", String(grid), "--block", "64", "--arg", `u32[${grid}]`, "--arg", String(last)],
];

test("what was found is printed, at once and at the end", async () => {
  const { code, stdout, stderr } = await interrupt(/found/, ...endless(2, 100_000_000), "--sanitize", "race");
  expect(code).toBe(130);
  expect(stderr).toMatch(/^found k\.ptx:12:5: error: stores 4 bytes .* \[data-race\]$/m);
  expect(stderr).toContain("lanewise: interrupted");
  expect(stdout).toMatch(/^k\.ptx:12:5: error: .*\[data-race\]\n/);
});

test("the documents and the files are written", async () => {
  const files = ["--sarif", "found.sarif", "--report", "found.html"];
  const { code, stdout } = await interrupt(/found/, ...endless(2), "--sanitize", "race", "--json", ...files);
  expect(code).toBe(130);
  const document = JSON.parse(stdout) as { jobs: { reports: { code: string }[] }[] };
  expect(document).toMatchObject({ ok: false, interrupted: true, jobs: [{ ok: false, failure: "interrupted" }] });
  expect(document.jobs[0]!.reports.map((r) => r.code)).toEqual(["data-race"]);
  const sarif = JSON.parse(readFileSync(join(cli.work, "found.sarif"), "utf8")) as {
    runs: { results: { ruleId: string }[]; invocations: { executionSuccessful: boolean }[] }[];
  };
  expect(sarif.runs[0]!.results.map((r) => r.ruleId)).toEqual(["data-race"]);
  expect(sarif.runs[0]!.invocations[0]!.executionSuccessful).toBe(false);
  expect(readFileSync(join(cli.work, "found.html"), "utf8")).toContain("data-race");
});

test.each([
  ["compiled code", []],
  ["threads", ["--threads", "2"]],
  ["the interpreter", ["--engine", "interpreter"]],
])("%s, with progress and an estimate", async (_, options) => {
  const last = options.includes("interpreter") ? 60_000 : 20_000_000;
  const { code, stdout, stderr } = await interrupt(/left/, ...endless(5000, last), ...options, "--json");
  expect(code).toBe(130);
  expect(JSON.parse(stdout)).toMatchObject({ interrupted: true });
  expect(stderr).toMatch(/block \d+ of 5000,.* about [\d.]+ (s|min|h) left/);
});

test("the jobs that are left are not run", async () => {
  const { code, stdout } = await interrupt(/found/, "run", "job.json", "job.json", "--sanitize", "race", "--json");
  expect(code).toBe(130);
  expect((JSON.parse(stdout) as { jobs: object[] }).jobs).toHaveLength(1);
});

test("profile and exploration", async () => {
  const profile = await interrupt(/found/, "profile", ...endless(1).slice(1), "--sanitize", "race", "--json");
  expect(profile.code).toBe(130);
  expect(JSON.parse(profile.stdout)).toMatchObject({ ok: false, interrupted: true });
  const explored = await interrupt(/schedules/, ...endless(4, 3000), "--explore", "1000000", "--json");
  expect(explored.code).toBe(130);
  expect(JSON.parse(explored.stdout)).toMatchObject({ interrupted: true, jobs: [{ explored: { covered: 0 } }] });
});

test.each([
  [500, 1, 10, ""],
  [2000, 0, 10, ""],
  [2000, 10, 10, ""],
  [2000, 1, 10, ", about 18 s left"],
  [2000, 9, 10, ", about 1 s left"],
  [60_000, 10, 100, ", about 9 min left"],
  [60_000, 20, 100_000, ", about 83.3 h left"],
])("after %i ms, with %i of %i done%s", (elapsed, done, all, text) => {
  expect(remaining(elapsed, done, all)).toBe(text);
});
