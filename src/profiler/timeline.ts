import type { InstructionEvent } from "../machine/events.ts";
import type { Dim3 } from "../machine/reports/report.ts";
import type { Activation, Warp } from "../machine/state/launch-state.ts";

/** Stretches that are kept of one warp. */
const mostStretches = 3000;

/** Some lanes of a warp that ran together without another group between. */
export interface Stretch {
  /** Warp-instructions of the warp: from the first on, and up to this one, exclusive. */
  readonly from: number;
  readonly to: number;
  readonly mask: number;
  readonly function: string;
  readonly depth: number;
  /** Lines of the function's source. */
  readonly firstLine: number;
  readonly lastLine: number;
}

/** What a warp did, in its own warp-instructions. */
export interface Timeline {
  readonly kernel: string;
  readonly block: Dim3;
  readonly warp: number;
  /** Lanes that the warp has. */
  readonly lanes: number;
  readonly width: number;
  /** Warp-instructions in all; the stretches may end before. */
  readonly instructions: number;
  readonly stretches: readonly Stretch[];
}

type Growing = { -readonly [K in keyof Stretch]: Stretch[K] };

/** Watches one warp of one block. */
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

  /** A group of lanes comes to an instruction. */
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
    this.#isFull = this.#stretches.length >= mostStretches;
    if (this.#isFull) return;
    this.#activation = activation;
    const { name } = site.code.ir;
    const { depth } = activation;
    this.#open = { from: time, to: time + 1, mask: group, function: name, depth, firstLine: line, lastLine: line };
    this.#stretches.push(this.#open);
  }

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
