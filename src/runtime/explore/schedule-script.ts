import type { Steering } from "../../machine/launch.ts";
import type { Group } from "../../machine/state/launch-state.ts";
import { UsageError } from "../data/errors.ts";
import { warpId } from "./footprints.ts";

/** A choice, counted from 0, at which a schedule takes a way other than 0. */
export interface Turn {
  readonly at: number;
  readonly way: number;
}

/**
 * A schedule, given by its turns: the choices where it differs from the schedule without interruptions, in ascending
 * order.
 */
export type Schedule = readonly Turn[];

/** The schedule without turns. */
const straight = "straight";

/** A schedule in the notation of `--schedule`: "straight", or choices with the ways taken there, as in "12:1,40:2". */
export const scheduleText = (schedule: Schedule): string =>
  schedule.length === 0 ? straight : schedule.map(({ at, way }) => `${at}:${way}`).join(",");

/**
 * Reads a schedule in the notation of `--schedule`: "straight", or choices in ascending order with the ways taken
 * there, as in "12:1,40:2".
 *
 * @throws UsageError if the text is not a schedule
 */
export function parseSchedule(text: string): Schedule {
  if (text === straight) return [];
  const turns = text.split(",").map((turn) => {
    const [, at, way] = /^(\d{1,9}):(\d{1,9})$/.exec(turn.trim()) ?? [];
    if (at === undefined) {
      throw new UsageError(`--schedule ${text}: expected "${straight}", or choices and ways as in 12:1,40:2`);
    }
    return { at: Number(at), way: Number(way) };
  });
  for (const [i, { at }] of turns.entries()) {
    if (i > 0 && at <= turns[i - 1]!.at) throw new UsageError(`--schedule ${text}: choices must be in ascending order`);
  }
  return turns;
}

/** A place where lanes were interrupted. */
export interface Interruption {
  readonly path: string;
  readonly line: number;
  readonly block: readonly [number, number, number];
  readonly warp: number;
}

/** The most ways remembered, over all choices. Exploration does not turn at later choices. */
const maxWays = 1 << 20;

/** A choice that a run had to make. */
export interface Choice {
  /** Whether all ways but 0 interrupt a warp. */
  readonly interrupts: boolean;
  /** For each way, the warp that continues. */
  readonly warps: readonly number[];
}

/** Steers a launch along a given schedule, and records the choices it had. It is for one run. */
export class ScriptedSteering implements Steering {
  readonly #turns: Schedule;
  #next = 0;
  #count = 0;
  #ways = 0;
  /** The first choices, as far as they are recorded. */
  readonly choices: Choice[] = [];
  /** The places where lanes were interrupted so far. */
  readonly interruptions: Interruption[] = [];

  constructor(schedule: Schedule) {
    this.#turns = schedule;
  }

  /** The number of choices so far. */
  get count(): number {
    return this.#count;
  }

  /**
   * The number of turns that the run has not reached. If any are left at its end, the schedule belongs to another run.
   */
  get unreached(): number {
    return this.#turns.length - this.#next;
  }

  /**
   * Returns the way that the schedule takes at the next choice.
   *
   * @throws UsageError if the choice does not have that way
   */
  choose(ways: number, current: Group | null, groupOf: (way: number) => Group): number {
    const at = this.#count++;
    this.#ways += ways;
    if (this.#ways <= maxWays) {
      const warps = Array.from({ length: ways }, (_, way) => warpId(groupOf(way).activation.warp));
      this.choices.push({ interrupts: current !== null, warps });
    }
    const turn = this.#turns[this.#next];
    if (turn === undefined || turn.at !== at) return 0;
    this.#next++;
    if (turn.way >= ways) {
      throw new UsageError(
        `the schedule is of another run: choice ${at} has ${ways} ways, and it takes way ${turn.way}`,
      );
    }
    if (current !== null && turn.way !== 0) this.interruptions.push(interruptionOf(current));
    return turn.way;
  }
}

function interruptionOf({ at, activation }: Group): Interruption {
  const { source, span } = activation.code.ir;
  const site = at.steps[0]?.site ?? at.terminator?.site;
  const { line } = source.position((site?.instruction.span ?? span).start);
  const { warp } = activation;
  const [x, y, z] = warp.cta.id;
  return { path: source.path, line, block: [x, y, z], warp: warp.index };
}
