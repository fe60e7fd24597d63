import type { Conflicts } from "./footprints.ts";
import { type Choice, type Schedule, scheduleText, type ScriptedSteering } from "./schedule-script.ts";

/** A schedule to try. */
export type Candidate =
  | { readonly kind: "schedule"; readonly schedule: Schedule; readonly interruptions: number }
  | { readonly kind: "seed"; readonly seed: number };

/** A choice, and the ways that are worth a try there. */
interface Point {
  readonly at: number;
  readonly ways: readonly number[];
}

/** Further schedules, which are as one that was tried up to a choice, turn there, and then go on as it comes. */
interface Branching {
  readonly schedule: Schedule;
  readonly interruptions: number;
  readonly turns: Iterator<{ readonly at: number; readonly way: number }>;
}

/**
 * Which schedules of a program to try, and in which order: those with the fewest interruptions first, each once. Where
 * there are too many with a single one, every second try is by chance.
 */
export class Exploration {
  readonly #budget: number;
  /** By number of interruptions. */
  readonly #levels: Branching[][] = [];
  /** Schedules that have been given to try, by name. */
  readonly #seen = new Set<string>();
  #tried = 0;
  #seed: number;
  #large = false;
  #complete = true;

  /** `budget`: how many schedules will be tried at most; `seed`: the first of those by chance. */
  constructor(budget: number, seed = 1) {
    this.#budget = budget;
    this.#seed = seed;
  }

  get tried(): number {
    return this.#tried;
  }

  /**
   * All schedules with at most so many interruptions have been tried; -1: not even those with none, null: simply all.
   */
  get coveredInterruptions(): number | null {
    const open = this.#levels.findIndex((level) => level.length > 0);
    return open < 0 && this.#complete ? null : Math.max(open, 0) - 1;
  }

  /** The next one to try, or null when there is none left. Tell what came of a schedule before asking again. */
  next(): Candidate | null {
    if (this.#tried >= this.#budget) return null;
    if (this.#tried === 0) return this.#count({ kind: "schedule", schedule: [], interruptions: 0 });
    const seeded = this.#large && this.#tried % 2 === 1;
    const candidate = seeded ? null : this.#nextSchedule();
    if (candidate !== null) return this.#count(candidate);
    return this.#large ? this.#count({ kind: "seed", seed: this.#seed++ }) : null;
  }

  /**
   * The schedule has been tried: at which of its choices others branch off. With `conflicts` only those that may give
   * another run; a conflict may also call for a turn before the schedule's last one, to somebody else.
   */
  ran({ schedule }: Candidate & { kind: "schedule" }, steering: ScriptedSteering, conflicts: Conflicts | null): void {
    const { choices } = steering;
    if (choices.length < steering.count) this.#complete = false;
    const from = (schedule.at(-1)?.at ?? -1) + 1;
    const byLevel = new Map<number, Point[]>();
    let interruptions = 0;
    let count = 0;
    let turn = 0;
    choices.forEach((choice, at) => {
      const taken = schedule[turn]?.at === at ? schedule[turn]!.way : 0;
      const ways = at < from && conflicts === null ? [] : waysOf(choice, at, conflicts).filter((way) => way !== taken);
      const level = interruptions + (choice.interrupts ? 1 : 0);
      const points = byLevel.get(level) ?? [];
      byLevel.set(level, points);
      if (ways.length > 0) points.push({ at, ways });
      count += ways.length;
      if (taken === 0) return;
      turn++;
      if (choice.interrupts) interruptions++;
    });
    for (const [level, points] of byLevel) {
      if (points.length === 0) continue;
      while (this.#levels.length <= level) this.#levels.push([]);
      this.#levels[level]!.push({ schedule, interruptions: level, turns: spread(points) });
    }
    if (schedule.length === 0) this.#large = count + 1 > this.#budget;
  }

  #count<T extends Candidate>(candidate: T): T {
    this.#tried++;
    return candidate;
  }

  #nextSchedule(): Candidate | null {
    for (const level of this.#levels) {
      for (let first = level[0]; first !== undefined; first = level[0]) {
        const { value, done } = first.turns.next();
        if (done !== true) {
          const { interruptions } = first;
          const schedule = [...first.schedule.filter(({ at }) => at < value.at), value];
          const name = scheduleText(schedule);
          if (this.#seen.has(name)) continue;
          this.#seen.add(name);
          return { kind: "schedule", schedule, interruptions };
        }
        level.shift();
      }
    }
    return null;
  }
}

/** The ways of a choice that are worth a try. Whoever conflicts but cannot run there may be brought on by anybody. */
function waysOf({ interrupts, warps }: Choice, at: number, conflicts: Conflicts | null): number[] {
  const all = warps.flatMap((_, way) => (way === 0 ? [] : [way]));
  if (conflicts === null || !interrupts) return all;
  const others = conflicts.get(at);
  if (others !== undefined && ![...others].every((warp) => warps.includes(warp))) return all;
  // Groups of one warp are not told apart: they meet again, and what they do then depends on where.
  return all.filter((way) => warps[way] === warps[0] || others?.has(warps[way]!));
}

/** All turns at these choices, in an order in which those that are tried early lie far apart. */
function* spread(points: readonly Point[]): Generator<{ at: number; way: number }> {
  const count = points.length;
  const stride = coprime(Math.max(1, Math.round(count * 0.618)), count);
  for (let i = 0; i < count; i++) {
    const { at, ways } = points[(i * stride) % count]!;
    for (const way of ways) yield { at, way };
  }
}

/** The first number from `n` on that has no common factor with `m`. */
function coprime(n: number, m: number): number {
  const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));
  let k = n;
  while (gcd(k, m) !== 1) k++;
  return k;
}
