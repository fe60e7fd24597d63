import { type Wasm, wasm } from "../wasm/index.ts";

/** Whether a vector holds lanes 2 and 3 of another one, with 32-bit elements, in its low half. */
const isUpper = (v: Wasm): v is Extract<Wasm, { kind: "op" }> =>
  v.kind === "op" && v.op === "i8x16.shuffle" && v.args[0] === v.args[1] && v.immediates[0] === 8;

/** Returns the 32-bit elements of a vector if its graph is a constant. */
export function constants32(v: Wasm): readonly number[] | null {
  if (v.kind !== "const" || v.ty !== "v128") return null;
  const b = v.value;
  return [0, 4, 8, 12].map((at) => b[at]! | (b[at + 1]! << 8) | (b[at + 2]! << 16) | (b[at + 3]! << 24));
}

/**
 * Returns the `i32` that all lanes of a vector hold (or the two in its low half), if the graph shows that there is one.
 */
export function uniform32(v: Wasm, lanes: 2 | 4): Wasm | null {
  if (v.kind === "op" && v.op === "i32x4.splat") return v.args[0]!;
  if (isUpper(v)) return uniform32(v.args[0]!, 4);
  const words = constants32(v)?.slice(0, lanes);
  return words?.every((word) => word === words[0]) ? wasm.i32(words[0]!) : null;
}

/**
 * A vector of two `i64` that are extended 32-bit numbers: the vector of these, the half of it that holds them, and the
 * kind of extension.
 */
interface Extended {
  readonly from: Wasm;
  readonly half: "low" | "high" | "both";
  readonly sign: "s" | "u" | "both";
}

const extendedBy = {
  "i64x2.extend_low_i32x4_s": { half: "low", sign: "s" },
  "i64x2.extend_low_i32x4_u": { half: "low", sign: "u" },
  "i64x2.extend_high_i32x4_s": { half: "high", sign: "s" },
  "i64x2.extend_high_i32x4_u": { half: "high", sign: "u" },
  "i64.extend_i32_s": { half: "both", sign: "s" },
  "i64.extend_i32_u": { half: "both", sign: "u" },
} as const;

function extendedFrom(v: Wasm): Extended | null {
  const words = constants32(v);
  if (words !== null) {
    const [low, high] = words as [number, number];
    if (words[2] !== low || words[3] !== high || (high !== 0 && (high !== -1 || low >= 0))) return null;
    return { from: wasm.i32x4(low), half: "both", sign: high === -1 ? "s" : low < 0 ? "u" : "both" };
  }
  if (v.kind !== "op") return null;
  const inner = v.op === "i64x2.splat" ? v.args[0]! : v;
  if (inner.kind !== "op" || !(inner.op in extendedBy)) return null;
  const by = extendedBy[inner.op as keyof typeof extendedBy];
  return { ...by, from: inner === v ? inner.args[0]! : wasm.op("i32x4.splat", inner.args[0]!) };
}

const common = <T extends string>(a: T | "both", b: T | "both"): T | "both" | null =>
  a === "both" ? b : b === "both" || a === b ? a : null;

/**
 * Returns the product of two vectors of `i64` as a single operation if both are 32-bit numbers extended in the same
 * way.
 */
export function productOfExtended(a: Wasm, b: Wasm): Wasm | null {
  const [x, y] = [extendedFrom(a), extendedFrom(b)];
  if (x === null || y === null) return null;
  const half = common(x.half, y.half);
  const sign = common(x.sign, y.sign);
  if (half === null || sign === null) return null;
  return wasm.op(
    `i64x2.extmul_${half === "both" ? "low" : half}_i32x4_${sign === "both" ? "s" : sign}`,
    x.from,
    y.from,
  );
}
