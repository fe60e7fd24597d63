import type { Destination } from "../../ir/index.ts";
import { type Expr, kit as k, packedFormats } from "../../semantics/index.ts";
import type { Precision } from "../isa/systolic.ts";
import type { ExecSize, Operand } from "../tree.ts";
import type { DataType } from "../types.ts";
import { typeBytes } from "../types.ts";
import type { LowerSpecial } from "./channel-operands.ts";
import type { LowerContext } from "./context.ts";
import { storedFloat } from "./conversion.ts";
import { choiceOf } from "../instruction-operands.ts";
import { offsetOfOperand } from "./operands.ts";
import { promotedFloat } from "./promotion.ts";

/** The elements of src1's or src2's matrix. */
interface Element {
  readonly bits: number;
  /** Whether integers are signed. */
  readonly signed: boolean;
  /** Index of the format in `packedFormats`; -1 for integers. */
  readonly format: number;
}

const floatBits: Readonly<Record<string, number>> = { bf: 16, hf: 16, tf32: 32, bf8: 8, hf8: 8, e2m1: 4 };

const elementOf = (precision: Precision): Element => ({
  bits: floatBits[precision] ?? Number(precision.slice(1)),
  signed: precision.startsWith("s"),
  format: (packedFormats as readonly string[]).indexOf(precision),
});

/** Elements that one step multiplies in each channel. */
const elementsPerStep = (a: Element, b: Element): number =>
  a.format >= 0 ? 32 / a.bits : a.bits === 8 || b.bits === 8 ? 4 : 8;

/**
 * `dpas`: row r of dst is row r of src0 plus row r of src2 times src1 (DPAS page). Each channel of src1 has one column
 * of its matrix, packed in doublewords. src2 is packed row by row, eight steps to a row. Float sums are rounded at each
 * step.
 */
export const systolic: LowerSpecial = (context, instruction) => {
  const { operands, exec } = instruction;
  const { dst, src0, src1, src2, count } = operands;
  const a = elementOf(choiceOf(instruction, "weights") as Precision);
  const b = elementOf(choiceOf(instruction, "activations") as Precision);
  const isFloat = a.format >= 0;
  const to = matrixOf(context, dst, isFloat);
  const from = matrixOf(context, src0, isFloat);
  const weights = offsetOfOperand(context, src1);
  const activations = offsetOfOperand(context, src2);
  if (exec === null || to === null || from === null || weights === null || activations === null) return null;
  if (count?.kind !== "number" || isFloat !== b.format >= 0) return null;

  const perStep = elementsPerStep(a, b);
  const stepsPerWord = 32 / (perStep * a.bits);
  const depth = Number(choiceOf(instruction, "depth"));
  const values = Array.from({ length: count.value }, (_, row) => {
    let sum = initial(from, row, exec, isFloat);
    for (let step = 0; step < depth; step++) {
      const start = (step % stepsPerWord) * perStep * a.bits;
      const bit = (row * 8 + step) * perStep * b.bits;
      const x = word(weights + Math.floor(step / stepsPerWord) * exec.size * 4, exec, 1);
      const y = word(activations + (bit >> 5) * 4, exec, 0);
      sum = isFloat
        ? k.op("f32.dot_packed", sum, x, y, k.i32(a.format | (b.format << 3)))
        : k.op("i32.dot_packed", sum, x, y, k.i32(field(a, start) | (field(b, bit & 31) << 11) | (perStep << 22)));
    }
    return isFloat ? storedFloat(sum, to.type, false) : sum;
  });
  return [{ op: { kind: "pure", values }, dst: values.map((_, row) => rowTarget(to, row, exec)) }];
};

/**
 * Rows of sums, with one element per channel. `at` is the offset in the byte file; null stands for zeros, or for
 * dropping the results.
 */
interface Matrix {
  readonly at: number | null;
  readonly type: DataType;
}

/** The matrix of a raw operand; null if its type cannot hold such sums. */
function matrixOf(context: LowerContext, operand: Operand | undefined, isFloat: boolean): Matrix | null {
  if (operand?.kind !== "raw") return null;
  const at = offsetOfOperand(context, operand);
  const { type } = context.variable(operand.variable);
  const types: readonly DataType[] = isFloat ? ["f", "hf", "bf"] : ["d", "ud"];
  if (at === null) return { at, type: types[0]! };
  return types.includes(type) ? { at, type } : null;
}

const rowOffset = ({ at, type }: Matrix, row: number, { size }: ExecSize): number =>
  (at ?? 0) + row * size * typeBytes(type);

const bitsOf = (type: DataType): 16 | 32 => (typeBytes(type) === 2 ? 16 : 32);

function initial(matrix: Matrix, row: number, exec: ExecSize, isFloat: boolean): Expr {
  if (matrix.at === null) return isFloat ? k.f32(0) : k.i32(0);
  const { type } = matrix;
  const region = { at: rowOffset(matrix, row, exec), first: exec.offset, vertical: 1, width: 1, horizontal: 0 };
  const expr: Expr = { kind: "region", ty: type === "f" ? "f32" : "i32", bits: bitsOf(type), signed: false, region };
  return isFloat ? promotedFloat({ expr, type, modifier: null, undefinedCases: [] }, "f32") : expr;
}

function rowTarget(matrix: Matrix, row: number, exec: ExecSize): Destination {
  if (matrix.at === null) return null;
  const region = { at: rowOffset(matrix, row, exec), first: exec.offset, vertical: 1, width: 1, horizontal: 0 };
  return { kind: "region", bits: bitsOf(matrix.type), region };
}

/** A doubleword for each channel (`stride` 1), or one for all of them (0). */
const word = (at: number, exec: ExecSize, stride: 0 | 1): Expr => ({
  kind: "region",
  ty: "i32",
  bits: 32,
  signed: false,
  region: { at, first: exec.offset, vertical: stride, width: 1, horizontal: 0 },
});

/** A field of packed elements from bit `start` on, in the form of `i32.dot_packed`. */
const field = ({ bits, signed }: Element, start: number): number => start | (bits << 6) | (signed ? 0x400 : 0);
