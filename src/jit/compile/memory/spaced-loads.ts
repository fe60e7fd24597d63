import type { Access } from "../../../ir/index.ts";
import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";

/** Where elements lie that are `stride` bytes apart. */
interface Spacing {
  /** The byte of memory of the first one, and an immediate to be added. */
  readonly at: Wasm;
  readonly immediate: number;
  readonly stride: number;
}

/**
 * Loads elements with others between them, four at a time out of one vector or two; nothing is read before the first
 * and after the last. False if they are further apart. `into`: the local of each quad.
 */
export function loadSpaced(
  writer: FunctionWriter,
  { bits, count, signed }: Access,
  { at, immediate, stride }: Spacing,
  into: readonly number[],
): boolean {
  const bytes = bits / 8;
  const span = 3 * stride + bytes;
  if (bits > 32 || count !== 1 || stride <= bytes || stride + bytes > 16) return false;
  if (4 * (into.length - 1) * stride + span < 16) return false;
  const vector = (from: number): number => {
    const local = writer.local("v128");
    writer.value(at);
    writer.memory("v128.load", Math.min(bytes, 4), immediate + from);
    writer.set(local);
    return local;
  };
  into.forEach((local, q) => {
    const first = 4 * q * stride;
    // A vector ends with the last element that is needed; the first begins with the first of all.
    const start = span > 16 ? first : Math.max(0, first + span - 16);
    const low = vector(start);
    const high = span > 16 ? vector(first + span - 16) : null;
    const places = [0, 1, 2, 3].map((lane) => {
      const from = first + lane * stride;
      return high !== null && lane > 1 ? 16 + from - (first + span - 16) : from - start;
    });
    writer.assign([{ local, value: picked({ low, high, places, bytes, signed }) }]);
    for (const part of [low, high]) if (part !== null) writer.release(part);
  });
  return true;
}

/** Elements of a quad in one vector or two: locals, and the byte at which each begins in both together. */
interface Spaced {
  readonly low: number;
  readonly high: number | null;
  readonly places: readonly number[];
  readonly bytes: number;
  readonly signed: boolean;
}

/** Four elements, extended to words. */
function picked({ low, high, places, bytes, signed }: Spaced): Wasm {
  const [a, b] = [wasm.local("v128", low), high === null ? wasm.i32x4(0) : wasm.local("v128", high)];
  // Zeros come out of the other vector, or into the high bytes by a shift.
  const isShifted = bytes < 4 && (signed || high !== null);
  const bytesOfLane = (place: number): readonly number[] => {
    const element = Array.from({ length: bytes }, (_, i) => place + i);
    const rest = new Array<number>(4 - bytes).fill(16);
    return isShifted ? [...rest, ...element] : [...element, ...rest];
  };
  const value = wasm.shuffle(a, b, places.flatMap(bytesOfLane));
  return isShifted ? wasm.op(signed ? "i32x4.shr_s" : "i32x4.shr_u", value, wasm.i32(32 - 8 * bytes)) : value;
}
