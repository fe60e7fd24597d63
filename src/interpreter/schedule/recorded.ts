import type { Steering } from "../../machine/launch.ts";
import type { Restore } from "../../machine/memory/checkpoint.ts";
import type { Group } from "../../machine/state/launch-state.ts";

/** Asks another one and notes its answers, so that it can give them again. */
export class RecordedSteering implements Steering {
  readonly #asked: Steering;
  readonly #answers: number[] = [];
  #given = 0;
  #isKept = false;

  constructor(asked: Steering) {
    this.#asked = asked;
  }

  choose(ways: number, current: Group | null, groupOf: (way: number) => Group): number {
    // Nobody will come back to what was before the first checkpoint.
    if (!this.#isKept) return this.#asked.choose(ways, current, groupOf);
    const given = this.#given++;
    const answer = (this.#answers[given] ??= this.#asked.choose(ways, current, groupOf));
    // After a change of the machine there may be fewer ways.
    return answer < ways ? answer : 0;
  }

  checkpoint(): Restore {
    const given = this.#given;
    this.#isKept = true;
    return () => {
      this.#given = given;
    };
  }
}
