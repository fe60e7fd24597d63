// Runs examples through the built product, as a user would: CUDA source with its lanes and a bug, jobs, and calls by
// some lanes of a warp in both instruction sets. `npm run demo` builds the product first.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { demangle, Device, parseJob, SourceText } from "lanewise";
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
/** Writes a paragraph, in lines that fit. */
const explain = (text) => {
  const lines = [""];
  for (const word of text.trim().split(/\s+/)) {
    const line = lines.at(-1);
    if (line === "") lines[lines.length - 1] = word;
    else if (line.length + 1 + word.length <= Math.min(width, 100)) lines[lines.length - 1] += ` ${word}`;
    else lines.push(word);
  }
  say(lines.join("\n"));
};
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

/** Traces the first warp of a launch, with functions by their names in C++. */
function traced(launch) {
  const { observer, trace } = traceLanes();
  const result = launch([observer]);
  for (const { groups } of trace.steps)
    for (const group of groups) group.function = demangle(group.function)?.name ?? group.function;
  return { result, trace };
}

say("Lanewise runs GPU code on any machine. No GPU takes part in what follows.");

heading("1  A CUDA kernel, and what the 32 lanes of a warp do in it");
explain(`You will see the kernel, the executable that nvcc has made of it, and its first warp: lanes against time. In each
round of the loop half as many lanes add as before; the others wait.`);
say();
say(read("examples/cuda/reduce.cu").split("\n").slice(3, 13).join("\n"));
say();
lanewise(["list", "examples/cuda/reduce"], 0);
const device = new Device();
{
  const module = device.load({
    path: "examples/cuda/reduce",
    bytes: readFileSync(new URL("cuda/reduce", import.meta.url)),
  });
  const x = device.buffer(Float32Array.from({ length: 256 }, (_, i) => i));
  const sum = device.buffer("f32", 1);
  const { trace } = traced((observers) =>
    module.kernel("reduce").launch({ grid: 1, block: 256, args: [x, sum, 255], observers }),
  );
  say(`\n${laneChart(trace, { width, color, unicode })}`);
  say(`\nThe sum of 0 to 255 is 32640. This kernel says ${sum.read()[0]}.`);
}

heading("2  The bug, found");
explain(`The loop adds across warps, and nothing makes them wait for each other. A GPU may give the right sum for years. The
race sanitizer names both accesses, at their lines in CUDA and in PTX:`);
say();
lanewise(
  [
    "run",
    "examples/cuda/reduce",
    "--block",
    "256",
    "--arg",
    "f32[256]=iota",
    "--arg",
    "f32[1]",
    "--arg",
    "255",
    "--sanitize",
    "race",
  ],
  3,
);

heading("3  Seven PTX programs, and whether their results are right");
explain(`You will see a line for each. They complete the examples of the PTX manual's pages on branches and calls; a job
names the program, how to launch it, and what its buffers must hold then.`);
say();
const seeds = readdirSync(new URL("seeds", import.meta.url)).filter((name) => name.endsWith(".json"));
lanewise(["run", ...seeds.map((name) => `examples/seeds/${name}`)], 0);

heading("4  A divergent indirect call, lane by lane");
explain("You will see 32 lanes arrive at one call with three different functions, one of them recursive.");
say();
const path = "examples/seeds/callprototype.ptx";
const kernel = device.load({ path, text: read(path) }).kernel("k");
const out = device.buffer("u32", 32);
const { result, trace } = traced((observers) =>
  kernel.launch({ grid: 1, block: 32, args: [out], sanitize: "all", observers }),
);
say(laneChart(trace, { width, color, unicode }));
say();
explain(`The lanes part: each function runs with the lanes that chose it, and lanes that leave the recursion early wait for
those that are deeper in it. When the last function has returned all lanes are together again, and go on as one.`);
say();
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

heading("5  The same computation in PTX and in vISA");
explain("Even lanes double their number and odd lanes square it; then every lane adds its number.");
const both = runBoth();
for (const { isa, file, out, trace: lanes } of both) {
  say(`\n${paint("1", isa)}  examples/two-functions/${file}\n`);
  say(`${laneChart(lanes, { width, color, unicode })}\n`);
  check(
    out.every((value, lane) => value === (lane % 2 === 0 ? 2 * lane : lane * lane) + lane),
    `out: ${out.subarray(0, 8).join(", ")}, ...: as it should be`,
  );
}
say();
explain(`In PTX each lane brings an address, and one call goes to both functions. In vISA the address is a scalar: a call
takes the lanes of its predicate to one function, and the others wait after it.`);
say();
explain("The same in a page, where one edits, runs and goes backwards in time: npm run playground");

if (failures > 0) process.exitCode = 1;
