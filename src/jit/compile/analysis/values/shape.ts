import type { Expr, RegionLeaf } from "../../../../semantics/index.ts";

/**
 * How a value varies over the lanes of a chunk, which are counted from 0.
 *
 * * `uniform`: the same in all lanes.
 * * `affine`: an integer, `base + stride * lane`, all modulo 2^32 or 2^64. `width`: the number of the chunk's lanes, where the
 *   base is known to be a multiple of it.
 * * `indexed`: an i64, `base + extend(index) * scale` with an i32 index that is extended from 32 bits, signed or not. The index
 *   is affine with `stride`, or (null) any vector. Addresses of array elements are of this kind.
 * * `vector`: any.
 */
export type Shape =
  | { readonly kind: "uniform" }
  | { readonly kind: "affine"; readonly stride: number; readonly width?: number }
  | { readonly kind: "indexed"; readonly scale: number; readonly signed: boolean; readonly stride: number | null }
  | { readonly kind: "vector" };

export const uniform: Shape = { kind: "uniform" };

export const vector: Shape = { kind: "vector" };

/** Numbers of threads: those of a chunk begin with a multiple of its lanes. */
export const numbers = (width: number): Shape => ({ kind: "affine", stride: 1, width });

/** Multiples of a larger stride would not be exact. */
const maxStride = 2 ** 46;

export const affine = (stride: number): Shape =>
  stride === 0 ? uniform : Math.abs(stride) <= maxStride ? { kind: "affine", stride } : vector;

export const sameShape = (a: Shape, b: Shape): boolean =>
  a.kind === b.kind &&
  (a.kind !== "affine" || (a.stride === (b as typeof a).stride && a.width === (b as typeof a).width)) &&
  (a.kind !== "indexed" ||
    (a.scale === (b as typeof a).scale && a.signed === (b as typeof a).signed && a.stride === (b as typeof a).stride));

/** The shape of what may have either. */
export function joinedShape(a: Shape, b: Shape): Shape {
  if (sameShape(a, b)) return a;
  return a.kind === "affine" && b.kind === "affine" && a.stride === b.stride ? affine(a.stride) : vector;
}

export interface ShapeContext {
  /** Null for a register of which nothing is known yet: it does not make anything worse. */
  readonly register: (register: number) => Shape | null;
  readonly special: (leaf: Extract<Expr, { kind: "special" }>) => Shape;
}

/** The shape of an expression whose leaves are bound; null when it hangs on a register of which nothing is known yet. */
export function shapeOf(expr: Expr, context: ShapeContext): Shape | null {
  switch (expr.kind) {
    case "const":
    case "frame":
      return uniform;
    case "reg":
      return context.register(expr.reg);
    case "special":
      return context.special(expr);
    case "lane-word":
      return uniform;
    case "region":
      return regionShape(expr);
    case "indirect": {
      const address = shapeOf(expr.address, context);
      return address === null || address.kind === "uniform" ? address : vector;
    }
    case "prim":
      break;
    default:
      return vector;
  }
  const args: Shape[] = [];
  let isUniform = true;
  for (let i = 0; i < expr.args.length; i++) {
    const shape = shapeOf(expr.args[i]!, context);
    if (shape === null) return null;
    isUniform &&= shape.kind === "uniform";
    args.push(shape);
  }
  return isUniform ? uniform : (structured(expr, args) ?? vector);
}

/** `promoteFile` leaves no other regions that are the same in all lanes. */
const regionShape = ({ region: { vertical, width, horizontal } }: RegionLeaf): Shape =>
  vertical === 0 && (width === 1 || horizontal === 0) ? uniform : vector;

/** What address arithmetic makes of operands that are not all uniform; null for anything else. */
function structured(expr: Extract<Expr, { kind: "prim" }>, [a, b]: readonly Shape[]): Shape | null {
  switch (expr.prim) {
    case "i32.add":
    case "i64.add":
      return sum(a!, b!, 1);
    case "i32.sub":
    case "i64.sub":
      return sum(a!, b!, -1);
    case "i32.mul":
    case "i64.mul": {
      const [left, right] = [constant(expr.args[0]!), constant(expr.args[1]!)];
      return right !== null ? product(a!, right) : left !== null ? product(b!, left) : null;
    }
    case "i32.shl":
    case "i64.shl": {
      const count = constant(expr.args[1]!);
      return count === null || count < 0 || count > 31 ? null : product(a!, 2 ** count);
    }
    case "i32.and":
    case "i32.shr_u":
    case "i32.shr_s":
    case "i32.lt_u":
    case "i32.lt_s":
    case "i32.le_u":
    case "i32.le_s":
      return ofNumbers(expr, a!, b!);
    case "i64.extend_i32_s":
    case "i64.extend_i32_u": {
      const signed = expr.prim === "i64.extend_i32_s";
      if (a!.kind === "affine") return { kind: "indexed", scale: 1, signed, stride: a!.stride };
      return { kind: "indexed", scale: 1, signed, stride: null };
    }
    case "i32.wrap_i64":
      if (a!.kind === "affine") return affine(a!.stride | 0);
      if (a!.kind === "indexed" && a!.stride !== null) return affine(Math.imul(a!.stride, a!.scale));
      return null;
    default:
      return null;
  }
}

/** What numbers of threads are split into: those of warps and of lanes; and where all threads of a chunk are on one side. */
function ofNumbers({ prim, args }: Extract<Expr, { kind: "prim" }>, a: Shape, b: Shape): Shape | null {
  const [left, right] = [constant(args[0]!), constant(args[1]!)];
  if (a.kind === "affine" && a.width !== undefined && right !== null) {
    const low = a.width - 1;
    const rest = right & low;
    if (prim === "i32.and") return rest === low ? a : rest === 0 ? uniform : null;
    if (prim.startsWith("i32.shr")) return right < 32 && 2 ** right >= a.width ? uniform : null;
    return rest === (prim.startsWith("i32.lt") ? 0 : low) ? uniform : null;
  }
  if (b.kind === "affine" && b.width !== undefined && left !== null) {
    const low = b.width - 1;
    const rest = left & low;
    if (prim === "i32.and") return rest === low ? b : rest === 0 ? uniform : null;
    if (prim.startsWith("i32.l")) return rest === (prim.startsWith("i32.lt") ? low : 0) ? uniform : null;
  }
  return null;
}

const strideOf = (shape: Shape): number | null =>
  shape.kind === "uniform" ? 0 : shape.kind === "affine" ? shape.stride : null;

function sum(a: Shape, b: Shape, sign: 1 | -1): Shape | null {
  const [left, right] = [strideOf(a), strideOf(b)];
  if (left !== null && right !== null) return affine(left + sign * right);
  if (a.kind === "indexed" && b.kind === "uniform") return a;
  if (b.kind === "indexed" && a.kind === "uniform" && sign === 1) return b;
  return null;
}

function product(a: Shape, factor: number): Shape | null {
  const stride = strideOf(a);
  if (stride !== null) return affine(stride * factor);
  if (a.kind !== "indexed" || factor === 0) return null;
  const scale = a.scale * factor;
  return Math.abs(scale) < 2 ** 31 ? { ...a, scale } : null;
}

/** A constant as a number that is exact, or null. */
function constant(expr: Expr): number | null {
  if (expr.kind !== "const" || typeof expr.value === "boolean") return null;
  const value = Number(expr.value);
  return Number.isSafeInteger(value) ? value : null;
}
