import { type PrimName, primOf, type Ty } from "../../../semantics/index.ts";
import { type Wasm, wasm, type WasmTy } from "../../../wasm/index.ts";

/** Four lanes of a value: one v128, or two for types of 64 bits. */
export type Quad = readonly Wasm[];

/** A value of a chunk of lanes, in the form that its shape allows. Its parts are graphs over locals. */
export type Value =
  /** The same in all lanes. `all`: the value as a vector, if one exists already. */
  | { readonly kind: "uniform"; readonly ty: Ty; readonly scalar: Wasm; readonly all?: Wasm }
  | { readonly kind: "affine"; readonly ty: "i32" | "i64"; readonly base: Wasm; readonly stride: number }
  | {
      readonly kind: "indexed";
      readonly ty: "i64";
      readonly base: Wasm;
      readonly index: Value;
      readonly scale: number;
      readonly signed: boolean;
    }
  /** By row of `length` lanes, its base, from which lanes of the row go on by `stride`: 0 but for integers. */
  | {
      readonly kind: "rows";
      readonly ty: Ty;
      readonly bases: readonly Wasm[];
      readonly stride: number;
      readonly length: number;
    }
  /** `bits`: how many low bits of each lane may be set, where fewer than all. */
  | { readonly kind: "vector"; readonly ty: Ty; readonly quads: readonly Quad[]; readonly bits?: number };

export type Vector = Extract<Value, { kind: "vector" }>;
export type Rows = Extract<Value, { kind: "rows" }>;

export const isWide = (ty: Ty): boolean => ty === "i64" || ty === "f64";

/** The wasm type of one lane's value; a predicate is an i32, 0 or 1. */
export const scalarTy = (ty: Ty): WasmTy => (ty === "pred" ? "i32" : ty);

const splats = {
  pred: "i32x4.splat",
  i32: "i32x4.splat",
  i64: "i64x2.splat",
  f32: "f32x4.splat",
  f64: "f64x2.splat",
} as const;

const isReinterpretation = (op: string): boolean => op === "f32.reinterpret_i32" || op === "f64.reinterpret_i64";

/** A scalar broadcast to all lanes of a vector. */
export function splat(ty: Ty, scalar: Wasm): Wasm {
  if (scalar.kind === "const") {
    if (ty === "pred") return wasm.i32x4(scalar.value === 0 ? 0 : -1);
    if (scalar.ty === "i32") return wasm.i32x4(scalar.value);
    if (scalar.ty === "i64") return wasm.i64x2(scalar.value);
    if (scalar.ty === "f32") return wasm.f32x4(scalar.value);
    if (scalar.ty === "f64") return wasm.f64x2(scalar.value);
  }
  // A constant that is given by its bits.
  if (scalar.kind === "op" && isReinterpretation(scalar.op) && scalar.args[0]!.kind === "const") {
    return splat(ty === "f32" ? "i32" : "i64", scalar.args[0]!);
  }
  return wasm.op(splats[ty], ty === "pred" ? wasm.op("i32.sub", wasm.i32(0), scalar) : scalar);
}

/** Elements 2 and 3 of a vector of 32-bit elements, moved to its low half. */
const upper = (a: Wasm): Wasm => wasm.shuffle32(a, a, [2, 3, 2, 3]);
const isUpper = (a: Wasm): boolean =>
  a.kind === "op" && a.op === "i8x16.shuffle" && a.args[0] === a.args[1] && a.immediates[0] === 8;

const highOf = {
  "i64x2.extend_low_i32x4_s": "i64x2.extend_high_i32x4_s",
  "i64x2.extend_low_i32x4_u": "i64x2.extend_high_i32x4_u",
} as const;

/** Folds `extend_low` of the upper half into `extend_high`. */
function extended(node: Wasm): Wasm {
  if (node.kind !== "op" || !(node.op in highOf) || !isUpper(node.args[0]!)) return node;
  const from = node.args[0] as Extract<Wasm, { kind: "op" }>;
  return wasm.op(highOf[node.op as keyof typeof highOf], from.args[0]!);
}

/** A mask of four lanes widened to 64-bit elements: two vectors. */
export const widenMask = (mask: Wasm): readonly [Wasm, Wasm] => [
  wasm.op("i64x2.extend_low_i32x4_s", mask),
  wasm.op("i64x2.extend_high_i32x4_s", mask),
];

