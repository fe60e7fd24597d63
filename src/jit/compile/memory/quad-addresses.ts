import { wasm, type Wasm } from "../../../wasm/index.ts";
import type { Vector } from "../lanes/value.ts";

/** The addresses of four lanes: their lower and upper halves, and the bits of them that must be 0. */
export interface QuadAddresses {
  readonly words: Wasm;
  readonly upper: Wasm;
  readonly low: Wasm;
}

/** The addresses of all lanes at an offset from those of a base. */
export function quadAddresses({ ty, quads }: Vector, offset: number, align: number): readonly QuadAddresses[] {
  const wide = ty === "i64";
  return quads.map((quad) => {
    // V8 adds zeros, too.
    const plus = (part: Wasm): Wasm =>
      wide ? wasm.op("i64x2.add", part, wasm.i64x2(BigInt(offset))) : wasm.op("i32x4.add", part, wasm.i32x4(offset));
    const moved = offset === 0 ? quad : quad.map(plus);
    const words = wide ? wasm.shuffle32(moved[0]!, moved[1]!, [0, 2, 4, 6]) : moved[0]!;
    const upper = wide ? wasm.shuffle32(moved[0]!, moved[1]!, [1, 3, 5, 7]) : wasm.i32x4(0);
    return { words, upper, low: wasm.op("v128.and", words, wasm.i32x4(align - 1)) };
  });
}
