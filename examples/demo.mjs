// Runs the examples through the built product, as a user would: the command line and the library. Then it draws what
// the lanes of a warp do in a divergent indirect call. `npm run demo` builds the product first.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Device, parseJob, SourceText } from "../dist/index.js";
import { laneChart } from "./lane-chart.mjs";
import { traceLanes } from "./lane-trace.mjs";
import { runBoth } from "./two-functions/run-both.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (path) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");

const { NO_COLOR, FORCE_COLOR, TERM } = process.env;
const color = NO_COLOR ? false : FORCE_COLOR ? FORCE_COLOR !== "0" : process.stdout.isTTY === true && TERM !== "dumb";
const unicode = TERM !== "linux" && TERM !== "dumb";
const width = Math.max(80, Math.min(process.stdout.columns ?? 80, 160));

const paint = (codes, text) => (color ? `\x1b[${codes}m${text}\x1b[0m` : text);
const say = (text = "") => console.log(text);
const heading = (text) => say(`\n${paint("1", text)}\n`);
let failures = 0;
const check = (ok, text) => {
  if (!ok) failures++;
  say(`${ok ? paint("1;32", "ok  ") : paint("1;31", "FAIL")}  ${text}`);
};

/** Runs the command line, shows what it prints, and checks how it ends. */
function lanewise(args, expected) {
  say(paint("2", `$ lanewise ${args.join(" ").replace(/(\S*\/)\S+\.json( \1\S+\.json)+/, "$1*.json")}`));
  const { status, stdout } = spawnSync(
    process.execPath,
    ["dist/cli/main.js", ...args, "--color", color ? "always" : "never"],
    {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    },
  );
  say(stdout.trimEnd());
  if (status !== expected) check(false, `lanewise ended with status ${status}, not ${expected}`);
}

say("Lanewise reads, checks and runs GPU assembly. No GPU takes part in what follows.");

heading("1  Seven PTX programs, and whether their results are right");
say("Each completes an example of the PTX manual's pages on branches and calls.");
say("A job names the program, how to launch it, and what its buffers must hold then.\n");
const seeds = readdirSync(new URL("seeds", import.meta.url)).filter((name) => name.endsWith(".json"));
lanewise(["run", ...seeds.map((name) => `examples/seeds/${name}`)], 0);

heading("2  A bug: what is undefined on a GPU is named here");
say(
  "Threads take functions from a table and call them through one prototype.\nOne of the functions has another signature.\n",
);
lanewise(["run", "examples/bugs/wrong-prototype.ptx", "--kernel", "apply", "--block", "32", "--arg", "u32[32]"], 3);

heading("3  The same from JavaScript, with an observer that watches the lanes");
const path = "examples/seeds/callprototype.ptx";
const device = new Device();
const kernel = device.load({ path, text: read(path) }).kernel("k");
const out = device.buffer("u32", 32);
const { observer, trace } = traceLanes();
const result = kernel.launch({ grid: 1, block: 32, args: [out], sanitize: "all", observers: [observer] });
const { job } = parseJob(new SourceText("callprototype.json", read("examples/seeds/callprototype.json")));
const expected = job.checks[0].expected.values;
check(
  result.ok && result.reports.length === 0,
  `kernel k: ${result.threads} threads, ${result.steps} steps, no reports`,
);
check(
  out.read().every((value, lane) => value === expected[lane]),
  `out: ${out.read().subarray(0, 8).join(", ")}, ...: as the job expects`,
);

heading("4  A divergent indirect call, lane by lane");
say(laneChart(trace, { width, color, unicode }));
say(`
The lanes arrive at one call with three different functions, so they part: each
function runs with the lanes that chose it, and lanes that leave the recursion
early wait for those that are deeper in it. When the last function has returned
all lanes are together again, and go on as one.`);

heading("5  The same computation in PTX and in vISA");
say("Even lanes double their number and odd lanes square it; then every lane adds its number.");
const both = runBoth();
for (const { isa, file, out, trace: lanes } of both) {
  say(`\n${paint("1", isa)}  examples/two-functions/${file}\n`);
  say(`${laneChart(lanes, { width, color, unicode })}\n`);
  check(
    out.every((value, lane) => value === (lane % 2 === 0 ? 2 * lane : lane * lane) + lane),
    `out: ${out.subarray(0, 8).join(", ")}, ...: as it should be`,
  );
}
say(`
In PTX each lane brings an address, and one call goes to both functions. In vISA
the address is a scalar: a call takes the lanes of its predicate to one function,
and the others wait after it.`);

if (failures > 0) process.exitCode = 1;
