import type { Steering } from "../../machine/launch.ts";
import type { Restore } from "../../machine/memory/checkpoint.ts";
import type { Group } from "../../machine/state/launch-state.ts";

/** Records the answers of another steering, so that it can give them again after a checkpoint is restored. */
export class RecordedSteering implements Steering {
  readonly #source: Steering;
  readonly #answers: number[] = [];
  #given = 0;
  #isKept = false;

  constructor(source: Steering) {
    this.#source = source;
  }

  choose(ways: number, current: Group | null, groupOf: (way: number) => Group): number {
    // Time before the first checkpoint is never restored.
    if (!this.#isKept) return this.#source.choose(ways, current, groupOf);
    const given = this.#given++;
    const answer = (this.#answers[given] ??= this.#source.choose(ways, current, groupOf));
    // After a debugger has changed the machine there may be fewer ways.
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
