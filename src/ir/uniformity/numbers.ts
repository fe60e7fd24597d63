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
  const { width, stride } = shape;
  if (by === null) return alignmentOf(other) >= width * stride ? farNumbers(width, aboveOf(shape), stride) : null;
  const above = aboveOf(shape) + sign * (by | 0);
  const stays = !isFar(shape) && Math.abs(above) <= maxAbove;
  return stays ? { ...shape, above } : farNumbers(width, above, stride);
}

/** The shape of the difference of values with the same stride: numbers differ by a multiple of the chunk's lanes. */
export function differenceOfNumbers(a: Shape, b: Shape): Shape {
  if (a.kind !== "affine" || b.kind !== "affine" || a.width === undefined || a.width !== b.width) return uniform;
  return aligned(Math.min(a.width * a.stride, alignmentOfNumber(aboveOf(a) - aboveOf(b))));
}

/** Numbers of which the lowest one in a chunk is a multiple of what the chunk's lanes span. */
interface WholeNumbers {
  readonly width: number;
  readonly stride: number;
  /** From the lowest one to that of the next chunk. */
  readonly span: number;
}

function wholeNumbers(shape: Shape): WholeNumbers | null {
  if (shape.kind !== "affine" || shape.width === undefined) return null;
  const { width, stride } = shape;
  const span = width * stride;
  return aboveOf(shape) % span === 0 ? { width, stride, span } : null;
}

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
      const [whole, count] = [wholeNumbers(a), numberOf(args[1]!)];
      return whole !== null && count !== null && count < 32 && 2 ** count >= whole.span ? uniform : null;
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
  const [whole, mask] = [wholeNumbers(shape), numberOf(operand)];
  if (whole === null || mask === null) return null;
  const { width, stride, span } = whole;
  // The bits in which the lanes differ.
  const differing = span - stride;
  const low = mask & differing;
  if (low === 0) return aligned(alignmentOfNumber(mask & -span));
  if (low !== differing) return null;
  // What has been added may have made other bits.
  return stride === 1 && mask >= 0 && mask < maxAbove ? numbers(width) : farNumbers(width, 0, stride);
}

/** The shape of numbers with other bits than those in which the lanes differ. */
const numbersWithBits = (shape: Shape, other: Shape): Shape | null => {
  const whole = wholeNumbers(shape);
  return whole !== null && alignmentOf(other) >= whole.span ? farNumbers(whole.width, 0, whole.stride) : null;
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
  if (wholeNumbers(shape) === null && (isFar(shape) || (prim.endsWith("_u") && above < 0))) return null;
  const span = shape.width * shape.stride;
  const known = numberOf(bound.operand) ?? (alignmentOf(bound.shape) >= span ? 0 : null);
  if (known === null) return null;
  // The bound's place among the numbers of a chunk: none of them is between it and the next one's.
  const place = (known - above - beyond - 1) & (span - 1);
  return place >= span - shape.stride ? uniform : null;
}

/** The value of a constant; null for anything else. */
export const numberOf = (expr: Expr): number | null =>
  expr.kind === "const" && typeof expr.value !== "boolean" ? Number(expr.value) : null;
