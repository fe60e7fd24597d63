import { type Wasm, wasm } from "../../../wasm/index.ts";

/**
 * Constants of 32 or 64 bits. The arithmetic in this file folds them, and keeps the constant part of a sum outermost.
 */
type Integer = Extract<Wasm, { kind: "const"; ty: "i32" }> | Extract<Wasm, { kind: "const"; ty: "i64" }>;

const isInteger = (a: Wasm): a is Integer => a.kind === "const" && (a.ty === "i32" || a.ty === "i64");
const exact = (a: Integer): bigint => BigInt(a.value);
const integer = (ty: Wasm["ty"], value: bigint): Wasm =>
  ty === "i64" ? wasm.i64(value) : wasm.i32(Number(BigInt.asIntN(32, value)));

export const i64 = (value: number): Wasm => wasm.i64(BigInt(value));

/** A sum as its variable part, if it has one, and its constant part. */
function terms(a: Wasm): { readonly variable: Wasm | null; readonly constant: bigint } {
  if (isInteger(a)) return { variable: null, constant: exact(a) };
  if (a.kind === "op" && isInteger(a.args[1] ?? a)) {
    const [variable, constant] = [a.args[0]!, exact(a.args[1] as Integer)];
    if (a.op === "i32.add" || a.op === "i64.add") return { variable, constant };
    if (a.op === "i32.sub" || a.op === "i64.sub") return { variable, constant: -constant };
  }
  return { variable: a, constant: 0n };
}

export function plus(a: Wasm, b: Wasm): Wasm {
  const [x, y] = [terms(a), terms(b)];
  const constant = integer(a.ty, x.constant + y.constant);
  const add = a.ty === "i64" ? "i64.add" : "i32.add";
  const variable = x.variable !== null && y.variable !== null ? wasm.op(add, x.variable, y.variable) : null;
  const rest = variable ?? x.variable ?? y.variable;
  if (rest === null) return constant;
  return isInteger(constant) && exact(constant) === 0n ? rest : wasm.op(add, rest, constant);
}

export function minus(a: Wasm, b: Wasm): Wasm {
  const { variable, constant } = terms(b);
  const rest = plus(a, integer(a.ty, -constant));
  return variable === null ? rest : wasm.op(a.ty === "i64" ? "i64.sub" : "i32.sub", rest, variable);
}

/** `a` times a factor that is not 0. */
export function times(a: Wasm, factor: number): Wasm {
  if (factor === 1) return a;
  if (isInteger(a)) return integer(a.ty, exact(a) * BigInt(factor));
  const [shl, mul] = a.ty === "i64" ? (["i64.shl", "i64.mul"] as const) : (["i32.shl", "i32.mul"] as const);
  const shift = Math.log2(factor);
  if (Number.isInteger(shift)) return wasm.op(shl, a, integer(a.ty, BigInt(shift)));
  return wasm.op(mul, a, integer(a.ty, BigInt(factor)));
}

/** The low 32 bits of an i64. */
export function low(a: Wasm): Wasm {
  const { variable, constant } = terms(a);
  const rest = integer("i32", constant);
  if (variable === null) return rest;
  const isExtended = variable.kind === "op" && variable.op.startsWith("i64.extend_i32");
  return plus(isExtended ? variable.args[0]! : wasm.op("i32.wrap_i64", variable), rest);
}

/** The high 32 bits of an i64. */
export const high32 = (a: Wasm): Wasm =>
  isInteger(a) ? integer("i32", exact(a) >> 32n) : wasm.op("i32.wrap_i64", wasm.op("i64.shr_u", a, i64(32)));

/** Whether an i32 is 0: 0 or 1. */
export const isZero = (a: Wasm): Wasm => (isInteger(a) ? wasm.i32(exact(a) === 0n ? 1 : 0) : wasm.op("i32.eqz", a));

/** An i32 extended to an i64, with zeros or with its sign. */
export function extended(a: Wasm, signed = false): Wasm {
  if (!isInteger(a)) return wasm.op(signed ? "i64.extend_i32_s" : "i64.extend_i32_u", a);
  return wasm.i64(signed ? exact(a) : BigInt.asUintN(32, exact(a)));
}

/** Signed `a >= b` of i64 values: 0 or 1. */
export function atLeast(a: Wasm, b: Wasm): Wasm {
  if (isInteger(a) && isInteger(b)) return wasm.i32(exact(a) >= exact(b) ? 1 : 0);
  return wasm.op("i64.ge_s", a, b);
}

export function below(a: Wasm, b: Wasm): Wasm {
  if (!isInteger(a) || !isInteger(b)) return wasm.op("i64.lt_u", a, b);
  return wasm.i32(BigInt.asUintN(64, exact(a)) < BigInt.asUintN(64, exact(b)) ? 1 : 0);
}

/** Whether an i32 is a multiple of a power of two: 0 or 1. */
export function isMultiple(a: Wasm, of: number): Wasm {
  if (of === 1) return wasm.i32(1);
  if (isInteger(a)) return wasm.i32(exact(a) % BigInt(of) === 0n ? 1 : 0);
  return wasm.op("i32.eqz", wasm.op("i32.and", a, wasm.i32(of - 1)));
}

/** Conjunction of conditions that are 0 or 1. */
export function both(a: Wasm, b: Wasm): Wasm {
  if (isInteger(a)) return exact(a) === 0n ? a : b;
  if (isInteger(b)) return exact(b) === 0n ? b : a;
  return wasm.op("i32.and", a, b);
}

/** The value if a condition (0 or 1) holds, else 0. */
export function where(condition: Wasm, value: Wasm): Wasm {
  const zero = integer(value.ty, 0n);
  if (isInteger(condition)) return exact(condition) === 0n ? zero : value;
  return wasm.select(condition, value, zero);
}

/** An i64 limited to at most (or, with "least", at least) a bound. */
export function clamped(value: Wasm, what: "most" | "least", bound: bigint): Wasm {
  if (isInteger(value)) {
    const beyond = what === "most" ? exact(value) > bound : exact(value) < bound;
    return beyond ? wasm.i64(bound) : value;
  }
  const limit = wasm.i64(bound);
  return wasm.select(wasm.op(what === "most" ? "i64.gt_s" : "i64.lt_s", value, limit), limit, value);
}

/** An i64 divided by a power of two, rounded down. */
export function shifted(value: Wasm, bits: number): Wasm {
  if (bits === 0) return value;
  if (isInteger(value)) return wasm.i64(exact(value) >> BigInt(bits));
  return wasm.op("i64.shr_s", value, i64(bits));
}

/** The largest constant that is moved into the immediate of a memory instruction. */
const maxImmediate = 2n ** 24n;

/** A byte of memory as a computed part and a constant, which becomes the immediate of the memory instruction. */
export function splitImmediate(at: Wasm): { readonly at: Wasm; readonly immediate: number } {
  const { variable, constant } = terms(at);
  if (variable === null || constant < 0n || constant > maxImmediate) return { at, immediate: 0 };
  return { at: variable, immediate: Number(constant) };
}
