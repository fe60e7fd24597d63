import { type Wasm, wasm } from "../../../wasm/index.ts";
import { anyOf } from "../lanes/mask-bits.ts";
import { bothMasks } from "../lanes/mask.ts";
import { atLeast, both, high32, i64, isZero, low, minus, where } from "../lanes/scalar.ts";
import { allWithin } from "./bounds-functions.ts";
import type { KnownObject } from "./known-object.ts";
import { type QuadAddresses, wrongBits } from "./quad-addresses.ts";

/** 1 if the range of each lane of a mask, of `size` bytes, is within one of some objects, and aligned; else 0. */
export function withinObjects(
  quads: readonly QuadAddresses[],
  size: number,
  objects: readonly KnownObject[],
  mask: readonly Wasm[] | null,
): Wasm {
  const isWide = quads.some(({ upper }) => upper !== null);
  const found = objects.map((object) => {
    const splat = (value: Wasm): Wasm => wasm.op("i32x4.splat", object.once?.(value) ?? value);
    const isLarge = atLeast(object.bytes, i64(size));
    return {
      object,
      start: splat(low(object.from)),
      range: splat(low(minus(object.bytes, i64(size)))),
      high: splat(high32(object.from)),
      /** Whether any access fits: the object is large enough, and addresses without an upper half reach it. */
      fits: isWide ? isLarge : both(isLarge, isZero(high32(object.from))),
      splat,
    };
  });
  const [only] = found;
  if (found.length === 1) {
    const { object, start, range, high, fits } = only!;
    const beyond = quads.map(({ words }) => wasm.op("i32x4.sub", words, start));
    const wrong = wrongBits(quads, high);
    const within = both(allWithin(beyond, range, mask), object.once?.(fits) ?? fits);
    return wrong.length === 0 ? within : both(within, wasm.op("i32.eqz", anyOf(bothMasks(wrong, mask)!)));
  }
  const wrong = quads.map(({ words, upper, low: rest }) => {
    const within = found.map(({ start, range, high, fits, splat }) => {
      const inside = wasm.op("i32x4.le_u", wasm.op("i32x4.sub", words, start), range);
      const here = upper === null ? inside : wasm.op("v128.and", inside, wasm.op("i32x4.eq", upper, high));
      return wasm.op("v128.and", here, splat(where(fits, wasm.i32(-1))));
    });
    const outside = wasm.op(
      "v128.not",
      within.reduce((a, b) => wasm.op("v128.or", a, b)),
    );
    return rest === null ? outside : wasm.op("v128.or", outside, rest);
  });
  return wasm.op("i32.eqz", anyOf(bothMasks(wrong, mask)!));
}
