import type { InstructionEvent } from "../machine/events.ts";
import type { Dim3 } from "../machine/reports/report.ts";
import type { Activation, Warp } from "../machine/state/launch-state.ts";

/** The most stretches that are kept for a warp. */
const maxStretches = 3000;

/** Consecutive instructions of one group of lanes in one function. */
export interface Stretch {
  /** The first warp-instruction of the warp, counted from 0, and the one after the last. */
  readonly from: number;
  readonly to: number;
  /** The lanes, as a signed 32-bit mask. */
  readonly mask: number;
  /** Name of the function. */
  readonly function: string;
  /** How many calls deep the group is; 0 in the kernel. */
  readonly depth: number;
  /** The first and the last line executed, in the function's source. */
  readonly firstLine: number;
  readonly lastLine: number;
}

/** What a warp did over time, measured in its own warp-instructions. */
export interface Timeline {
  /** Name of the kernel. */
  readonly kernel: string;
  /** Position of the block in the grid. */
  readonly block: Dim3;
  /** Index of the warp in its block. */
  readonly warp: number;
  /** The lanes that the warp has, as a signed 32-bit mask. */
  readonly lanes: number;
  /** The number of lanes of a full warp (vISA: of a hardware thread). */
  readonly width: number;
  /** All warp-instructions; the stretches may end earlier. */
  readonly instructions: number;
  /** In the order of time, without overlap. */
  readonly stretches: readonly Stretch[];
}

type Growing = { -readonly [K in keyof Stretch]: Stretch[K] };

/** Records the timeline of one warp. */
export class TimelineRecorder {
  readonly #warp: Warp;
  readonly #block: Dim3;
  readonly #stretches: Growing[] = [];
  #activation: Activation | null = null;
  #open: Growing | null = null;
  #time = 0;
  #isFull = false;

  constructor(warp: Warp) {
    this.#warp = warp;
    this.#block = warp.cta.id;
  }

  /** Records that a group of lanes issues an instruction. */
  add({ activation, group, site }: InstructionEvent): void {
    const time = this.#time++;
    if (this.#isFull) return;
    const { line } = site.code.ir.source.position(site.instruction.span.start);
    const open = this.#open;
    if (open !== null && activation === this.#activation && open.mask === group && open.to === time) {
      open.to = time + 1;
      open.firstLine = Math.min(open.firstLine, line);
      open.lastLine = Math.max(open.lastLine, line);
      return;
    }
    this.#isFull = this.#stretches.length >= maxStretches;
    if (this.#isFull) return;
    this.#activation = activation;
    const { name } = site.code.ir;
    const { depth } = activation;
    this.#open = { from: time, to: time + 1, mask: group, function: name, depth, firstLine: line, lastLine: line };
    this.#stretches.push(this.#open);
  }

  /** Returns the timeline so far. */
  timeline(): Timeline {
    const { lanes, index, cta } = this.#warp;
    return {
      kernel: cta.grid.kernel,
      block: this.#block,
      warp: index,
      lanes,
      width: cta.grid.threads?.width ?? 32,
      instructions: this.#time,
      stretches: this.#stretches,
    };
  }
}
