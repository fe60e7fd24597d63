import { wasm, type Wasm } from "../../../wasm/index.ts";
import type { Vector } from "../lanes/value.ts";

/** The addresses of four lanes. */
export interface QuadAddresses {
  readonly words: Wasm;
  /** Their upper halves; null for addresses of 32 bits. */
  readonly upper: Wasm | null;
  /** The bits of them that must be 0; null if there are none. */
  readonly low: Wasm | null;
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
    const upper = wide ? wasm.shuffle32(moved[0]!, moved[1]!, [1, 3, 5, 7]) : null;
    return { words, upper, low: align === 1 ? null : wasm.op("v128.and", words, wasm.i32x4(align - 1)) };
  });
}

/** The bits of addresses that must be 0: where upper halves differ from another, and those below an alignment. */
export const wrongBits = (quads: readonly QuadAddresses[], high: Wasm): readonly Wasm[] =>
  quads.flatMap(({ upper, low }) => {
    const other = upper === null ? null : wasm.op("v128.xor", upper, high);
    const bits = other === null || low === null ? (other ?? low) : wasm.op("v128.or", other, low);
    return bits === null ? [] : [bits];
  });
