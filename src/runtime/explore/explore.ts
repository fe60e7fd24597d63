import type { Observer } from "../../machine/events.ts";
import type { Steering } from "../../machine/launch.ts";
import type { JobResult } from "../job/job-execution.ts";
import type { Job } from "../job/job.ts";
import { Footprints } from "./footprints.ts";
import { differenceOf } from "./run-difference.ts";
import { type Interruption, scheduleText, ScriptedSteering } from "./schedule-script.ts";
import { type Candidate, Exploration } from "./schedule-search.ts";

/** Under which schedule a job is to run. */
export interface ScheduleChoice {
  readonly steering?: Steering;
  readonly seed?: number;
  /** Who watches, to see which schedules are worth a try. */
  readonly observers?: readonly Observer[];
  /** Thread-instructions after which it has not ended: under another schedule a program may wait for ever. */
  readonly maxSteps?: number;
}

/** A schedule under which a run is another. */
export interface FoundDifference {
  /** It as `--schedule` takes it, or the seed. */
  readonly schedule: string | null;
  readonly seed: number | null;
  /** One sentence. */
  readonly difference: string;
  /** Where warps are interrupted, in the order of the run; of a seed none is known. */
  readonly interruptions: readonly Interruption[];
  readonly result: JobResult;
}

/** The result of `explore`. */
export interface Explored {
  /** The run under the usual schedule. */
  readonly usual: JobResult;
  /** How many others were tried. */
  readonly schedules: number;
  /** All schedules with at most so many interruptions have been tried; null: all that there are. */
  readonly covered: number | null;
  readonly found: FoundDifference | null;
}

/** How many schedules `explore` tries, and which. */
export interface ExploreOptions {
  /** Schedules at most. */
  readonly budget: number;
  /** The first of those by chance. */
  readonly seed?: number | undefined;
  /** Leaves out schedules of which others are known to give the same run. Default: true. */
  readonly reduce?: boolean;
  /** Before each schedule: how many have been tried. */
  readonly onSchedule?: (tried: number) => void;
}

/** A launch may take so many times as long as under the usual schedule, and so many thread-instructions in any case. */
const patience = 100;
const minSteps = 1_000_000;

/**
 * Repeats a job under other schedules until one differs in what is reported, printed or left in a buffer. `run` runs it on a
 * fresh device, in the interpreter. A job that reports an error under the usual schedule is not repeated.
 */
export async function explore(
  job: Job,
  run: (how: ScheduleChoice) => JobResult | Promise<JobResult>,
  { budget, seed, reduce = true, onSchedule }: ExploreOptions,
): Promise<Explored> {
  const usual = await run({});
  const exploration = new Exploration(budget, seed);
  let found: FoundDifference | null = null;
  const ran = usual.launches.length > 0 && !usual.reports.some((r) => r.severity === "error");
  const maxSteps = Math.max(minSteps, ...usual.launches.map(({ steps }) => patience * (steps ?? 0)));
  for (let next = ran ? exploration.next() : null; next !== null; next = exploration.next()) {
    onSchedule?.(exploration.tried);
    const { steering, footprints, how } = howTo(next, reduce);
    const result = await run({ ...how, maxSteps });
    const difference = differenceOf(job, usual, result);
    if (difference !== null) {
      found = { ...nameOf(next), difference, interruptions: steering?.interruptions ?? [], result };
      break;
    }
    if (next.kind === "schedule") exploration.ran(next, steering!, footprints?.conflicts() ?? null);
  }
  return { usual, schedules: exploration.tried, covered: exploration.coveredInterruptions, found };
}

interface Trial {
  readonly steering: ScriptedSteering | null;
  readonly footprints: Footprints | null;
  readonly how: ScheduleChoice;
}

function howTo(candidate: Candidate, reduce: boolean): Trial {
  if (candidate.kind === "seed") return { steering: null, footprints: null, how: { seed: candidate.seed } };
  const steering = new ScriptedSteering(candidate.schedule);
  if (!reduce) return { steering, footprints: null, how: { steering } };
  const footprints = new Footprints(() => steering.count);
  return { steering, footprints, how: { steering, observers: [footprints] } };
}

const nameOf = (candidate: Candidate): Pick<FoundDifference, "schedule" | "seed"> =>
  candidate.kind === "seed"
    ? { schedule: null, seed: candidate.seed }
    : { schedule: scheduleText(candidate.schedule), seed: null };
