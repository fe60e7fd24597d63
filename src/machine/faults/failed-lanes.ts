import { Fault } from "./fault.ts";

/** What fails in lanes that go through an instruction one by one: the first fault, in all lanes that fail alike. */
export class FailedLanes {
  #first: Fault | null = null;
  #lanes = 0;

  add(fault: Fault): void {
    this.#first ??= fault;
    if (fault.code === this.#first.code) this.#lanes |= fault.lanes;
  }

  /** Does something for one lane. What is not a fault is thrown on. */
  try(run: () => void): void {
    try {
      run();
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      this.add(error);
    }
  }

  /** All lanes have been gone through: throws the fault, if there is one. */
  end(): void {
    if (this.#first !== null) throw this.#first.inLanes(this.#lanes);
  }
}
