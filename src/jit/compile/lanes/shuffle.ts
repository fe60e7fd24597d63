import { type Wasm, wasm } from "../../../wasm/index.ts";

type Mode = "up" | "down" | "bfly" | "idx";

/**
 * The lane from which a lane of a warp takes its value in a shuffle with known operands (PTX manual, section 9.7.9.6).
 */
export interface Source {
  readonly lane: number;
  /** Whether the selected lane is in range; if not, a lane takes its own value. */
  readonly inRange: boolean;
}

export function sourceOf(mode: Mode, lane: number, b: number, c: number): Source {
  const segment = (c >> 8) & 31;
  const least = lane & segment;
  const most = least | (c & 31 & ~segment);
  const count = b & 31;
  const from = { up: lane - count, down: lane + count, bfly: lane ^ count, idx: least | (count & ~segment) }[mode];
  const inRange = mode === "up" ? from >= most : from <= most;
  return { lane: inRange ? from : lane, inRange };
}

/** `sourceOf` for vector operands: the source lanes, and the mask of lanes whose source is in range. */
export function sourcesOf(mode: Mode, lane: Wasm, b: Wasm, c: Wasm): { readonly lanes: Wasm; readonly inRange: Wasm } {
  const and = (x: Wasm, y: Wasm): Wasm => wasm.op("v128.and", x, y);
  const low = wasm.i32x4(31);
  const segment = and(wasm.op("i32x4.shr_u", c, wasm.i32(8)), low);
  const least = and(lane, segment);
  const most = wasm.op("v128.or", least, wasm.op("v128.andnot", and(c, low), segment));
  const count = and(b, low);
  const from = {
    up: () => wasm.op("i32x4.sub", lane, count),
    down: () => wasm.op("i32x4.add", lane, count),
    bfly: () => wasm.op("v128.xor", lane, count),
    idx: () => wasm.op("v128.or", least, wasm.op("v128.andnot", count, segment)),
  }[mode]();
  const inRange = wasm.op(mode === "up" ? "i32x4.ge_s" : "i32x4.le_s", from, most);
  return { lanes: wasm.blend(inRange, from, lane), inRange };
}

/** A permutation of the lanes of several quads; `from[l]` is the source of lane l of the result. */
export function permuted(quads: readonly Wasm[], from: readonly number[]): Wasm[] {
  return Array.from({ length: from.length / 4 }, (_, q) => fourOf(quads, from.slice(4 * q, 4 * q + 4)));
}

function fourOf(quads: readonly Wasm[], from: readonly number[]): Wasm {
  const [first, ...others] = [...new Set(from.map((lane) => lane >> 2))];
  let at = from.map((lane) => lane & 3);
  let result = quads[first!]!;
  if (others.length === 0 && at.every((lane, i) => lane === i)) return result;
  if (others.length === 0) return wasm.shuffle32(result, result, four(at));
  for (const other of others) {
    // Elements from quads that have not been merged yet may be anything.
    const elements = from.map((lane, i) => (lane >> 2 === other ? 4 + (lane & 3) : at[i]!));
    result = wasm.shuffle32(result, quads[other]!, four(elements));
    at = [0, 1, 2, 3];
  }
  return result;
}

const four = ([a, b, c, d]: readonly number[]): [number, number, number, number] => [a!, b!, c!, d!];
