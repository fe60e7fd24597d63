import { bytesOf } from "../data/argument.ts";
import { elementInfo, type Elements, numberArrays } from "../data/element.ts";

/** Reproducible noise from a linear congruential generator: `s * 1664525 + 1013904223 mod 2^32`. */
export interface LcgInit {
  readonly gen: "lcg";
  readonly seed: number;
  /** Floats lie in [lo, hi) unless `mod` is given. */
  readonly lo: number;
  readonly hi: number;
  /** The range [0, mod) of the integers drawn, or null for the whole range of the type. */
  readonly mod: number | null;
  readonly add: number;
  /** Floats with `mod` are integers times this. */
  readonly scale: number;
}

/**
 * How buffers are filled: a piece at a time, in arrays of one kind, which the host then converts to the type of the
 * elements. That is ten to fifty times as fast as setting elements one by one.
 */
const pieceLength = 4096;

/** Fills with one value, by copying what is there already. */
export function repeated(into: Elements, value: number | bigint): void {
  if (into.length === 0) return;
  into.set(0, value);
  const { bytes, size, length } = into;
  for (let done = size; done < length * size; done *= 2) {
    bytes.copyWithin(done, 0, Math.min(done, length * size - done));
  }
}

/** Fills with numbers that `produce` writes into the array that it is given. Of integers the low bits are kept. */
function inPieces<T extends Int32Array | Float64Array>(
  into: Elements,
  source: T,
  produce: (into: T, count: number, first: number) => void,
): void {
  const { type, bytes, size, length } = into;
  const piece = type in numberArrays ? new numberArrays[type as keyof typeof numberArrays](pieceLength) : null;
  for (let first = 0; first < length; first += pieceLength) {
    const count = Math.min(pieceLength, length - first);
    produce(source, count, first);
    if (piece === null) for (let i = 0; i < count; i++) into.set(first + i, source[i]!);
    else {
      piece.set(source);
      bytes.set(bytesOf(piece).subarray(0, count * size), first * size);
    }
  }
}

/** The same for integers of 64 bits, as pairs of words. */
function inPairs(into: Elements, produce: (into: Int32Array, count: number, first: number) => void): void {
  const words = new Int32Array(2 * pieceLength);
  for (let first = 0; first < into.length; first += pieceLength) {
    const count = Math.min(pieceLength, into.length - first);
    produce(words, count, first);
    into.bytes.set(bytesOf(words).subarray(0, 8 * count), 8 * first);
  }
}

/** Fills with start, start + step, start + 2 step, ... */
export function ramp(into: Elements, start: number | bigint, step: number | bigint): void {
  if (elementInfo[into.type].kind === "float") {
    const [from, by] = [Number(start), Number(step)];
    inPieces(into, new Float64Array(pieceLength), (piece, count, first) => {
      for (let i = 0; i < count; i++) piece[i] = from + (first + i) * by;
    });
    return;
  }
  const [from, by] = [BigInt(start), BigInt(step)];
  const change = low(by);
  if (into.size < 8) {
    inPieces(into, new Int32Array(pieceLength), (piece, count, first) => {
      let value = low(from + by * BigInt(first));
      for (let i = 0; i < count; i++) {
        piece[i] = value;
        value = (value + change) | 0;
      }
    });
    return;
  }
  const highChange = low(by >> 32n);
  inPairs(into, (words, count, first) => {
    const begin = from + by * BigInt(first);
    let value = low(begin);
    let high = low(begin >> 32n);
    for (let i = 0; i < count; i++) {
      words[2 * i] = value;
      words[2 * i + 1] = high;
      const next = (value + change) | 0;
      high = (high + highChange + (next >>> 0 < value >>> 0 ? 1 : 0)) | 0;
      value = next;
    }
  });
}

/** The low 32 bits, as a signed number. */
const low = (value: bigint): number => Number(BigInt.asIntN(32, value));

const advance = (state: number): number => (Math.imul(state, 1664525) + 1013904223) | 0;

/** Fills with noise. */
export function noise(into: Elements, init: LcgInit): void {
  if (elementInfo[into.type].kind === "float") floatNoise(into, init);
  else if (into.size < 8) integerNoise(into, init);
  else longNoise(into, init);
}

function floatNoise(into: Elements, { seed, lo, hi, mod, add, scale }: LcgInit): void {
  let kept = seed | 0;
  inPieces(into, new Float64Array(pieceLength), (piece, count) => {
    let state = kept;
    for (let i = 0; i < count; i++) {
      state = advance(state);
      if (mod === null) piece[i] = lo + ((hi - lo) * (state >>> 8)) / 0x100_0000;
      else piece[i] = ((((state ^ (state >>> 16)) >>> 3) % mod) + add) * scale;
    }
    kept = state;
  });
}

function integerNoise(into: Elements, { seed, mod, add }: LcgInit): void {
  let kept = seed | 0;
  inPieces(into, new Int32Array(pieceLength), (piece, count) => {
    let state = kept;
    for (let i = 0; i < count; i++) {
      state = advance(state);
      const drawn = state ^ (state >>> 16);
      piece[i] = mod === null ? drawn : ((drawn >>> 3) % mod) + add;
    }
    kept = state;
  });
}

function longNoise(into: Elements, { seed, mod, add }: LcgInit): void {
  let kept = seed | 0;
  inPairs(into, (words, count) => {
    let state = kept;
    for (let i = 0; i < count; i++) {
      state = advance(state);
      const drawn = state ^ (state >>> 16);
      state = advance(state);
      if (mod === null) {
        words[2 * i] = drawn;
        words[2 * i + 1] = state ^ (state >>> 16);
      } else {
        const value = ((drawn >>> 3) % mod) + add;
        words[2 * i] = value;
        words[2 * i + 1] = Math.floor(value / 2 ** 32);
      }
    }
    kept = state;
  });
}