/** A value of any form as one vector for each quad. */
export function vectorOf(value: Value, quads: number): Vector {
  switch (value.kind) {
    case "vector":
      return value;
    case "uniform": {
      const all = value.all ?? splat(value.ty, value.scalar);
      const quad = isWide(value.ty) ? [all, all] : [all];
      return { kind: "vector", ty: value.ty, quads: new Array<Quad>(quads).fill(quad) };
    }
    case "affine":
      return { kind: "vector", ty: value.ty, quads: affineQuads(value, quads) };
    case "rows":
      return { kind: "vector", ty: value.ty, quads: rowQuads(value).slice(0, quads) };
    case "indexed": {
      const index = vectorOf(value.index, quads);
      const base = splat("i64", value.base);
      const op = value.signed ? "i64x2.extend_low_i32x4_s" : "i64x2.extend_low_i32x4_u";
      const scaled = (part: Wasm): Wasm => {
        const shift = Math.log2(value.scale);
        if (value.scale === 1) return part;
        if (Number.isInteger(shift)) return wasm.op("i64x2.shl", part, wasm.i32(shift));
        return wasm.op("i64x2.mul", part, wasm.i64x2(BigInt(value.scale)));
      };
      return {
        kind: "vector",
        ty: "i64",
        quads: index.quads.map(([i]) =>
          [wasm.op(op, i!), wasm.op(highOf[op], i!)].map((part) => wasm.op("i64x2.add", base, scaled(part))),
        ),
      };
    }
  }
}

/** The quads of all rows. */
function rowQuads({ ty, bases, stride, length }: Rows): readonly Quad[] {
  return bases.flatMap((base) => {
    if (stride !== 0 && (ty === "i32" || ty === "i64")) {
      return affineQuads({ kind: "affine", ty, base, stride }, length / 4);
    }
    return vectorOf({ kind: "uniform", ty, scalar: base }, length / 4).quads;
  });
}

/** The value in the first lane of a row of `length` lanes. */
export function firstOfRow(value: Value, row: number, length: number): Wasm {
  const lane = row * length;
  switch (value.kind) {
    case "uniform":
      return value.scalar;
    case "rows":
      return value.bases[row]!;
    case "affine": {
      const beyond = value.stride * lane;
      const by = value.ty === "i32" ? wasm.i32(beyond) : wasm.i64(BigInt(beyond));
      return beyond === 0 ? value.base : applyScalar(`${value.ty}.add`, [value.base, by]);
    }
    default:
      return laneOf(vectorOf(value, (lane >> 2) + 1), lane);
  }
}

/**
 * Each quad is an earlier one plus a step that several share: separate constants for each quad would each take a
 * machine register.
 */
function affineQuads({ ty, base, stride }: Extract<Value, { kind: "affine" }>, count: number): Quad[] {
  const add = ty === "i32" ? "i32x4.add" : "i64x2.add";
  const times = (lane: number): Wasm => (ty === "i32" ? wasm.i32(stride * lane) : wasm.i64(BigInt(stride * lane)));
  if (base.kind === "const" && base.ty === "i32") {
    const numbers = Array.from({ length: 4 * count }, (_, lane) => base.value + lane * stride);
    return Array.from({ length: count }, (_, q) => [wasm.lanes(numbers.slice(4 * q, 4 * q + 4))]);
  }
  const all = splat(ty, base);
  const first =
    ty === "i32"
      ? [wasm.lanes([0, stride, 2 * stride, 3 * stride])]
      : [0, 2].map((lane) => wasm.i64x2s(BigInt(stride * lane), BigInt(stride * (lane + 1))));
  const quads: Quad[] = [first.map((lanes) => wasm.op(add, all, lanes))];
  for (let q = 1; q < count; q++) {
    // The quad whose number differs in the lowest set bit.
    const from = q & (q - 1);
    const step = splat(ty, times(4 * (q - from)));
    quads.push(quads[from]!.map((part) => wasm.op(add, part, step)));
  }
  return quads;
}

/** The vector whose parts lie in v128 locals, in order. */
export function vectorIn(ty: Ty, locals: readonly number[]): Vector {
  const quads: Quad[] = [];
  const part = (i: number): Wasm => wasm.local("v128", locals[i]!);
  if (isWide(ty)) for (let i = 0; i < locals.length; i += 2) quads.push([part(i), part(i + 1)]);
  else for (let i = 0; i < locals.length; i++) quads.push([part(i)]);
  return { kind: "vector", ty, quads };
}

/** The value of a local that holds the bits of a number of type `ty`. */
export function scalarIn(ty: Ty, local: number): Wasm {
  switch (ty) {
    case "f32":
      return wasm.op("f32.reinterpret_i32", wasm.local("i32", local));
    case "f64":
      return wasm.op("f64.reinterpret_i64", wasm.local("i64", local));
    default:
      return wasm.local(scalarTy(ty), local);
  }
}

/** A scalar as registers keep it: the bits of a floating-point number as an integer. */
export function bitsOfScalar(scalar: Wasm): Wasm {
  if (scalar.ty === "f32") return wasm.op("i32.reinterpret_f32", scalar);
  return scalar.ty === "f64" ? wasm.op("i64.reinterpret_f64", scalar) : scalar;
}

/** A primitive applied to scalars. */
export function applyScalar(prim: PrimName, args: readonly Wasm[]): Wasm {
  const { wasm: emission } = primOf(prim);
  return emission.scalar(...args);
}

