import { updateLong, updateWord } from "../../machine/memory/atomic-update.ts";
import { bitsOfFloat, floatOfBits } from "../../numeric/texel.ts";
import { bf16ToNumber, f16ToNumber, numberToBf16, numberToF16 } from "../../numeric/half.ts";
import type { ReducedType, Reduction, TensorType } from "../../ir/index.ts";

const allowed: Readonly<Record<Reduction, readonly TensorType[]>> = {
  add: ["u32", "s32", "u64", "f32", "f32ftz", "f16", "bf16"],
  min: ["u32", "s32", "u64", "s64", "f16", "bf16"],
  max: ["u32", "s32", "u64", "s64", "f16", "bf16"],
  inc: ["u32"],
  dec: ["u32"],
  and: ["u32", "s32", "u64", "s64"],
  or: ["u32", "s32", "u64", "s64"],
  xor: ["u32", "s32", "u64", "s64"],
};

/** Whether elements of a tensor can be reduced so (section 9.7.9.27.1.3). */
export const reduces = (op: Reduction, type: TensorType): type is TensorType & ReducedType =>
  allowed[op].includes(type);

/** The bytes of an element. */
export const reducedBytes = (type: ReducedType): 2 | 4 | 8 =>
  type === "f16" || type === "bf16" ? 2 : type.startsWith("f32") || type.endsWith("32") ? 4 : 8;

/**
 * Reduces the elements of `source` into those of `target`, each as one atomic operation (sections 9.7.9.25.4.2,
 * 9.7.9.27.1.3). Both have the same length, a multiple of the element's, of which `target` also begins at a multiple.
 */
export function reduceBytes(op: Reduction, type: ReducedType, target: Uint8Array, source: Uint8Array): void {
  const { buffer, byteOffset, byteLength } = target;
  const from = new DataView(source.buffer, source.byteOffset, source.byteLength);
  const bytes = reducedBytes(type);
  const count = byteLength / bytes;
  if (bytes === 8) {
    const into = new BigInt64Array(buffer, byteOffset, count);
    for (let i = 0; i < count; i++) {
      const given = from.getBigUint64(8 * i, true);
      updateLong(into, i, (old) => reducedLong(op, type, BigInt.asUintN(64, old), given));
    }
    return;
  }
  const into = bytes === 2 ? new Uint16Array(buffer, byteOffset, count) : new Uint32Array(buffer, byteOffset, count);
  for (let i = 0; i < count; i++) {
    const given = bytes === 2 ? from.getUint16(2 * i, true) : from.getUint32(4 * i, true);
    updateWord(into, i, (old) => reducedWord(op, type, old, given));
  }
}

function reducedWord(op: Reduction, type: ReducedType, old: number, given: number): number {
  if (type === "f16" || type === "bf16") return reduceHalf(op, type, old, given);
  if (type === "f32" || type === "f32ftz") return addSingle(type === "f32ftz", old, given);
  return reduceWord(op, type, old, given);
}

function reducedLong(op: Reduction, type: ReducedType, old: bigint, given: bigint): bigint {
  return type === "f64" ? addDouble(old, given) : reduceWide(op, type, old, given);
}

const nan32 = 0x7fff_ffff;
const nan64 = 0x7fff_ffff_ffff_ffffn;
const scratch = new DataView(new ArrayBuffer(8));

function addDouble(a: bigint, b: bigint): bigint {
  const numberOf = (bits: bigint): number => {
    scratch.setBigUint64(0, bits);
    return scratch.getFloat64(0);
  };
  const sum = numberOf(a) + numberOf(b);
  if (sum !== sum) return nan64;
  scratch.setFloat64(0, sum);
  return scratch.getBigUint64(0);
}

const flushed = (value: number): number => (Math.abs(value) < 2 ** -126 ? value * 0 : value);

function addSingle(flushes: boolean, x: number, y: number): number {
  const [a, b] = [floatOfBits(x), floatOfBits(y)];
  const sum = flushes ? flushed(Math.fround(flushed(a) + flushed(b))) : a + b;
  return sum === sum ? bitsOfFloat(sum) >>> 0 : nan32;
}

/** A sum of two half-precision numbers is rounded once: a double holds it, or rounds it far below the last place. */
function reduceHalf(op: Reduction, type: "f16" | "bf16", a: number, b: number): number {
  const toNumber = type === "f16" ? f16ToNumber : bf16ToNumber;
  const [x, y] = [toNumber(a), toNumber(b)];
  if (op === "add") return type === "f16" ? numberToF16(x + y) : numberToBf16(x + y);
  if (x !== x || y !== y) return x === x ? a : y === y ? b : 0x7fff;
  // -0 is below +0.
  const isLess = x < y || (x === y && (a & 0x8000) > (b & 0x8000));
  return isLess === (op === "min") ? a : b;
}

function reduceWord(op: Reduction, type: ReducedType, a: number, b: number): number {
  const isLess = type === "s32" ? (a | 0) < (b | 0) : a < b;
  switch (op) {
    case "add":
      return a + b;
    case "min":
      return isLess ? a : b;
    case "max":
      return isLess ? b : a;
    case "inc":
      return a >= b ? 0 : a + 1;
    case "dec":
      return a === 0 || a > b ? b : a - 1;
    case "and":
      return a & b;
    case "or":
      return a | b;
    case "xor":
      return a ^ b;
  }
}

function reduceWide(op: Reduction, type: ReducedType, a: bigint, b: bigint): bigint {
  const isLess = type === "s64" ? BigInt.asIntN(64, a) < BigInt.asIntN(64, b) : a < b;
  switch (op) {
    case "add":
      return a + b;
    case "min":
      return isLess ? a : b;
    case "max":
      return isLess ? b : a;
    case "and":
      return a & b;
    case "or":
      return a | b;
    case "xor":
      return a ^ b;
    case "inc":
    case "dec":
      throw new RangeError(`${op} is an operation on .u32`);
  }
}
