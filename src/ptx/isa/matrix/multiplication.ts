import type { BlockScales, ElementFormat, MatrixProduct, ProductRule } from "../../../ir/index.ts";
import { blockSum } from "../../../numeric/tensor-blocks.ts";
import { type TensorFormat, tensorSum } from "../../../numeric/tensor.ts";
import type { OperandAccess, Step } from "../define.ts";
import { elementBits, type MatrixShape, shapeOf } from "./fragment.ts";
import { scaleOperandsOf } from "./scale-operands.ts";
import { sparseSteps } from "./sparse-steps.ts";
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
  /** Bits of an element of A and B, if its type alone does not say it. */
  readonly bits?: number;
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

/** Products of floats of 4 bits, without padding, with scales. */
export const blocks: Family = {
  multiplicand: "e2m1",
  accumulator: "f32",
  fragments: whole,
  bits: 4,
  rule: () => ({ kind: "blocks", sum: blockSum }),
};

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
  { multiplicand, accumulator, fragments, rule, bits }: Family,
): MatrixProduct {
  const a = (atype ?? multiplicand) as ElementFormat;
  const formats: Formatted = {
    a,
    b: (btype ?? a) as ElementFormat,
    c: (ctype ?? accumulator) as ElementFormat,
    d: (dtype ?? accumulator) as ElementFormat,
  };
  return { ...shape, ...formats, bits: bits ?? elementBits(a), rule: rule(sm, formats, shape), fragments };
}

/** What some forms have besides A, B and C. */
interface Extras {
  /** The operands `e` and `f` are metadata of A, and the lanes that have it. */
  readonly metadata?: "sp" | "sp::ordered_metadata";
  /** `scaleA` and `scaleB` are factors of blocks, with a selector each. */
  readonly scales?: Pick<BlockScales, "format" | "blocks">;
}

/** The steps of a product of this shape, whose operands are called a, b and c. */
export function multiplication(
  m: Formats,
  ops: OperandAccess,
  shape: string,
  family: Family,
  { metadata, scales }: Extras = {},
): Step[] {
  const operands = ["a", "b", "c"].flatMap((name) => ops.vector(name));
  const size = shapeOf(shape);
  // Of a sparse A half of the elements are multiplied.
  const dense = productOf(m, size, ops.sm, metadata === undefined ? family : halved(family));
  const sparse = metadata === undefined ? null : sparseSteps(dense, metadata, ops);
  const scaled = scales === undefined ? null : scaleOperandsOf(scales, ops);
  const product: MatrixProduct = {
    ...dense,
    ...(sparse && { sparsity: sparse.sparsity }),
    ...(scaled && { scales: scaled.scales }),
  };
  return [
    align,
    ...(sparse?.checks ?? []),
    multiply([...operands, ...(sparse?.operands ?? []), ...(scaled?.operands ?? [])], product),
  ];
}

const halved = (family: Family): Family => ({
  ...family,
  rule: (sm, formats, shape) => family.rule(sm, formats, { ...shape, k: shape.k / 2 }),
});
