import type { Arrangement, WarpOp } from "../ir/index.ts";
import { eachLane, lanesWhere, lowestLane } from "../ir/lane-mask.ts";
import type { Value } from "../semantics/index.ts";

/*
 * Results of warp-wide operations, computed from the operands of the participating lanes. Which lanes participate, and
 * where operands and results are stored, is up to the engine.
 */

type ModeOf<K extends "shfl" | "vote"> = Extract<WarpOp, { op: K }>["mode"];

/**
 * The lane that a lane reads from in a shuffle (section 9.7.9.6), or -1 if that would be outside its segment; it then
 * reads its own value.
 */
export function shuffleSource(mode: ModeOf<"shfl">, lane: number, b: number, c: number): number {
  const distance = b & 31;
  const segment = (c >> 8) & 31;
  const min = lane & segment;
  const max = min | (c & 31 & ~segment);
  let from: number;
  switch (mode) {
    case "up":
      from = lane - distance;
      return from >= max ? from : -1;
    case "down":
      from = lane + distance;
      break;
    case "bfly":
      from = lane ^ distance;
      break;
    case "idx":
      from = min | (distance & ~segment);
      break;
  }
  return from <= max ? from : -1;
}

/** The predicate of a vote (section 9.7.13.9) in which `votes` of `lanes` are true. */
export function votePasses(mode: Exclude<ModeOf<"vote">, "ballot">, votes: number, lanes: number): boolean {
  if (mode === "any") return votes !== 0;
  return votes === lanes || (mode === "uni" && votes === 0);
}

/** The mask of lanes whose value equals that of `lane`: the result of `match` (section 9.7.13.10). */
export function lanesAlike(lanes: number, lane: number, read: (lane: number) => Value): number {
  const value = read(lane);
  return lanesWhere(lanes, (other) => read(other) === value);
}

/**
 * Combines the values of all lanes, starting with the lowest (section 9.7.13.12). `step` gets the next lane, the total
 * so far and that lane's value.
 */
export function reduceLanes(
  lanes: number,
  read: (lane: number) => Value,
  step: (lane: number, total: Value, value: Value) => Value,
): Value {
  const first = lowestLane(lanes);
  let total = read(first);
  eachLane(lanes & ~(1 << first), (lane) => {
    total = step(lane, total, read(lane));
  });
  return total;
}

/**
 * Moves parts of registers between lanes. `from` and `to` have a word for each lane of each operand, and of each
 * result.
 */
export function arrangeParts({ bits, from: results }: Arrangement, from: Int32Array, to: Int32Array): void {
  const parts = 32 / bits;
  const mask = bits === 32 ? -1 : (1 << bits) - 1;
  results.forEach((sources, result) => {
    for (let lane = 0; lane < 32; lane++) {
      let word = 0;
      for (let part = 0; part < parts; part++) {
        const source = sources[lane * parts + part]!;
        if (source < 0) continue;
        const value = (from[Math.floor(source / parts)]! >>> ((source % parts) * bits)) & mask;
        word |= value << (part * bits);
      }
      to[32 * result + lane] = word;
    }
  });
}

/** Whether a warp-wide operation can be executed: every lane of its member mask is here or has ended. */
export const areComplete = (named: number, live: number, here: number): boolean => (named & live & ~here) === 0;
