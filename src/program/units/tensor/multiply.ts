import {
  shapeProblem,
  type TensorInstruction,
  tensorInstruction,
  type UnitOpOf,
  type ZeroColumns,
  zeroColumns,
} from "../../../ir/index.ts";
import { lanesIn } from "../../../ir/lane-mask.ts";
import { powerOfTwo } from "../../../numeric/binary64-bits.ts";
import { pattern32 } from "../../../numeric/float-pattern.ts";
import { f16ToNumber, numberToF16 } from "../../../numeric/half.ts";
import type { UnitCall } from "../unit-call.ts";
import { checkMatrix, tensorFault, tensorMemoryOf } from "./access.ts";
import { type DataPaths, dataPaths } from "./data-paths.ts";
import { Products } from "./products.ts";
import { type OperandSource, readSharedLines, readTensorLines } from "./read-lines.ts";
import { readScales } from "./read-scales.ts";
import { readSparsePlaces } from "./read-sparse.ts";
import { type TensorAddress, tensorAddress, tensorColumns, tensorLanes } from "./tensor-memory.ts";

/** The operands of a product, in the order of `UnitOp`. */
const operandIndex = { d: 0, a: 1, b: 2, instruction: 3, accumulate: 4, others: 5 } as const;

/** The places of the operands that follow the common ones, where an instruction has them. */
function otherOperands({ sparse, scales, masked }: UnitOpOf<"tensor-multiply">) {
  const metadata = operandIndex.others;
  const scaleA = metadata + (sparse ? 1 : 0);
  const mask = scaleA + (scales === null ? 0 : 2);
  return { metadata, scaleA, scaleB: scaleA + 1, mask, zero: mask + (masked ? 4 : 0) };
}

const products = new Products();

/** Multiplies matrices into tensor memory, for each lane that asks (section 9.7.16.10). */
export function multiplyTensor(op: UnitOpOf<"tensor-multiply">, call: UnitCall): void {
  for (const lane of lanesIn(call.lanes)) multiply(op, call, lane);
}

function multiply(op: UnitOpOf<"tensor-multiply">, call: UnitCall, lane: number): void {
  const product = instructionOf(op, call, lane);
  const paths = dataPaths(product.m, 1, op.stationary, op.sparse);
  const others = otherOperands(op);
  const source: OperandSource = { call, lane, op, product, paths };
  const d = tensorAddress(call.word(operandIndex.d, lane));
  checkMatrix(call, { what: "matrix D", effect: "store", asking: lane }, paths, d, product.n / paths.parts);
  if (op.fromTensorMemory) readTensorLines(source, tensorAddress(call.word(operandIndex.a, lane)), products.a);
  else readSharedLines(source, "A", call.address(operandIndex.a, lane), products.a, null);
  let zero: ZeroColumns | null = null;
  if (op.zeroColumns) {
    const { low, high } = call.address(others.zero, lane);
    zero = zeroColumns(low, high, product.m, product.n);
  }
  readSharedLines(source, "B", call.address(operandIndex.b, lane), products.b, zero);
  products.places = op.sparse ? readSparsePlaces(source, tensorAddress(call.word(others.metadata, lane))) : null;
  if (op.scales !== null) {
    readScales(source, "A", tensorAddress(call.word(others.scaleA, lane)), products.scalesA);
    readScales(source, "B", tensorAddress(call.word(others.scaleB, lane)), products.scalesB);
  }
  const exact = call.x.warp.cta.grid.matrix === "exact";
  products.begin({ kind: op.kind, product, paths, perPart: op.fromTensorMemory, exact });
  const mask = op.masked ? [0, 1, 2, 3].map((i) => call.word(others.mask + i, lane)) : null;
  const accumulates = call.word(operandIndex.accumulate, lane) !== 0;
  accumulate(source, d, { mask, factor: accumulates ? powerOfTwo(-op.scaleD) : null });
}

/**
 * The product that the descriptors of an instruction describe.
 *
 * @throws Fault if they describe none
 */
function instructionOf(op: UnitOpOf<"tensor-multiply">, call: UnitCall, lane: number): TensorInstruction {
  const fail = (problem: string): never => {
    throw tensorFault(call, "tcgen05-bad-descriptor", `the instruction descriptor: ${problem}`, { lane });
  };
  const product = tensorInstruction(op.kind, call.word(operandIndex.instruction, lane));
  if (typeof product === "string") return fail(product);
  if (product.sparse !== op.sparse) fail(`bit 2 says that A is ${product.sparse ? "sparse" : "dense"}`);
  const problem = shapeProblem(op.kind, product, { group: 1, stationary: op.stationary });
  if (problem !== null) fail(problem);
  if (op.shifted && product.m !== 128) fail(`M is ${product.m}, and must be 128 with .ashift`);
  return product;
}

const f32 = new Float32Array(1);
const i32 = new Int32Array(f32.buffer);

function valueIn(word: number, format: TensorInstruction["d"]): number {
  if (format === "s32") return word;
  if (format === "f16") return f16ToNumber(word & 0xffff);
  i32[0] = word;
  return f32[0]!;
}

const patternOf = (value: number, format: TensorInstruction["d"]): number =>
  format === "s32" ? value | 0 : format === "f16" ? numberToF16(value) : pattern32(value);

/**
 * What happens to D: a bit for each lane that stays as it is; what D is multiplied by before, null if it counts as 0.
 */
interface Accumulation {
  readonly mask: readonly number[] | null;
  readonly factor: number | null;
}

function accumulate({ call, product, paths }: OperandSource, d: TensorAddress, { mask, factor }: Accumulation): void {
  const { words } = tensorMemoryOf(call);
  const { n, d: format } = product;
  const inPart = n / paths.parts;
  for (let row = 0; row < product.m; row++) {
    for (let part = 0; part < paths.parts; part++) {
      const to = laneOf(paths, row, part) + d.lane;
      if (mask !== null && ((mask[to >> 5]! >>> (to & 31)) & 1) === 1) continue;
      products.row(row, part);
      const at = to * tensorColumns + d.column;
      for (let i = 0; i < inPart; i++) {
        const start = factor === null ? 0 : valueIn(words[at + i]!, format) * factor;
        words[at + i] = patternOf(products.cell(part * inPart + i, start), format);
      }
    }
  }
}

/** The lane of a row in one of the parts of D. */
const laneOf = (paths: DataPaths, row: number, part: number): number =>
  paths.lane(row) + part * (tensorLanes / paths.parts);
