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
 * Loads elements that have others between them or overlap, four at a time out of one vector or two; nothing is read
 * before the first and after the last. False if they are further apart. `into`: the local of each quad.
 */
export function loadSpaced(
  writer: FunctionWriter,
  { bits, count, signed }: Access,
  { at, immediate, stride }: Spacing,
  into: readonly number[],
): boolean {
  const bytes = bits / 8;
  const span = 3 * stride + bytes;
  if (bits > 32 || count !== 1 || stride <= 0 || stride + bytes > 16) return false;
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

/** Whether words lie so far from each other that `loadWords` loads each by itself, in every quad. */
export const everyQuadIsApart = (distances: readonly number[]): boolean =>
  distances.every((_, lane) => lane % 4 !== 0 || areApart(distances.slice(lane, lane + 4)));

/** Whether four words lie too far from each other to be picked out of one vector or two. */
function areApart(distances: readonly number[]): boolean {
  const first = Math.min(...distances);
  const span = Math.max(...distances) + 4 - first;
  return span > 12 && (span > 32 || distances.some((d) => d - first > 12 && d - first < span - 16));
}

/**
 * Loads four words into a local, of which is known how far beyond `at` and `immediate` each lies. Nothing is read
 * before the first and after the last.
 */
export function loadWords(
  writer: FunctionWriter,
  at: Wasm,
  immediate: number,
  distances: readonly number[],
  into: number,
): void {
  const first = Math.min(...distances);
  const span = Math.max(...distances) + 4 - first;
  const load = (name: "v128.load" | "v128.load32_splat" | "v128.load64_zero", from: number): number => {
    const local = writer.local("v128");
    writer.value(at);
    writer.memory(name, 4, immediate + from);
    writer.set(local);
    return local;
  };
  /** Words out of one vector that begins with the first, or another that ends with the last. */
  const pick = (name: "v128.load" | "v128.load64_zero", bytes: number): void => {
    const low = load(name, first);
    const high = span === bytes ? low : load(name, first + span - bytes);
    const place = (distance: number): number => {
      const from = distance - first;
      return from + 4 <= bytes ? from : 16 + from - (span - bytes);
    };
    const bytesOfLane = (distance: number): readonly number[] => [0, 1, 2, 3].map((i) => place(distance) + i);
    const [a, b] = [wasm.local("v128", low), wasm.local("v128", high)];
    const isWhole = span === 16 && distances.every((distance, lane) => distance === first + 4 * lane);
    writer.assign([{ local: into, value: isWhole ? a : wasm.shuffle(a, b, distances.flatMap(bytesOfLane)) }]);
    writer.release(low);
    if (high !== low) writer.release(high);
  };
  if (span === 4) {
    const local = load("v128.load32_splat", first);
    writer.assign([{ local: into, value: wasm.local("v128", local) }]);
    writer.release(local);
  } else if (span <= 12) pick("v128.load64_zero", 8);
  else if (!areApart(distances)) pick("v128.load", 16);
  else {
    distances.forEach((distance, lane) => {
      writer.value(at);
      if (lane > 0) writer.get(into);
      if (lane === 0) writer.memory("v128.load32_zero", 4, immediate + distance);
      else writer.memory("v128.load32_lane", 4, immediate + distance, lane);
      writer.set(into);
    });
  }
}
