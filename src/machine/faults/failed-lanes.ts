import { Fault } from "./fault.ts";

/**
 * Collects the faults of lanes that execute an instruction one by one: the first one, in all lanes that fail in the
 * same way.
 */
export class FailedLanes {
  #first: Fault | null = null;
  #lanes = 0;

  add(fault: Fault): void {
    this.#first ??= fault;
    if (fault.code === this.#first.code) this.#lanes |= fault.lanes;
  }

  /** Runs the code of one lane, and takes the fault that it throws. */
  try(run: () => void): void {
    try {
      run();
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      this.add(error);
    }
  }

  /**
   * Throws the fault, if there is one. Call it after all lanes. `lane`: the one to which it belongs, if there is one.
   */
  end(lane: number | null = null): void {
    if (this.#first !== null) throw this.#first.inLanes(lane === null ? this.#lanes : 1 << lane);
  }
}
