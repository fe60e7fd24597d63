import type { Steering } from "../../machine/launch.ts";
import type { Group } from "../../machine/state/launch-state.ts";
import { UsageError } from "../data/errors.ts";
import { warpId } from "./footprints.ts";

/** At the choice of that number, counted from 0, a schedule goes another way than 0. */
export interface Turn {
  readonly at: number;
  readonly way: number;
}

/** Where a schedule differs from the one without interruptions, in ascending order. */
export type Schedule = readonly Turn[];

/** The schedule without turns. */
const straight = "straight";

/** As `--schedule` takes it: "straight", or choices with the ways that are taken there, as in "12:1,40:2". */
export const scheduleText = (schedule: Schedule): string =>
  schedule.length === 0 ? straight : schedule.map(({ at, way }) => `${at}:${way}`).join(",");

/** @throws UsageError when the text is no schedule */
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

/** Ways that are remembered, of all choices: at those behind, exploration turns nowhere. */
const maxWays = 1 << 20;

/** What a run was asked. */
export interface Choice {
  /** All ways but 0 interrupt somebody. */
  readonly interrupts: boolean;
  /** By way: who goes on. */
  readonly warps: readonly number[];
}

/** Follows a schedule, and remembers what it was asked. */
export class ScriptedSteering implements Steering {
  readonly #turns: Schedule;
  #next = 0;
  #count = 0;
  #ways = 0;
  /** Those that are remembered. */
  readonly choices: Choice[] = [];
  readonly interruptions: Interruption[] = [];

  constructor(schedule: Schedule) {
    this.#turns = schedule;
  }

  /** How often it was asked. */
  get count(): number {
    return this.#count;
  }

  /** Turns at choices that the run did not come to: the schedule is of another one. */
  get unreached(): number {
    return this.#turns.length - this.#next;
  }

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
