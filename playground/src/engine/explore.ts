import { Device, explore, type JobOptions, JobRun, type Observer, parseSchedule, ScriptedSteering } from "lanewise";
import { filesOf, findingsOfError, jobOf } from "./program.ts";
import type { EngineRequests, ExploreView } from "./protocol.ts";
import { outcomeOf } from "./run.ts";

/** Turns of warps that are kept of a run. */
const maxTurns = 20_000;

/** Runs a program under other schedules until one makes a difference; then shows the two that differ. */
export async function exploreProgram(
  { program, budget }: EngineRequests["explore"]["args"],
  onProgress: (tried: unknown) => void,
): Promise<ExploreView> {
  try {
    const { job, variant } = jobOf(program);
    const files = await filesOf(program);
    const run = (options: JobOptions) =>
      new JobRun(new Device(), job, variant, files, { engine: "interpreter", sanitize: new Set(), ...options }).run();
    const { schedules, covered, found } = await explore(job, run, { budget, onSchedule: onProgress });
    const shown = (title: string, options: JobOptions): ExploreView["runs"][number] => {
      const turns = new TurnRecorder();
      const started = performance.now();
      const result = run({ ...options, maxSteps: 5_000_000, observers: [turns.observer] });
      return { title, outcome: outcomeOf(result, performance.now() - started), turns: turns.turns };
    };
    const other = (): JobOptions =>
      found!.schedule === null
        ? { seed: found!.seed }
        : { steering: new ScriptedSteering(parseSchedule(found!.schedule)) };
    return {
      ...{ failure: null, findings: [], schedules, covered },
      found: found && {
        schedule: found.schedule,
        seed: found.seed,
        difference: found.difference,
        interruptions: found.interruptions,
      },
      runs: [shown("The usual schedule", {}), ...(found === null ? [] : [shown("The schedule that differs", other())])],
    };
  } catch (error) {
    return { ...findingsOfError(error), schedules: 0, covered: null, found: null, runs: [] };
  }
}

/** Writes down whose turn it is. */
class TurnRecorder {
  readonly turns: { block: number; warp: number; from: number; to: number }[] = [];
  #now = 0;

  get observer(): Observer {
    return {
      instruction: ({ warp }) => {
        const { ticket: block } = warp.cta;
        const last = this.turns.at(-1);
        if (last?.block === block && last.warp === warp.index) last.to = this.#now + 1;
        else if (this.turns.length < maxTurns) {
          this.turns.push({ block, warp: warp.index, from: this.#now, to: this.#now + 1 });
        }
        this.#now++;
      },
    };
  }
}
