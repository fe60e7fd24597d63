import { availableParallelism } from "node:os";
import type { SanitizerName } from "../../machine/launch.ts";
import { UsageError } from "../../runtime/data/errors.ts";
import { parseSchedule, ScriptedSteering } from "../../runtime/explore/schedule-script.ts";
import type { JobOptions } from "../../runtime/job/job-options.ts";
import {
  type EngineChoice,
  engineChoices,
  type LaunchDefaults,
  matrixSums,
  sanitizerNames,
} from "../../runtime/launch/launch-options.ts";
import { nearest } from "../../source/index.ts";
import type { Options } from "../options/options.ts";
import type { Progress } from "../terminal/progress.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** The tools of NVIDIA's compute-sanitizer, and what finds the same here. */
const tools: Readonly<Record<string, readonly SanitizerName[]>> = {
  memcheck: ["memory", "call"],
  racecheck: ["race"],
  initcheck: ["init"],
  synccheck: ["sync"],
};

function parseSanitizers(text: string | null): ReadonlySet<SanitizerName> | null {
  if (text === null) return null;
  const groups: Readonly<Record<string, readonly string[]>> = { all: sanitizerNames, none: [], ...tools };
  const names = text.split(",").flatMap((name) => groups[name] ?? [name]);
  for (const name of names) {
    if ((sanitizerNames as readonly string[]).includes(name)) continue;
    const known = [...sanitizerNames, "all", "none"];
    const meant = nearest(name, [...known, ...Object.keys(tools)]);
    const hint = meant === null ? "" : `; did you mean "${meant}"?`;
    throw new UsageError(`--sanitize ${text}: there is no sanitizer "${name}"${hint} (${known.join(", ")})`);
  }
  return new Set(names as SanitizerName[]);
}

/** The engine of commands that are not told which. */
export const defaultEngine: EngineChoice = "tiered";

/** The job options that the common command-line options select. */
export function jobOptions(options: Options, progress: Progress): JobOptions {
  return {
    engine: options.oneOf("engine", engineChoices) ?? defaultEngine,
    hostThreads: options.integer("threads", 1) ?? availableParallelism(),
    sanitize: parseSanitizers(options.value("sanitize")),
    seed: options.integer("seed"),
    maxSteps: options.integer("max-steps", 1),
    timeoutMs: options.timeoutMs,
    matrix: options.oneOf("matrix", matrixSums),
    target: options.target,
    module: options.value("module"),
    onProgress: progress.update,
  };
}

/** The defaults of launches that the common command-line options select. */
export function launchDefaults(options: Options): LaunchDefaults {
  const sanitize = parseSanitizers(options.value("sanitize"));
  const seed = options.integer("seed");
  const matrix = options.oneOf("matrix", matrixSums);
  const maxSteps = options.integer("max-steps", 1);
  return {
    engine: options.oneOf("engine", engineChoices) ?? defaultEngine,
    hostThreads: options.integer("threads", 1) ?? availableParallelism(),
    ...(sanitize === null ? {} : { sanitize }),
    ...(seed === null ? {} : { seed }),
    ...(matrix === null ? {} : { matrix }),
    ...(maxSteps === null ? {} : { maxSteps }),
    ...(options.timeoutMs === null ? {} : { timeoutMs: options.timeoutMs }),
  };
}

/** The steering of the next run if there is a `--schedule`, or null. Each run needs its own. */
export function steeringOf(options: Options): ScriptedSteering | null {
  const text = options.value("schedule");
  if (text === null) return null;
  if (options.has("seed")) throw new UsageError("give either --seed or --schedule");
  return new ScriptedSteering(parseSchedule(text));
}

export function warnOfUnreached(steering: ScriptedSteering | null, terminal: Terminal): void {
  if (steering === null || steering.unreached === 0) return;
  terminal.err(`lanewise: the run ended after ${steering.count} choices: the schedule is of another run`);
}
