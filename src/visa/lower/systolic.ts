import type { Destination } from "../../ir/index.ts";
import { type Expr, kit as k, packedFormats, type RegionLeaf } from "../../semantics/index.ts";
import { elementsPerStep, precisionBits, type Precision } from "../isa/systolic.ts";
import type { ExecSize, Instruction, Operand } from "../tree.ts";
import type { DataType } from "../types.ts";
import { typeBytes } from "../types.ts";
import type { LowerSpecial } from "./channel-operands.ts";
import type { LowerContext, Lowered } from "./context.ts";
import { storedFloat } from "./conversion.ts";
import { choiceOf, once } from "../instruction-operands.ts";
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

const elementOf = (precision: Precision): Element => ({
  bits: precisionBits(precision),
  signed: precision.startsWith("s"),
  format: (packedFormats as readonly string[]).indexOf(precision),
});

/**
 * `dpas`: row r of dst is row r of src0 plus row r of src2 times src1 (DPAS page). Each channel of src1 has one column
 * of its matrix, packed in doublewords. src2 is packed row by row, eight steps to a row. Float sums are rounded at each
 * step.
 */
export const systolic: LowerSpecial = (context, instruction) => {
  const activations = offsetOfOperand(context, instruction.operands["src2"]);
  return activations === null ? null : multiply(context, instruction, activations);
};

/**
 * `dpasw`: src2 is in the registers of two fused threads, the first half in those of the one with the even number
 * (DPASW page). Each offers its own, and asks for those of the other until they are there.
 */
export const fusedSystolic: LowerSpecial = (context, instruction) => {
  const own = offsetOfOperand(context, instruction.operands["src2"]);
  const { count } = instruction.operands;
  const flag = context.fusedAt;
  const product = multiply(context, instruction, flag + 4);
  if (own === null || product === null || count?.kind !== "number") return null;
  const { b, perStep } = elementsOf(instruction);
  const registers = Math.ceil((b.bits * perStep * count.value) / (4 * registerDwords));
  const first = Math.ceil(registers / 2) * registerDwords;
  const second = registers * registerDwords - first;
  const offered = Array.from({ length: first }, (_, n) => word(own + 4 * n, once, 0));
  const taken = Array.from({ length: 1 + first + second }, (_, n): Destination => {
    const { region } = word(flag + 4 * n, once, 0);
    return { kind: "region", bits: 32, region };
  });
  const lanes = { first: 0, count: 1, noMask: true, uniform: false } as const;
  const uniform = { ...lanes, uniform: true };
  const [asking, again, asked] = [1, 3, 5];
  return [
    { op: { kind: "unit", unit: { op: "fused-offer", dwords: first }, operands: offered }, dst: [], lanes },
    { op: { kind: "unit", unit: { op: "fused-take", first, second }, operands: [] }, dst: taken, lanes },
    {
      op: { kind: "branch-indexed", index: word(flag, once, 0), targets: [again, asked], uniform: true },
      ...{ dst: [], lanes: uniform },
    },
    { op: { kind: "sleep", nanoseconds: k.i32(1) }, dst: [], lanes },
    { op: { kind: "branch", target: asking, uniform: true }, dst: [], lanes: uniform },
    ...product,
  ];
};

/** Dwords of a register of the platforms that have `dpasw`. */
const registerDwords = 8;

/** The elements of src1 (`a`) and of src2 (`b`), and how many of each a step multiplies. */
function elementsOf(instruction: Instruction): { readonly a: Element; readonly b: Element; readonly perStep: number } {
  const weights = choiceOf(instruction, "weights") as Precision;
  const activations = choiceOf(instruction, "activations") as Precision;
  return { a: elementOf(weights), b: elementOf(activations), perStep: elementsPerStep(weights, activations) };
}

/** The product of two matrices, of which src2 is at an offset in the byte file. */
const multiply = (context: LowerContext, instruction: Instruction, activations: number): readonly Lowered[] | null => {
  const { operands, exec } = instruction;
  const { dst, src0, src1, count } = operands;
  const { a, b, perStep } = elementsOf(instruction);
  const isFloat = a.format >= 0;
  const to = matrixOf(context, dst, isFloat);
  const from = matrixOf(context, src0, isFloat);
  const weights = offsetOfOperand(context, src1);
  if (exec === null || to === null || from === null || weights === null) return null;
  if (count?.kind !== "number" || isFloat !== b.format >= 0) return null;

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
const word = (at: number, exec: ExecSize, stride: 0 | 1): RegionLeaf => ({
  kind: "region",
  ty: "i32",
  bits: 32,
  signed: false,
  region: { at, first: exec.offset, vertical: stride, width: 1, horizontal: 0 },
});

/** A field of packed elements from bit `start` on, in the form of `i32.dot_packed`. */
const field = ({ bits, signed }: Element, start: number): number => start | (bits << 6) | (signed ? 0x400 : 0);
