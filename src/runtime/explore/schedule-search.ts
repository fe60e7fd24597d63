import type { Conflicts } from "./footprints.ts";
import { type Choice, type Schedule, scheduleText, type ScriptedSteering } from "./schedule-script.ts";

/** A schedule to try. */
export type Candidate =
  | { readonly kind: "schedule"; readonly schedule: Schedule; readonly interruptions: number }
  | { readonly kind: "seed"; readonly seed: number };

/** A choice, and the ways worth trying there. */
interface Point {
  readonly at: number;
  readonly ways: readonly number[];
}

/** Schedules that follow one already tried up to some choice, turn there, and then take way 0. */
interface Branching {
  readonly schedule: Schedule;
  readonly interruptions: number;
  readonly turns: Iterator<{ readonly at: number; readonly way: number }>;
}

/**
 * Decides which schedules of a program to try, each once, those with the fewest interruptions first. If there are too
 * many with a single interruption, every second schedule is random.
 */
export class Exploration {
  readonly #budget: number;
  /** Indexed by the number of interruptions. */
  readonly #levels: Branching[][] = [];
  /** The names of the schedules already handed out. */
  readonly #seen = new Set<string>();
  #tried = 0;
  #seed: number;
  #large = false;
  #complete = true;

  /** `budget` is the most schedules to try, `seed` the first seed for random ones. */
  constructor(budget: number, seed = 1) {
    this.#budget = budget;
    this.#seed = seed;
  }

  get tried(): number {
    return this.#tried;
  }

  /**
   * All schedules with at most this many interruptions have been tried; -1 if not even those without any, null if all
   * schedules have been tried.
   */
  get coveredInterruptions(): number | null {
    const open = this.#levels.findIndex((level) => level.length > 0);
    return open < 0 && this.#complete ? null : Math.max(open, 0) - 1;
  }

  /**
   * Returns the next schedule to try, or null if there is none left. Call `ran` with the outcome of one before asking
   * for another.
   */
  next(): Candidate | null {
    if (this.#tried >= this.#budget) return null;
    if (this.#tried === 0) return this.#count({ kind: "schedule", schedule: [], interruptions: 0 });
    const seeded = this.#large && this.#tried % 2 === 1;
    const candidate = seeded ? null : this.#nextSchedule();
    if (candidate !== null) return this.#count(candidate);
    return this.#large ? this.#count({ kind: "seed", seed: this.#seed++ }) : null;
  }

  /**
   * Records that a schedule has been tried, and at which of its choices others branch off. With `conflicts`, these are
   * only those that may give a different run; a conflict may also require a turn before the schedule's last one, to
   * another warp.
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

/**
 * The ways of a choice that are worth trying. If a conflicting warp cannot run there, any way may lead to it, so all
 * are tried.
 */
function waysOf({ interrupts, warps }: Choice, at: number, conflicts: Conflicts | null): number[] {
  const all = warps.flatMap((_, way) => (way === 0 ? [] : [way]));
  if (conflicts === null || !interrupts) return all;
  const others = conflicts.get(at);
  if (others !== undefined && ![...others].every((warp) => warps.includes(warp))) return all;
  // Groups of the same warp are not distinguished: they reconverge, and what they do then depends on where.
  return all.filter((way) => warps[way] === warps[0] || others?.has(warps[way]!));
}

/** Yields all turns at these choices, in an order that spreads the early ones far apart. */
function* spread(points: readonly Point[]): Generator<{ at: number; way: number }> {
  const count = points.length;
  const stride = coprime(Math.max(1, Math.round(count * 0.618)), count);
  for (let i = 0; i < count; i++) {
    const { at, ways } = points[(i * stride) % count]!;
    for (const way of ways) yield { at, way };
  }
}

/** The smallest number not below `n` that is coprime to `m`. */
function coprime(n: number, m: number): number {
  const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));
  let k = n;
  while (gcd(k, m) !== 1) k++;
  return k;
}
