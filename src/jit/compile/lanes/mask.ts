import type { Lanes } from "../../../ir/region.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";

/** A mask of the chunk's lanes, one v128 for each quad; null stands for all lanes. */
export type Mask = readonly Wasm[] | null;

/** The mask of all lanes, for code that needs vectors. */
export const fullMask = (quads: number): readonly Wasm[] => Array.from({ length: quads }, () => wasm.i32x4(-1));

/** The lanes of an instruction as a mask; null if they are all lanes of the chunk. */
export function ruleMask({ first, count }: Lanes, quads: number): Mask {
  if (first === 0 && count >= 4 * quads) return null;
  const has = (lane: number): number => (lane >= first && lane < first + count ? -1 : 0);
  return Array.from({ length: quads }, (_, q) => wasm.lanes([0, 1, 2, 3].map((l) => has(4 * q + l))));
}

const isFilled = (node: Wasm, byte: number): boolean =>
  node.kind === "const" && node.ty === "v128" && node.value.every((b) => b === byte);

/** Whether the part of a mask for a quad is the constant that has no lane, or all four. */
export const isNone = (mask: Wasm): boolean => isFilled(mask, 0);
export const isAll = (mask: Wasm): boolean => isFilled(mask, 0xff);

/** Whether the lanes of a mask are known while code is written: some, but not all. */
export const hasKnownLanes = (mask: readonly Wasm[]): boolean =>
  mask.every(({ kind }) => kind === "const") && !mask.every(isNone) && !mask.every(isAll);

/** The lanes of a quad's part of a mask, from 0 to 3, if it is a constant; else null. */
export function knownLanesIn(mask: Wasm): readonly number[] | null {
  if (mask.kind !== "const" || mask.ty !== "v128") return null;
  const { value } = mask;
  return [0, 1, 2, 3].filter((lane) => value[4 * lane] !== 0);
}

/** The lanes of a mask that is known while code is written; null for others. */
export function knownLanesOf(mask: readonly Wasm[]): readonly number[] | null {
  const lanes: number[] = [];
  for (const [q, part] of mask.entries()) {
    const known = knownLanesIn(part);
    if (known === null) return null;
    lanes.push(...known.map((lane) => 4 * q + lane));
  }
  return lanes;
}

/**
 * The lanes in both masks, with constant parts folded. The first may also be vectors of 32-bit words, which become 0
 * outside the mask.
 */
export function bothMasks(a: Mask, b: Mask): Mask {
  if (a === null || b === null) return a ?? b;
  return a.map((x, q) => {
    const y = b[q]!;
    if (isNone(x) || isAll(y)) return x;
    return isNone(y) || isAll(x) ? y : wasm.op("v128.and", x, y);
  });
}

/** Whether a mask has a lane, as 0 or 1; null if it is known to have it. */
export function hasLane(mask: Mask, lane: number): Wasm | null {
  const quad = mask?.[lane >> 2];
  if (quad === undefined) return null;
  const l = lane & 3;
  if (quad.kind === "const" && quad.ty === "v128") return quad.value[4 * l] === 0 ? wasm.i32(0) : null;
  return wasm.op("i32.and", wasm.lane("i32x4.extract_lane", l, quad), wasm.i32(1));
}