/** A primitive applied to vectors. */
export function applyVector(prim: PrimName, args: readonly Vector[], quads: number): Vector {
  const { wasm: emission, result: ty } = primOf(prim);
  if (emission.quad !== undefined) return applyQuads(ty, emission.quad, args, quads);
  const numbers = Array.from({ length: quads }, (_, q) => q);
  if (emission.half !== undefined) {
    const { half } = emission;
    return {
      kind: "vector",
      ty,
      quads: numbers.map((q) =>
        joined(
          ty,
          [0, 1].map((h) => extended(half(...args.map((a) => halfOf(a, q, h))))),
        ),
      ),
    };
  }
  return { kind: "vector", ty, quads: numbers.map((q) => laneByLane(prim, args, q)) };
}

/** An operation on quads of 32-bit values, applied to vectors. */
export function applyQuads(ty: Ty, quad: (...args: Wasm[]) => Wasm, args: readonly Vector[], quads: number): Vector {
  const result: Quad[] = [];
  const [a, b] = args;
  for (let q = 0; q < quads; q++) {
    // Without a list of the arguments for each quad, where there are few.
    if (args.length === 1) result.push([quad(a!.quads[q]![0]!)]);
    else if (args.length === 2) result.push([quad(a!.quads[q]![0]!, b!.quads[q]![0]!)]);
    else result.push([quad(...args.map((arg) => arg.quads[q]![0]!))]);
  }
  return { kind: "vector", ty, quads: result };
}

function halfOf({ ty, quads }: Vector, q: number, h: number): Wasm {
  const quad = quads[q]!;
  if (isWide(ty)) return quad[h]!;
  if (ty === "pred") return widenMask(quad[0]!)[h]!;
  return h === 0 ? quad[0]! : upper(quad[0]!);
}

function joined(ty: Ty, [low, high]: readonly Wasm[]): Quad {
  if (isWide(ty)) return [low!, high!];
  if (ty === "pred") return [wasm.shuffle32(low!, high!, [0, 2, 4, 6])];
  const [a, b] = [pairOf(low!), pairOf(high!)];
  // Two pairs of elements that shuffles have just produced become one shuffle.
  if (a !== null && b !== null) return [wasm.shuffle32(a.from, b.from, [a.first, a.second, b.first + 4, b.second + 4])];
  return [wasm.shuffle32(low!, high!, [0, 1, 4, 5])];
}

/** The elements of a vector that a shuffle moves to the first two positions; null if the node is no such shuffle. */
function pairOf(node: Wasm): { readonly from: Wasm; readonly first: number; readonly second: number } | null {
  if (node.kind !== "op" || node.op !== "i8x16.shuffle" || node.args[0] !== node.args[1]) return null;
  const [first, second] = [node.immediates[0]! / 4, node.immediates[4]! / 4];
  const whole = [first, second].every((e, i) => [0, 1, 2, 3].every((b) => node.immediates[4 * i + b] === 4 * e + b));
  return whole ? { from: node.args[0]!, first: first & 3, second: second & 3 } : null;
}

function laneByLane(prim: PrimName, args: readonly Vector[], q: number): Quad {
  const { result } = primOf(prim);
  const one = (lane: number): Wasm =>
    applyScalar(
      prim,
      args.map((a) => laneOf(a, 4 * q + lane)),
    );
  return quadOf(result, [one(0), one(1), one(2), one(3)]);
}

/** One lane's value. */
export function laneOf({ ty, quads }: Vector, lane: number): Wasm {
  const quad = quads[lane >> 2]!;
  const l = lane & 3;
  switch (ty) {
    case "pred":
      return wasm.op("i32.and", wasm.lane("i32x4.extract_lane", l, quad[0]!), wasm.i32(1));
    case "i32":
      return wasm.lane("i32x4.extract_lane", l, quad[0]!);
    case "f32":
      return wasm.lane("f32x4.extract_lane", l, quad[0]!);
    case "i64":
      return wasm.lane("i64x2.extract_lane", l & 1, quad[l >> 1]!);
    case "f64":
      return wasm.lane("f64x2.extract_lane", l & 1, quad[l >> 1]!);
  }
}

/** Four scalars as a quad. */
function quadOf(ty: Ty, [a, b, c, d]: readonly Wasm[]): Quad {
  if (ty === "i64" || ty === "f64") {
    const pair = (low: Wasm, high: Wasm): Wasm => wasm.lane(`${ty}x2.replace_lane`, 1, wasm.op(splats[ty], low), high);
    return [pair(a!, b!), pair(c!, d!)];
  }
  const set = ty === "f32" ? "f32x4.replace_lane" : "i32x4.replace_lane";
  let quad = wasm.op(splats[ty === "pred" ? "i32" : ty], a!);
  [b!, c!, d!].forEach((value, i) => {
    quad = wasm.lane(set, i + 1, quad, value);
  });
  return [ty === "pred" ? wasm.op("i32x4.neg", quad) : quad];
}
