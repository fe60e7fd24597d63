import type { ElementFormat, MatrixProduct, ProductRule } from "../../../ir/index.ts";
import { type TensorFormat, tensorSum } from "../../../numeric/tensor.ts";
import type { OperandAccess, Step } from "../define.ts";
import { elementBits, type MatrixShape, shapeOf } from "./fragment.ts";
import { align, multiply } from "./steps.ts";

/** The modifiers that name the formats of the matrices. */
export interface Formats {
  readonly shape?: string;
  readonly atype?: string;
  readonly btype?: string;
  readonly ctype?: string;
  readonly dtype?: string;
}

type Formatted = Pick<MatrixProduct, "a" | "b" | "c" | "d">;

/** What a family of products has in common. */
export interface Family {
  /** The format of A and B, or of C and D, if no modifier names it. */
  readonly multiplicand: ElementFormat | null;
  readonly accumulator: ElementFormat;
  readonly fragments: MatrixProduct["fragments"];
  readonly rule: (sm: number, formats: Formatted, shape: MatrixShape) => ProductRule;
}

const whole = { kind: "whole" } as const;

/** Products of floats of up to 32 bits. `a`: the format of A and B if no modifier names it. */
export const sums = (
  fixed: {
    readonly a: TensorFormat;
    readonly quarters?: { readonly alayout: string; readonly blayout: string };
  } | null,
): Family => ({
  multiplicand: fixed?.a ?? null,
  accumulator: "f32",
  fragments:
    fixed?.quarters === undefined
      ? whole
      : {
          kind: "quarters",
          rowsOfA: fixed.quarters.alayout === "row",
          rowsOfB: fixed.quarters.blayout === "row",
        },
  rule: (sm, { a, d }, { k }) => ({ kind: "sum", sum: tensorSum(sm, a as TensorFormat, k, d === "f16") }),
});

/** Products of doubles. */
export const chain = (rounding: "rn" | "rz" | "rm" | "rp" | undefined): Family => ({
  multiplicand: "f64",
  accumulator: "f64",
  fragments: whole,
  rule: () => ({ kind: "chain", rounding: rounding ?? "rn" }),
});

/** Products of integers. */
export const integers = (saturates: boolean): Family => ({
  multiplicand: null,
  accumulator: "s32",
  fragments: whole,
  rule: () => ({ kind: "integer", saturates }),
});

/** Products of single bits. */
export const single = (combine: "and" | "xor"): Family => ({
  multiplicand: "b1",
  accumulator: "s32",
  fragments: whole,
  rule: () => ({ kind: "bits", combine }),
});

/** The product of a family with these modifiers and this shape, on the architecture with this number. */
export function productOf(
  { atype, btype, ctype, dtype }: Formats,
  shape: MatrixShape,
  sm: number,
  { multiplicand, accumulator, fragments, rule }: Family,
): MatrixProduct {
  const a = (atype ?? multiplicand) as ElementFormat;
  const formats: Formatted = {
    a,
    b: (btype ?? a) as ElementFormat,
    c: (ctype ?? accumulator) as ElementFormat,
    d: (dtype ?? accumulator) as ElementFormat,
  };
  return { ...shape, ...formats, bits: elementBits(a), rule: rule(sm, formats, shape), fragments };
}

/** The steps of a product of this shape, whose operands are called a, b and c. */
export function multiplication(m: Formats, ops: OperandAccess, shape: string, family: Family): Step[] {
  const operands = ["a", "b", "c"].flatMap((name) => ops.vector(name));
  return [align, multiply(operands, productOf(m, shapeOf(shape), ops.sm, family))];
}
