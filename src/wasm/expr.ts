import type { WasmTy } from "./operation.ts";
import { foldedMask, wordsOf } from "./constant-masks.ts";
import type { LibraryFunction, Wasm } from "./graph.ts";
import { type ValueOp, valueOps } from "./value-ops.ts";

const scratch = new DataView(new ArrayBuffer(16));
const scratchBytes = new Uint8Array(scratch.buffer);

/** Returns a vector whose elements of `size` bytes are written by `set`. */
function vectorOf(size: number, set: (view: DataView, at: number, element: number) => void): Wasm {
  for (let at = 0; at < 16; at += size) set(scratch, at, at / size);
  const bytes = new Array<number>(16);
  for (let i = 0; i < 16; i++) bytes[i] = scratchBytes[i]!;
  return vector(bytes);
}

/** By the elements of a shuffle of words, the bytes that it selects: few are ever asked for. */
const shuffledBytes = new Map<number, readonly number[]>();

function bytesOfWords([a, b, c, d]: readonly [number, number, number, number]): readonly number[] {
  const key = a | (b << 3) | (c << 6) | (d << 9);
  let bytes = shuffledBytes.get(key);
  if (bytes === undefined) {
    bytes = [a, b, c, d].flatMap((e) => [4 * e, 4 * e + 1, 4 * e + 2, 4 * e + 3]);
    shuffledBytes.set(key, bytes);
  }
  return bytes;
}

const none: readonly number[] = [];

const vector = (value: readonly number[]): Wasm => ({ kind: "const", ty: "v128", value });

const zeros = vector(new Array<number>(16).fill(0));
const ones = vector(new Array<number>(16).fill(0xff));

/** The vocabulary in which graphs are written. */
export const wasm = {
  operand: (ty: WasmTy, index: number): Wasm => ({ kind: "operand", ty, index }),
  local: (ty: WasmTy, local: number): Wasm => ({ kind: "local", ty, local }),
  i32: (value: number): Wasm => ({ kind: "const", ty: "i32", value: value | 0 }),
  i64: (value: bigint): Wasm => ({ kind: "const", ty: "i64", value: BigInt.asIntN(64, value) }),
  f32: (value: number): Wasm => ({ kind: "const", ty: "f32", value }),
  f64: (value: number): Wasm => ({ kind: "const", ty: "f64", value }),
  /** `i32x4`, `i16x8`, `i64x2`, `f32x4` and `f64x2` are vectors with the same element in all lanes. */
  i32x4: (value: number): Wasm => {
    // Nearly all code uses the masks of no lanes and of all lanes.
    return value === 0 ? zeros : value === -1 ? ones : vectorOf(4, (v, at) => v.setInt32(at, value, true));
  },
  i16x8: (value: number): Wasm => vectorOf(2, (v, at) => v.setInt16(at, value, true)),
  i64x2: (value: bigint): Wasm => vectorOf(8, (v, at) => v.setBigInt64(at, value, true)),
  f32x4: (value: number): Wasm => vectorOf(4, (v, at) => v.setFloat32(at, value, true)),
  f64x2: (value: number): Wasm => vectorOf(8, (v, at) => v.setFloat64(at, value, true)),
  i64x2s: (low: bigint, high: bigint): Wasm =>
    vectorOf(8, (v, at, element) => v.setBigInt64(at, element ? high : low, true)),
  /** A vector of four 32-bit elements. */
  lanes: (elements: readonly number[]): Wasm =>
    vectorOf(4, (v, at, element) => v.setInt32(at, elements[element]!, true)),
  op: (op: ValueOp, ...args: Wasm[]): Wasm => {
    const { params, result } = valueOps[op];
    let fits = args.length === params.length;
    for (let i = 0; i < args.length; i++) fits &&= args[i]!.ty === params[i];
    if (!fits) throw new Error(`${op} takes ${params.join(", ")}, and got ${args.map((a) => a.ty).join(", ")}`);
    return foldedMask(op, args, makers) ?? { kind: "op", ty: result, op, args, immediates: none };
  },
  /** An `extract_lane` or `replace_lane`. */
  lane: (op: ValueOp, lane: number, ...args: Wasm[]): Wasm =>
    (op === "i32x4.extract_lane" ? extracted(lane, args[0]!) : null) ?? {
      kind: "op",
      ty: valueOps[op].result,
      op,
      args,
      immediates: [lane],
    },
  /** Selects four 32-bit elements of two vectors, counted from 0 to 7. */
  shuffle32: (a: Wasm, b: Wasm, elements: readonly [number, number, number, number]): Wasm => ({
    kind: "op",
    ty: "v128",
    op: "i8x16.shuffle",
    args: [a, b],
    immediates: bytesOfWords(elements),
  }),
  /** Selects 16 bytes of two vectors, counted from 0 to 31. */
  shuffle: (a: Wasm, b: Wasm, elements: readonly number[]): Wasm => ({
    kind: "op",
    ty: "v128",
    op: "i8x16.shuffle",
    args: [a, b],
    immediates: elements,
  }),
  /** `a` if `p` (i32) is not 0, else `b`; both are computed. */
  select: (p: Wasm, a: Wasm, b: Wasm): Wasm => ({ kind: "select", ty: a.ty, args: [p, a, b] }),
  /** `a` if `p` (i32) is not 0, else `b`; only one of them is computed. */
  if: (p: Wasm, a: Wasm, b: Wasm): Wasm => ({ kind: "if", ty: a.ty, args: [p, a, b] }),
  /** `a` where the mask is set, else `b`. All bits of a byte of the mask are the same. */
  blend: (mask: Wasm, a: Wasm, b: Wasm): Wasm => wasm.op("i8x16.relaxed_laneselect", a, b, mask),
  call: (f: LibraryFunction, ...args: Wasm[]): Wasm => ({ kind: "call", ty: f.result, function: f, args }),
  import: (name: string, ty: WasmTy, ...args: Wasm[]): Wasm => ({ kind: "import", ty, name, args }),
} as const;

const makers = { vector, words: wasm.lanes, i32: wasm.i32, shuffle: wasm.shuffle };

/** A word of a vector that is known, or whose distance from a scalar is; else null. */
function extracted(lane: number, from: Wasm): Wasm | null {
  if (from.kind === "const") return wasm.i32(wordsOf(from.value as readonly number[])[lane]!);
  if (from.kind !== "op" || from.op !== "i32x4.add") return null;
  const [all, words] = from.args;
  if (all!.kind !== "op" || all!.op !== "i32x4.splat" || words!.kind !== "const") return null;
  return wasm.op("i32.add", all!.args[0]!, extracted(lane, words!)!);
}
