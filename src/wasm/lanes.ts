import { wasm } from "./expr.ts";
import type { Wasm } from "./graph.ts";
import type { ValueOp } from "./value-ops.ts";

type Unary = (a: Wasm) => Wasm;
type Binary = (a: Wasm, b: Wasm) => Wasm;
type Shift = (a: Wasm, count: number) => Wasm;

/**
 * Operations on floating-point numbers of one size and on the integers that share their bits, either for one value or
 * for all lanes of a vector, so that code in these terms is written once for both. A predicate of one value is an
 * `i32`, 0 or 1; one of a vector sets all bits of a lane, or none.
 */
export interface Lanes {
  readonly number: (value: number) => Wasm;
  readonly add: Binary;
  readonly sub: Binary;
  readonly mul: Binary;
  readonly div: Binary;
  /** NaN if either operand is NaN; -0 is less than +0. */
  readonly min: Binary;
  readonly max: Binary;
  readonly sqrt: Unary;
  readonly abs: Unary;
  readonly neg: Unary;
  readonly floor: Unary;
  readonly eq: Binary;
  readonly ne: Binary;
  readonly lt: Binary;
  readonly le: Binary;
  readonly gt: Binary;
  readonly ge: Binary;

  /** Reinterprets numbers as bits, and bits as numbers. */
  readonly bits: Unary;
  readonly fromBits: Unary;
  readonly integer: (value: bigint) => Wasm;
  readonly plus: Binary;
  readonly minus: Binary;
  readonly and: Binary;
  /** The bits of the first operand that are not in the second. */
  readonly andNot: Binary;
  readonly or: Binary;
  readonly xor: Binary;
  readonly shl: Shift;
  readonly shrS: Shift;
  readonly shrU: Shift;
  readonly same: Binary;
  readonly less: Binary;

  readonly both: Binary;
  readonly either: Binary;
  readonly not: Unary;
  /** Selects numbers, integers or (in a vector) predicates; all operands are computed. */
  readonly select: (p: Wasm, a: Wasm, b: Wasm) => Wasm;
  /** An integer with all bits set where the predicate holds, else 0. */
  readonly mask: Unary;
  /** Whether a predicate holds in all lanes, and in any lane, as an `i32`. */
  readonly all: Unary;
  readonly any: Unary;
}

const binary =
  (op: ValueOp): Binary =>
  (a, b) =>
    wasm.op(op, a, b);
const unary =
  (op: ValueOp): Unary =>
  (a) =>
    wasm.op(op, a);
const identity: Unary = (a) => a;

/** The operations with the same names everywhere. `f` and `i` are the types of numbers and integers. */
function arithmetic(f: "f32" | "f64" | "f32x4" | "f64x2", i: "i32" | "i64" | "i32x4" | "i64x2") {
  return {
    add: binary(`${f}.add`),
    sub: binary(`${f}.sub`),
    mul: binary(`${f}.mul`),
    div: binary(`${f}.div`),
    min: binary(`${f}.min`),
    max: binary(`${f}.max`),
    sqrt: unary(`${f}.sqrt`),
    abs: unary(`${f}.abs`),
    neg: unary(`${f}.neg`),
    floor: unary(`${f}.floor`),
    eq: binary(`${f}.eq`),
    ne: binary(`${f}.ne`),
    lt: binary(`${f}.lt`),
    le: binary(`${f}.le`),
    gt: binary(`${f}.gt`),
    ge: binary(`${f}.ge`),
    plus: binary(`${i}.add`),
    minus: binary(`${i}.sub`),
    same: binary(`${i}.eq`),
    less: binary(`${i}.lt_s`),
  };
}

function scalar(f: "f32" | "f64", i: "i32" | "i64"): Lanes {
  const integer = (value: bigint): Wasm => (i === "i32" ? wasm.i32(Number(BigInt.asIntN(32, value))) : wasm.i64(value));
  const shift =
    (op: ValueOp): Shift =>
    (a, count) =>
      wasm.op(op, a, integer(BigInt(count)));
  const extended = (p: Wasm): Wasm => (i === "i32" ? p : wasm.op("i64.extend_i32_u", p));
  return {
    ...arithmetic(f, i),
    number: wasm[f],
    bits: unary(f === "f32" ? "i32.reinterpret_f32" : "i64.reinterpret_f64"),
    fromBits: unary(f === "f32" ? "f32.reinterpret_i32" : "f64.reinterpret_i64"),
    integer,
    and: binary(`${i}.and`),
    andNot: (a, b) => wasm.op(`${i}.and`, a, wasm.op(`${i}.xor`, b, integer(-1n))),
    or: binary(`${i}.or`),
    xor: binary(`${i}.xor`),
    shl: shift(`${i}.shl`),
    shrS: shift(`${i}.shr_s`),
    shrU: shift(`${i}.shr_u`),
    both: binary("i32.and"),
    either: binary("i32.or"),
    not: unary("i32.eqz"),
    select: wasm.select,
    mask: (p) => wasm.op(`${i}.sub`, integer(0n), extended(p)),
    all: identity,
    any: identity,
  };
}

function vector(f: "f32x4" | "f64x2", i: "i32x4" | "i64x2"): Lanes {
  const shift =
    (op: ValueOp): Shift =>
    (a, count) =>
      wasm.op(op, a, wasm.i32(count));
  return {
    ...arithmetic(f, i),
    number: wasm[f],
    bits: identity,
    fromBits: identity,
    integer: (value) => (i === "i32x4" ? wasm.i32x4(Number(BigInt.asIntN(32, value))) : wasm.i64x2(value)),
    and: binary("v128.and"),
    andNot: binary("v128.andnot"),
    or: binary("v128.or"),
    xor: binary("v128.xor"),
    shl: shift(`${i}.shl`),
    shrS: shift(`${i}.shr_s`),
    shrU: shift(`${i}.shr_u`),
    both: binary("v128.and"),
    either: binary("v128.or"),
    not: unary("v128.not"),
    select: wasm.blend,
    mask: identity,
    all: unary(`${i}.all_true`),
    any: unary("v128.any_true"),
  };
}

/** The operations by number type. */
export const lanes = {
  f32: scalar("f32", "i32"),
  f64: scalar("f64", "i64"),
  f32x4: vector("f32x4", "i32x4"),
  f64x2: vector("f64x2", "i64x2"),
} as const;
