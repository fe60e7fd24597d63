import type { Observer } from "../../machine/events.ts";
import type { Steering } from "../../machine/launch.ts";
import type { JobResult } from "../job/job-result.ts";
import type { Job } from "../job/job.ts";
import { Footprints } from "./footprints.ts";
import { differenceOf } from "./run-difference.ts";
import { type Interruption, scheduleText, ScriptedSteering } from "./schedule-script.ts";
import { type Candidate, Exploration } from "./schedule-search.ts";

/** The schedule of one run of a job. The fields have the meaning of those of `LaunchDefaults`. */
export interface ScheduleChoice {
  readonly steering?: Steering;
  readonly seed?: number;
  /** Observers that find out which schedules are worth trying next. */
  readonly observers?: readonly Observer[];
  /**
   * The number of thread-instructions after which a launch counts as endless: under another schedule a program may wait
   * forever.
   */
  readonly maxSteps?: number;
}

/** A schedule under which a run differs from that under the usual schedule. */
export interface FoundDifference {
  /** The schedule in the notation of `--schedule`; null if the run had a seed. */
  readonly schedule: string | null;
  /** The seed of the run, or null. */
  readonly seed: number | null;
  /** The difference, in one sentence. */
  readonly difference: string;
  /** The places where warps were interrupted, in the order of the run; empty for a seed. */
  readonly interruptions: readonly Interruption[];
  /** The result of the run. */
  readonly result: JobResult;
}

/** The result of `explore`. */
export interface Explored {
  /** The result under the usual schedule. */
  readonly usual: JobResult;
  /** The number of schedules tried. */
  readonly schedules: number;
  /**
   * All schedules with at most this many interruptions have been tried; -1 if not even those without any, null if all
   * schedules have been tried.
   */
  readonly covered: number | null;
  /** The first difference found, or null. */
  readonly found: FoundDifference | null;
}

/** Options of `explore`. */
export interface ExploreOptions {
  /** The most schedules to try. */
  readonly budget: number;
  /** The first of the seeds for random schedules. Default: 1. */
  readonly seed?: number | undefined;
  /** Whether to leave out schedules known to give the same run as others. Default: true. */
  readonly reduce?: boolean;
  /** Called before each schedule with the number of those begun, this one included. */
  readonly onSchedule?: (tried: number) => void;
}

/**
 * A launch may take this many times as long as under the usual schedule, and `minSteps` thread-instructions in any
 * case.
 */
const patience = 100;

const minSteps = 1_000_000;

/**
 * Repeats a job under other schedules until a run differs in what is reported, printed or left in a buffer. `run` must
 * run the job on a fresh device, in the interpreter. A job that reports an error under the usual schedule is not
 * repeated. Rejects with what `run` throws.
 */
export async function explore(
  job: Job,
  run: (how: ScheduleChoice) => JobResult | Promise<JobResult>,
  options: ExploreOptions,
): Promise<Explored> {
  const exploration = exploring(job, options);
  let next = exploration.next();
  while (!next.done) next = exploration.next(await run(next.value));
  return next.value;
}

/** Does what `explore` does without giving way to the event loop. Throws what `run` throws. */
export function exploreSync(job: Job, run: (how: ScheduleChoice) => JobResult, options: ExploreOptions): Explored {
  const exploration = exploring(job, options);
  let next = exploration.next();
  while (!next.done) next = exploration.next(run(next.value));
  return next.value;
}

/** Yields the schedules to run, and is resumed with the result of each. */
function* exploring(
  job: Job,
  { budget, seed, reduce = true, onSchedule }: ExploreOptions,
): Generator<ScheduleChoice, Explored, JobResult> {
  const usual = yield {};
  const exploration = new Exploration(budget, seed);
  let found: FoundDifference | null = null;
  const ran = usual.launches.length > 0 && !usual.reports.some((r) => r.severity === "error");
  const maxSteps = Math.max(minSteps, ...usual.launches.map(({ steps }) => patience * (steps ?? 0)));
  for (let next = ran ? exploration.next() : null; next !== null; next = exploration.next()) {
    onSchedule?.(exploration.tried);
    const { steering, footprints, how } = howTo(next, reduce);
    const result = yield { ...how, maxSteps };
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
