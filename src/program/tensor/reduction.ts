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
 * Reduces the elements of `source` into those of `target` (sections 9.7.9.25.4.2, 9.7.9.27.1.3). Both have the same
 * length, a multiple of the element's.
 */
export function reduceBytes(op: Reduction, type: ReducedType, target: Uint8Array, source: Uint8Array): void {
  const into = new DataView(target.buffer, target.byteOffset, target.byteLength);
  const from = new DataView(source.buffer, source.byteOffset, source.byteLength);
  const bytes = reducedBytes(type);
  for (let at = 0; at < target.length; at += bytes) reduceAt(op, type, into, from, at);
}

function reduceAt(op: Reduction, type: ReducedType, into: DataView, from: DataView, at: number): void {
  switch (type) {
    case "f16":
    case "bf16":
      into.setUint16(at, reduceHalf(op, type, into.getUint16(at, true), from.getUint16(at, true)), true);
      return;
    case "f32":
    case "f32ftz":
      into.setUint32(at, addSingle(type === "f32ftz", into, from, at), true);
      return;
    case "f64": {
      const sum = into.getFloat64(at, true) + from.getFloat64(at, true);
      if (sum === sum) into.setFloat64(at, sum, true);
      else into.setBigUint64(at, nan64, true);
      return;
    }
    case "u64":
    case "s64":
    case "b64":
      into.setBigUint64(at, reduceWide(op, type, into.getBigUint64(at, true), from.getBigUint64(at, true)), true);
      return;
    default:
      into.setUint32(at, reduceWord(op, type, into.getUint32(at, true), from.getUint32(at, true)), true);
  }
}

const nan32 = 0x7fff_ffff;
const nan64 = 0x7fff_ffff_ffff_ffffn;
const single = new DataView(new ArrayBuffer(4));

const flushed = (value: number): number => (Math.abs(value) < 2 ** -126 ? value * 0 : value);

function addSingle(flushes: boolean, into: DataView, from: DataView, at: number): number {
  const [a, b] = [into.getFloat32(at, true), from.getFloat32(at, true)];
  const sum = flushes ? flushed(Math.fround(flushed(a) + flushed(b))) : a + b;
  if (sum !== sum) return nan32;
  single.setFloat32(0, sum);
  return single.getUint32(0);
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
