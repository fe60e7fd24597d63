import { emit } from "../../machine/events.ts";
import type { BlockRange } from "../../machine/launch.ts";
import type { Restore } from "../../machine/memory/checkpoint.ts";
import { GridBlock } from "../../machine/state/cta.ts";
import type { Cta, FunctionCode, Grid } from "../../machine/state/launch-state.ts";
import { PendingEffects } from "../../machine/state/pending-effects.ts";
import { endUnits } from "../../program/units/index.ts";

/** The most blocks that run at the same time, when earlier ones wait for later ones. */
const maxResident = 512;

/** The blocks of a grid that have begun and not ended, in the order of the grid. */
export class ResidentBlocks {
  readonly total: number;
  /** The blocks that run. */
  readonly #ranges: readonly BlockRange[];
  readonly #grid: Grid;
  readonly #kernel: FunctionCode;
  readonly #sharedBytes: number;
  readonly #max: number;
  /** Whether asynchronous operations of blocks that begin take effect as late as they may. */
  late = false;
  readonly #idle: Cta[] = [];
  #blocks: readonly Cta[] = [];
  #begun = 0;
  #made = 0;
  #done = 0;

  /** `ranges`: the blocks that run, in order; default: all. */
  constructor(grid: Grid, kernel: FunctionCode, sharedBytes: number, ranges?: readonly BlockRange[]) {
    const [x, y, z] = grid.dimensions;
    this.#ranges = ranges ?? [[0, x * y * z]];
    this.total = this.#ranges.reduce((sum, [from, to]) => sum + to - from, 0);
    this.#grid = grid;
    this.#kernel = kernel;
    this.#sharedBytes = sharedBytes;
    this.#max = Math.min(maxResident, grid.threads?.residentGroups ?? maxResident);
  }

  /** A new list after every change. */
  get blocks(): readonly Cta[] {
    return this.#blocks;
  }

  get done(): number {
    return this.#done;
  }

  get ended(): boolean {
    return this.#done === this.total;
  }

  /** Begins so many more blocks, as far as there are any. */
  open(count: number): void {
    const room = Math.min(count, this.total - this.#begun, this.#max - this.#blocks.length);
    if (room <= 0) return;
    const opened = Array.from({ length: room }, () => {
      const cta = this.#idle.pop() ?? new GridBlock(this.#grid, this.#sharedBytes, this.#made++);
      cta.start(this.#indexOf(this.#begun++), this.#kernel);
      cta.units.late = this.late;
      const { observers } = this.#grid;
      if (observers !== null) emit(observers, "blockBegin", cta);
      return cta;
    });
    this.#blocks = [...this.#blocks, ...opened];
  }

  /** The linear index of the nth block that runs. */
  #indexOf(n: number): number {
    let before = 0;
    for (const [from, to] of this.#ranges) {
      if (n < before + to - from) return from + n - before;
      before += to - from;
    }
    throw new RangeError(`there is no block ${n} to run`);
  }

  /** Covers which blocks are resident, not their state. */
  checkpoint(): Restore {
    const idle = [...this.#idle];
    const [blocks, begun, made, done] = [this.#blocks, this.#begun, this.#made, this.#done];
    return () => {
      this.#idle.splice(0, this.#idle.length, ...idle);
      [this.#blocks, this.#begun, this.#made, this.#done] = [blocks, begun, made, done];
    };
  }

  /** Asynchronous operations that nobody waits for take effect. Returns whether there were any. */
  completeEffects(): boolean {
    let any = false;
    for (const { units } of this.#blocks) if (units.existing(PendingEffects)?.completeAll() === true) any = true;
    return any;
  }

  /**
   * A block has ended.
   *
   * @throws Fault if it has not given back what it had to
   */
  close(cta: Cta): void {
    endUnits(cta.units);
    const { observers } = this.#grid;
    cta.units.existing(PendingEffects)?.completeAll();
    if (observers !== null) emit(observers, "blockEnd", cta);
    this.#blocks = this.#blocks.filter((other) => other !== cta);
    this.#idle.push(cta);
    this.#done++;
  }
}
