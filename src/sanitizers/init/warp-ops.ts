import { lowestLane } from "../../ir/lane-mask.ts";
import type { WarpOp } from "../../ir/index.ts";
import type { WarpEvent } from "../../machine/events.ts";
import type { Shade } from "./shade.ts";
import { type InitState, LaneShades } from "./state.ts";

/** The undefined bits of the operands that lanes bring to a warp-wide operation, kept until it is performed. */
export class WarpOperands {
  readonly value = new LaneShades();
  /** The operands that choose the lane to read from. */
  readonly choice = new LaneShades();
}

const nothing: Shade = { low: 0, high: 0, origin: 0 };

/** The operation is performed: results are undefined as far as the operands are that they depend on. */
export function finish(state: InitState, e: WarpEvent, { value, choice }: WarpOperands): void {
  const undefinedLanes = value.lanes & e.mask;
  for (const { activation, site, mask } of e.parts) {
    const { op, dst } = site.instruction;
    if (op.kind !== "warp") continue;
    const shadow = state.shadowOf(activation);
    for (let m = mask; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      const result = resultOf(op.warp, e, lane, value, undefinedLanes);
      const chosen = ((choice.lanes >>> lane) & 1) === 0 ? null : choice.of(lane);
      state.reader.at(shadow, activation, lane, e.mask);
      dst.forEach((to, i) => {
        if (to === null) return;
        const found = chosen !== null ? { low: -1, high: -1, origin: chosen.origin } : i === 0 ? result : nothing;
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
      return nothing;
  }
}
