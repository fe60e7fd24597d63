import { lowestLane } from "../../ir/lane-mask.ts";
import { undefinedProducts } from "./products.ts";
import { type Arrangement, sourcesOf, type WarpOp } from "../../ir/index.ts";
import type { WarpEvent } from "../../machine/events.ts";
import type { Shade } from "./shade.ts";
import { type InitState, LaneShades } from "./state.ts";

/** The undefined bits of the operands that lanes bring to a warp-wide operation, kept until it is performed. */
export class WarpOperands {
  readonly value = new LaneShades();
  /** The operands that choose the lane to read from. */
  readonly choice = new LaneShades();
  readonly #each = new Map<number, LaneShades>();

  /** The operand of this number, of an operation that moves parts of several. */
  numbered(operand: number): LaneShades {
    let found = this.#each.get(operand);
    if (found === undefined) this.#each.set(operand, (found = new LaneShades()));
    return found;
  }

  /** Lanes bring new operands. */
  clear(lanes: number): void {
    for (const shades of [this.value, this.choice, ...this.#each.values()]) shades.lanes &= ~lanes;
  }
}

const nothing: Shade = { low: 0, high: 0, origin: 0 };

/** The operation is performed: results are undefined as far as the operands are that they depend on. */
export function finish(state: InitState, e: WarpEvent, operands: WarpOperands): void {
  const { value, choice } = operands;
  const undefinedLanes = value.lanes & e.mask;
  for (const { activation, site, mask } of e.parts) {
    const { op, dst } = site.instruction;
    if (op.kind !== "warp") continue;
    const shadow = state.shadowOf(activation);
    const products = op.warp.op === "multiply" ? undefinedProducts(op.warp.product, operands) : null;
    for (let m = mask; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      const result = resultOf(op.warp, e, lane, value, undefinedLanes);
      const chosen = ((choice.lanes >>> lane) & 1) === 0 ? null : choice.of(lane);
      state.reader.at(shadow, activation, lane, e.mask);
      dst.forEach((to, i) => {
        if (to === null) return;
        const found =
          op.warp.op === "arrange"
            ? arranged(op.warp.arrangement, i, lane, operands)
            : op.warp.op === "multiply"
              ? products!.of(i, lane)
              : chosen !== null
                ? { low: -1, high: -1, origin: chosen.origin }
                : i === 0
                  ? result
                  : nothing;
        state.write(shadow, to, lane, found);
      });
    }
  }
}

function resultOf(op: WarpOp, e: WarpEvent, lane: number, value: LaneShades, lanes: number): Shade {
  if (lanes === 0) return nothing;
  const { origin } = value.of(lowestLane(lanes));
  switch (op.op) {
    case "shfl": {
      const source = e.sources?.[lane] ?? lane;
      return ((lanes >>> source) & 1) === 0 ? nothing : value.of(source);
    }
    case "vote":
      return { low: op.mode === "ballot" ? lanes : -1, high: op.mode === "ballot" ? 0 : -1, origin };
    case "match":
    case "redux":
      return { low: -1, high: -1, origin };
    case "elect":
    case "sync":
    case "align":
    // Determined for each result.
    case "arrange":
    case "multiply":
      return nothing;
  }
}

/** The bits of a register that come from undefined ones. */
function arranged(arrangement: Arrangement, result: number, lane: number, operands: WarpOperands): Shade {
  const { bits } = arrangement;
  const mask = bits === 32 ? -1 : (1 << bits) - 1;
  const found = { low: 0, high: 0, origin: 0 };
  sourcesOf(arrangement, result, lane).forEach((source, part) => {
    if (source === null) return;
    const shades = operands.numbered(source.operand);
    if (((shades.lanes >>> source.lane) & 1) === 0) return;
    const { low, origin } = shades.of(source.lane);
    const taken = (low >>> (source.part * bits)) & mask;
    if (taken === 0) return;
    found.low |= taken << (part * bits);
    found.origin = origin;
  });
  return found;
}
