import type { Schedule, ScriptedSteering } from "./schedule-script.ts";

/** A schedule to try. */
export type Candidate =
  | { readonly kind: "schedule"; readonly schedule: Schedule; readonly interruptions: number }
  | { readonly kind: "seed"; readonly seed: number };

/** Further schedules that differ from one that was tried by one more turn behind its last. */
interface Branching {
  readonly schedule: Schedule;
  readonly interruptions: number;
  readonly turns: Iterator<{ readonly at: number; readonly way: number }>;
}

/**
 * Which schedules of a program to try, and in which order: those with the fewest interruptions first, each once. Where there
 * are too many with a single one, every second try is by chance.
 */
export class Exploration {
  readonly #budget: number;
  /** By number of interruptions. */
  readonly #levels: Branching[][] = [];
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

  /** All schedules with at most so many interruptions have been tried; -1: not even those with none, null: simply all. */
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

  /** The schedule has been tried: at which of its choices others could branch off. */
  ran({ schedule, interruptions }: Candidate & { kind: "schedule" }, steering: ScriptedSteering): void {
    const { choices } = steering;
    if (choices.length < steering.count) this.#complete = false;
    const from = (schedule.at(-1)?.at ?? -1) + 1;
    const turns = (interrupts: boolean): number[] =>
      choices.flatMap((c, at) => (at >= from && c.interrupts === interrupts ? [at] : []));
    for (const [level, points] of [
      [interruptions, turns(false)],
      [interruptions + 1, turns(true)],
    ] as const) {
      if (points.length === 0) continue;
      while (this.#levels.length <= level) this.#levels.push([]);
      const each = spread(points, (at) => choices[at]!.ways);
      this.#levels[level]!.push({ schedule, interruptions: level, turns: each });
    }
    if (schedule.length === 0) this.#large = choices.reduce((sum, c) => sum + c.ways - 1, 1) > this.#budget;
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
          const { schedule, interruptions } = first;
          return { kind: "schedule", schedule: [...schedule, value], interruptions };
        }
        level.shift();
      }
    }
    return null;
  }
}

/** All turns at these choices, in an order in which those that are tried early lie far apart. */
function* spread(points: readonly number[], ways: (at: number) => number): Generator<{ at: number; way: number }> {
  const count = points.length;
  const stride = coprime(Math.max(1, Math.round(count * 0.618)), count);
  for (let i = 0; i < count; i++) {
    const at = points[(i * stride) % count]!;
    for (let way = 1; way < ways(at); way++) yield { at, way };
  }
}

/** The first number from `n` on that has no common factor with `m`. */
function coprime(n: number, m: number): number {
  const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));
  let k = n;
  while (gcd(k, m) !== 1) k++;
  return k;
}
