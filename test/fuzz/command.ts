// What `npm run fuzz` runs: programs of all families, or of one, until the time is over.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { compareEngines } from "./compare.ts";
import { type Engine, type EngineName, engines } from "./engine.ts";
import { allFamilies, linesOf, programOf } from "./program.ts";
import { reduceProgram } from "./reduce.ts";
import { scales } from "./scale.ts";

const usage = `npm run fuzz -- [options]
  --seconds N    how long (60)
  --seed N       the first seed (by the clock)
  --count N      programs at most; with 1, the one of --seed and --family
  --family F     one of ${allFamilies.join(", ")}; several with commas (all)
  --engines A,B  two of ${Object.keys(engines).join(", ")} (interpreter,jit)
  --scale S      small or usual programs of PTX (small for native and watching, which compile them for a second; usual)
  --reduce N     seconds for making a program smaller (60)
  --print        write each program to standard output, and run none`;

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" },
    seed: { type: "string", default: `${Date.now() % 1_000_000_000}` },
    count: { type: "string", default: "Infinity" },
    family: { type: "string", default: allFamilies.join(",") },
    engines: { type: "string", default: "interpreter,jit" },
    scale: { type: "string" },
    reduce: { type: "string", default: "60" },
    print: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

function oneOf<T extends string>(what: string, text: string, names: readonly T[]): T {
  const found = names.find((name) => name === text);
  if (found !== undefined) return found;
  console.error(`there is no ${what} "${text}"; there are ${names.join(", ")}`);
  process.exit(2);
}

if (values.help) {
  console.log(usage);
  process.exit(0);
}
const families = values.family.split(",").map((name) => oneOf("family", name, allFamilies));
const [a, second] = values.engines
  .split(",")
  .map((n) => engines[oneOf("engine", n, Object.keys(engines) as EngineName[])]);
if (a === undefined || second === undefined) {
  console.error("--engines takes two of them");
  process.exit(2);
}
const usualScale = second === engines.native || second === engines.watching ? "small" : "usual";
const scale = oneOf("scale", values.scale ?? usualScale, Object.keys(scales) as (keyof typeof scales)[]);

/** How many programs the second engine has run as it should, unless it is the interpreter. */
const expected = second === engines.native ? "native" : "jit";
let compiled = 0;
/** Why it has left programs to the interpreter, and how many. */
const left = new Map<string, number>();
const b: Engine = {
  ...second,
  run: (program) => {
    const outcome = second.run(program);
    if (outcome.ranBy === expected) compiled++;
    else if (outcome.interpreted) left.set(outcome.interpreted, (left.get(outcome.interpreted) ?? 0) + 1);
    return outcome;
  },
};

const again = (family: string, seed: number): string =>
  `--engines ${values.engines} --scale ${scale} --family ${family} --seed ${seed} --count 1`;

const started = performance.now();
const elapsed = (): number => (performance.now() - started) / 1000;
let folder: string | null = null;
let found = 0;
let done = 0;
let told = 0;
for (let seed = Number(values.seed); done < Number(values.count) && elapsed() < Number(values.seconds); seed++) {
  for (const family of families) {
    const program = programOf(family, seed, scales[scale]);
    done++;
    if (values.print) {
      console.log(linesOf(program).join("\n"));
      continue;
    }
    const difference = compareEngines(program, a, b);
    if (difference === null) continue;
    found++;
    console.error(`\n${program.title}: ${difference.message}`);
    folder ??= mkdtempSync(join(tmpdir(), "lanewise-fuzz-"));
    const path = join(folder, `${program.title.replaceAll(" ", "-")}.${program.isa === "ptx" ? "ptx" : "visaasm"}`);
    writeFileSync(path, linesOf(program).join("\n"));
    const smaller = reduceProgram(program, [a, second], difference, Number(values.reduce));
    const text = linesOf(smaller).join("\n");
    const launch = smaller.isa === "ptx" ? `grid ${smaller.grid}, block ${smaller.block}` : `${smaller.items} items`;
    writeFileSync(`${path}.reduced`, `${text}\n// ${launch}\n// ${compareEngines(smaller, a, second)?.message}\n`);
    console.error(`${text}\n${launch}\nagain: npm run fuzz -- ${again(family, seed)}`);
    console.error(`written to ${path} and ${path}.reduced`);
  }
  const { isTTY } = process.stderr;
  if (elapsed() - told > (isTTY ? 2 : 60)) {
    told = elapsed();
    const line = `${done} programs, ${found} differences, ${told.toFixed(0)} s, seed ${seed}`;
    process.stderr.write(isTTY ? `\r${line} ` : `${line}\n`);
  }
}
if (!values.print) {
  console.error(`\n${done} programs by ${a.name} and ${b.name} in ${elapsed().toFixed(0)} s: ${found} differences`);
  if (
    [engines.jit, engines.scalar, engines.large, engines.watching, engines.native].some((engine) => engine === second)
  )
    console.error(`${compiled} of them were compiled${second === engines.native ? " to machine code" : ""}`);
  for (const [why, count] of [...left].sort(([, a], [, b]) => b - a)) console.error(`${count} were not: ${why}`);
}
process.exit(found > 0 ? 1 : 0);
