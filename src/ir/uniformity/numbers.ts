import type { Expr } from "../../semantics/index.ts";
import type { PrimExpr } from "./linear-form.ts";
import {
  aboveOf,
  aligned,
  alignmentOf,
  alignmentOfNumber,
  farNumbers,
  isFar,
  maxAbove,
  numbers,
  type Shape,
  uniform,
} from "./shape.ts";

/*
 * Arithmetic of thread and lane numbers. A chunk has w lanes, a power of two, and their numbers begin with a multiple
 * of w. So does the global index of a thread, if blocks consist of whole chunks: `ctaid * ntid` is a multiple, too.
 */

/**
 * The shape of numbers plus a constant, or plus (or less) what is a multiple of the chunk's lanes; null for anything
 * else. `other`: the shape of the operand.
 */
export function numbersAbove(shape: Shape, other: Shape, operand: Expr, sign: 1 | -1): Shape | null {
  if (shape.kind !== "affine" || shape.width === undefined || operand.ty !== "i32") return null;
  const by = numberOf(operand);
  if (by === null) return alignmentOf(other) >= shape.width ? farNumbers(shape.width, aboveOf(shape)) : null;
  const above = aboveOf(shape) + sign * (by | 0);
  const stays = !isFar(shape) && Math.abs(above) <= maxAbove;
  return stays ? { ...shape, above } : farNumbers(shape.width, above);
}

/** The shape of the difference of values with the same stride: numbers differ by a multiple of the chunk's lanes. */
export function differenceOfNumbers(a: Shape, b: Shape): Shape {
  if (a.kind !== "affine" || b.kind !== "affine" || a.width === undefined || a.width !== b.width) return uniform;
  return aligned(Math.min(a.width, alignmentOfNumber(aboveOf(a) - aboveOf(b))));
}

/** The width of numbers of which the lowest one in a chunk is a multiple of it; else null. */
const widthOf = (shape: Shape): number | null =>
  shape.kind === "affine" && shape.width !== undefined && aboveOf(shape) % shape.width === 0 ? shape.width : null;

/**
 * The shapes of what is computed from thread numbers otherwise than by sums and multiples: the numbers of warps and of
 * lanes within them, and comparisons with numbers between which and the next a whole chunk fits. With w lanes and a
 * base that is a multiple of w, a power of two, the lanes have the numbers base to base + w - 1: these agree in all
 * bits but the lowest, and a chunk is on one side of every multiple of w. Null where nothing follows.
 */
export function ofNumbers({ prim, args }: PrimExpr, a: Shape, b: Shape): Shape | null {
  switch (prim) {
    case "i32.and":
      return maskedNumbers(a, args[1]!) ?? maskedNumbers(b, args[0]!);
    case "i32.or":
    case "i32.xor":
      return numbersWithBits(a, b) ?? numbersWithBits(b, a);
    case "i32.shr_u":
    case "i32.shr_s": {
      const [width, count] = [widthOf(a), numberOf(args[1]!)];
      return width !== null && count !== null && count < 32 && 2 ** count >= width ? uniform : null;
    }
    case "i32.lt_u":
    case "i32.lt_s":
      return (
        dividedNumbers(prim, a, { operand: args[1]!, shape: b }, 0) ??
        dividedNumbers(prim, b, { operand: args[0]!, shape: a }, -1)
      );
    case "i32.le_u":
    case "i32.le_s":
      return (
        dividedNumbers(prim, a, { operand: args[1]!, shape: b }, -1) ??
        dividedNumbers(prim, b, { operand: args[0]!, shape: a }, 0)
      );
    default:
      return null;
  }
}

/** The shape of thread numbers and a mask: with all low bits it is that of the numbers, with none of them uniform. */
function maskedNumbers(shape: Shape, operand: Expr): Shape | null {
  const [width, mask] = [widthOf(shape), numberOf(operand)];
  if (width === null || mask === null) return null;
  const low = mask & (width - 1);
  if (low === 0) return aligned(alignmentOfNumber(mask));
  if (low !== width - 1) return null;
  // What has been added may have made other bits.
  return mask >= 0 && mask < maxAbove ? numbers(width) : farNumbers(width, 0);
}

/** The shape of numbers with other bits than those in which the lanes differ. */
const numbersWithBits = (shape: Shape, other: Shape): Shape | null => {
  const width = widthOf(shape);
  return width !== null && alignmentOf(other) >= width ? farNumbers(width, 0) : null;
};

/**
 * The shape of a comparison of thread numbers with a bound, if that is `beyond` more than a multiple of the width. All
 * lanes must be on one side of where numbers begin anew: those to which a constant has been added that is no multiple
 * of the width may have passed it, if they are far or have no sign.
 */
function dividedNumbers(
  prim: string,
  shape: Shape,
  bound: { readonly operand: Expr; readonly shape: Shape },
  beyond: 0 | -1,
): Shape | null {
  if (shape.kind !== "affine" || shape.width === undefined) return null;
  const above = aboveOf(shape);
  if (widthOf(shape) === null && (isFar(shape) || (prim.endsWith("_u") && above < 0))) return null;
  const low = shape.width - 1;
  const known = numberOf(bound.operand) ?? (alignmentOf(bound.shape) >= shape.width ? 0 : null);
  return known !== null && ((known - above) & low) === (beyond & low) ? uniform : null;
}

/** The value of a constant; null for anything else. */
export const numberOf = (expr: Expr): number | null =>
  expr.kind === "const" && typeof expr.value !== "boolean" ? Number(expr.value) : null;
