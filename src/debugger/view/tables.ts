import { lowestLane, maskText, popcount } from "../../ir/lane-mask.ts";
import type { Moment } from "../../interpreter/execution.ts";
import type { Cta, Warp } from "../../machine/state/launch-state.ts";
import { type LanePlace, placeOf } from "./lane-place.ts";

/** Lanes of a warp in the same state at the same instruction. */
export interface LaneRow extends Omit<LanePlace, "lane" | "group"> {
  readonly mask: number;
}

/** Returns all lanes of a warp, grouped by state and instruction, in the order of their lowest lane. */
export function lanesTable(warp: Warp, moment: Moment | null): readonly LaneRow[] {
  const rows: (LaneRow & { mask: number })[] = [];
  for (let m = warp.lanes; m !== 0; m &= m - 1) {
    const lane = lowestLane(m);
    const { state, why, activation, site } = placeOf(warp, lane, moment);
    const row = rows.find((r) => r.state === state && r.activation === activation && r.site === site && r.why === why);
    if (row === undefined) rows.push({ state, why, activation, site, mask: 1 << lane });
    else row.mask |= 1 << lane;
  }
  return rows;
}

/** The state of one barrier of a block. */
export interface BarrierRow {
  readonly id: number;
  readonly arrived: number;
  /** The arrivals that complete it, in threads (vISA: hardware threads). */
  readonly expected: number;
  /** How often it has been completed. */
  readonly round: number;
  /** The indices of the warps that wait at it. */
  readonly warps: readonly number[];
}

/** Returns the barriers of a block that have been used. */
export const barriersTable = (cta: Cta): readonly BarrierRow[] =>
  cta.barriers
    .filter(({ arrived, round }) => arrived > 0 || round > 0)
    .map(({ id, arrived, count, weight, round, waiters }) => ({
      id,
      arrived,
      expected: count ?? cta.expectedWarps * weight,
      round,
      warps: [...new Set(waiters.map(({ warp }) => warp.index))],
    }));

/** Describes a mask of lanes: "0-3,7", "all 32", or the mask itself if it has many gaps. */
export function lanesText(mask: number): string {
  if (mask === -1) return "all 32";
  const parts: string[] = [];
  for (let lane = 0; lane < 32; lane++) {
    if (((mask >>> lane) & 1) === 0) continue;
    let end = lane;
    while (end < 31 && ((mask >>> (end + 1)) & 1) !== 0) end++;
    parts.push(end === lane ? `${lane}` : `${lane}-${end}`);
    lane = end;
  }
  // For every other lane or the like, the mask is easier to read.
  return parts.length > 6 ? `${maskText(mask)} (${popcount(mask)})` : parts.join(",");
}
