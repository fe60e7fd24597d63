import { windows } from "../../ir/index.ts";
import type { Place, PlaceKind } from "../../machine/faults/locate.ts";
import { Views } from "../../machine/memory/views.ts";
import type { Activation, Grid } from "../../machine/state/launch-state.ts";

const nothing = new Views(0);

/**
 * The variable or allocation that an instruction accessed last, in the form in which the next access is checked against
 * it: a base address `a` (before the constant offset of the instruction) is valid if `a - from <= span`, unsigned.
 */
export class LastExtent {
  views = nothing;
  high = 0;
  from = 0;
  /** -1 while nothing is remembered. */
  span = -1;
  /** The byte of `views` that belongs to `from`, for lane 0, and the bytes from one lane to the next. */
  at = 0;
  stride = 0;
  readonly #offset: number;
  readonly #size: number;
  #grid: Grid | null = null;
  #kind: PlaceKind = "stack";
  #epoch = 0;
  #frameFrom = 0;
  #frameAt = 0;

  constructor(offset: number, size: number) {
    this.#offset = offset;
    this.#size = size;
  }

  /** Updates what is remembered for an activation; false when it no longer holds. */
  refresh(x: Activation): boolean {
    const { cta, stack } = x.warp;
    if (this.span < 0 || this.#grid !== cta.grid) return false;
    switch (this.#kind) {
      case "global":
        return this.#epoch === cta.grid.memory.epoch;
      case "shared":
        this.views = cta.shared;
        return true;
      case "frame":
        this.views = stack.views;
        this.stride = stack.stride;
        this.from = (this.#frameFrom + x.base) | 0;
        this.at = this.#frameAt + x.base;
        return true;
      default:
        return true;
    }
  }

  /** Remembers the place of an access, whose address has this upper half. */
  remember(x: Activation, high: number, place: Place): void {
    const { grid } = x.warp.cta;
    const from = place.start - this.#offset;
    this.span = place.end - place.start - this.#size;
    // An extent that begins before 0 without the offset cannot be checked in 32 bits; a caller's frame moves.
    if (from < 0 || from + this.span > 0xffff_ffff || place.kind === "stack") this.span = -1;
    // In other clusters the address means another block, and the block may exit.
    if (place.owner !== null) this.span = -1;
    // The unsized formal has another size in the next call.
    const { frame } = x.code;
    if (place.kind === "frame" && place.start - windows.local.start - x.base >= frame.size) this.span = -1;
    if (this.span < 0) return;
    this.#grid = grid;
    this.#kind = place.kind;
    this.#epoch = grid.memory.epoch;
    this.#frameFrom = from - x.base;
    this.#frameAt = place.start - windows.local.start - x.base;
    this.views = place.views;
    this.high = high | 0;
    this.from = from | 0;
    this.at = place.kind === "frame" ? this.#frameAt + x.base : place.at;
    this.stride = place.kind === "frame" ? x.warp.stack.stride : 0;
  }
}
