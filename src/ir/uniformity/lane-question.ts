import type { Expr, RegionLeaf } from "../../semantics/index.ts";
import { type LeafExpr, LinearQuestion, type PrimExpr } from "./linear-form.ts";
import {
  affine,
  aligned,
  alignmentOf,
  alikeInRows,
  alignmentOfNumber,
  multipleOf,
  multipleOfRows,
  readAt,
  type Shape,
  strideOf,
  sumOfRows,
  truncatedRows,
  uniform,
  vector,
} from "./shape.ts";
import { differenceOfNumbers, numberOf, numbersAbove, ofNumbers } from "./numbers.ts";

/** The shapes of the leaves of expressions. */
export interface LeafShapes {
  /** Null as long as the shape of a register is unknown; then so is that of anything computed from it. */
  readonly register: (register: number) => Shape | null;
  readonly special: (leaf: Extract<Expr, { kind: "special" }>) => Shape;
}

/**
 * Asks how expressions vary from lane to lane. The answer is null as long as it depends on a
 * register of unknown shape.
 */
export class LaneQuestion extends LinearQuestion<Shape, number> {
  readonly #leaves: LeafShapes;

  constructor(leaves: LeafShapes) {
    super();
    this.#leaves = leaves;
  }

  protected leaf(expr: LeafExpr): Shape | null {
    switch (expr.kind) {
      case "const":
        return constantShape(expr);
      case "symbol":
      case "frame":
      case "lane-word":
        return uniform;
      case "reg":
        return this.#leaves.register(expr.reg);
      case "special":
        return this.#leaves.special(expr);
      case "region":
        return regionShape(expr);
      case "indirect": {
        const address = this.of(expr.address);
        return address === null ? null : readAt(address);
      }
      default:
        return vector;
    }
  }

  protected sum(a: Shape, b: Shape, sign: 1 | -1, left: Expr, right: Expr): Shape {
    if (a.kind === "uniform" && b.kind === "uniform") return aligned(Math.min(alignmentOf(a), alignmentOf(b)));
    const moved = numbersAbove(a, b, right, sign) ?? (sign === 1 ? numbersAbove(b, a, left, 1) : null);
    if (moved !== null) return moved;
    const [own, other] = [strideOf(a), strideOf(b)];
    if (own !== null && own === other && sign === -1) return differenceOfNumbers(a, b);
    if (own !== null && other !== null) return affine(own + sign * other);
    if (a.kind === "indexed" && b.kind === "uniform") return a;
    if (b.kind === "indexed" && a.kind === "uniform" && sign === 1) return b;
    return sumOfRows(a, b, sign);
  }

  protected factorOf(operand: Expr): number | null {
    const value = numberOf(operand);
    return value !== null && Number.isSafeInteger(value) ? value : null;
  }

  protected power(exponent: number): number {
    return 2 ** exponent;
  }

  protected multiple(a: Shape, factor: number): Shape {
    if (a.kind === "uniform") return aligned(alignmentOf(a) * alignmentOfNumber(factor));
    const stride = strideOf(a);
    if (a.kind === "affine") return multipleOf(a, factor);
    if (stride !== null) return affine(stride * factor);
    if (a.kind === "vector" || a.kind === "rows") return a.rows === undefined ? vector : multipleOfRows(a.rows, factor);
    if (a.kind !== "indexed" || factor === 0) return vector;
    const scale = a.scale * factor;
    return Math.abs(scale) < 2 ** 31 ? { ...a, scale } : vector;
  }

  protected extension(operand: Expr, signed: boolean): Shape | null {
    const index = this.of(operand);
    if (index === null || index.kind === "uniform") return index;
    if (index.kind !== "rows") {
      return { kind: "indexed", scale: 1, signed, stride: index.kind === "affine" ? index.stride : null };
    }
    return alikeInRows([index]) ?? { kind: "indexed", scale: 1, signed, stride: null, rows: index.rows };
  }

  protected truncation(operand: Expr): Shape | null {
    const whole = this.of(operand);
    if (whole === null || whole.kind === "uniform") return whole;
    if (whole.kind === "affine") return affine(whole.stride | 0);
    if (whole.kind === "rows") return truncatedRows(whole.rows, 1);
    if (whole.kind !== "indexed") return vector;
    if (whole.rows !== undefined) return truncatedRows(whole.rows, whole.scale);
    return whole.stride === null ? vector : affine(Math.imul(whole.stride, whole.scale));
  }

  protected other(expr: PrimExpr, operands: readonly Shape[]): Shape {
    for (let i = 0; i < operands.length; i++) {
      if (operands[i]!.kind !== "uniform") {
        return (
          ofNumbers(expr, operands[0]!, operands[1]!) ?? (isOfIntegers(expr) ? alikeInRows(operands) : null) ?? vector
        );
      }
    }
    return aligned(resultAlignment(expr, operands));
  }
}

/** Whether an integer or a predicate is computed from such. */
const isOfIntegers = ({ ty, args }: PrimExpr): boolean => isInteger(ty) && args.every((arg) => isInteger(arg.ty));

const isInteger = (ty: Expr["ty"]): boolean => ty === "i32" || ty === "i64" || ty === "pred";

/** `promoteFile` leaves no other regions that are the same in all lanes. */
const regionShape = ({ region: { vertical, width, horizontal } }: RegionLeaf): Shape =>
  vertical === 0 && (width === 1 || horizontal === 0) ? uniform : vector;

/** The shape of a constant: integers are aligned. */
function constantShape({ ty, value }: Extract<Expr, { kind: "const" }>): Shape {
  if (ty !== "i32" && ty !== "i64") return uniform;
  return aligned(alignmentOfNumber(Number(BigInt.asUintN(32, BigInt(value as number | bigint)))));
}

/** The alignment of what is computed, other than by sums and multiples by constants, from uniform values. */
function resultAlignment({ prim, args }: PrimExpr, operands: readonly Shape[]): number {
  const of = (i: number): number => alignmentOf(operands[i]!);
  switch (prim) {
    case "i32.and":
    case "i64.and":
      return Math.max(of(0), of(1));
    case "i32.or":
    case "i32.xor":
    case "i64.or":
    case "i64.xor":
      return Math.min(of(0), of(1));
    case "i32.select":
    case "i64.select":
      return Math.min(of(1), of(2));
    case "i32.mul":
    case "i64.mul":
      return of(0) * of(1);
    case "i32.shr_u":
    case "i32.shr_s": {
      const count = numberOf(args[1]!);
      return count === null || count >= 32 ? 1 : Math.max(1, of(0) / 2 ** count);
    }
    default:
      return 1;
  }
}
