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
import { issueUncounted } from "../effect.ts";
import type { UnitCall } from "../unit-call.ts";
import { checkMatrix } from "./access.ts";
import { blocksOf } from "./blocks.ts";
import { dataPaths } from "./data-paths.ts";
import { tensorFault } from "./fault.ts";
import { Products } from "./products.ts";
import { type OperandSource, type Read, sharedLines, tensorLines } from "./read-lines.ts";
import { findScales } from "./read-scales.ts";
import { findPlaces } from "./read-sparse.ts";
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
  const blocks = blocksOf(call, op.pair, lane);
  const group = op.pair ? 2 : 1;
  const paths = dataPaths(product.m, group, op.stationary, op.sparse);
  const d = tensorAddress(call.word(operandIndex.d, lane));
  const accumulates = call.word(operandIndex.accumulate, lane) !== 0;
  const sources = blocks.map((block): OperandSource => ({ call, lane, op, product, paths, block, blocks: group }));
  const checkD = ({ block }: OperandSource, effect: "load" | "store" | null): void =>
    checkMatrix(call, { block, what: "matrix D", asking: lane, effect }, paths, d, product.n / paths.parts);
  for (const source of sources) checkD(source, null);
  const columns = sources.map((source) => readColumns(source));
  const rows = sources.map((source) => {
    if (accumulates) checkD(source, "load");
    const read = readRows(source);
    checkD(source, "store");
    return read;
  });
  const exact = call.x.warp.cta.grid.matrix === "exact";
  const mask = maskOf(op, call, lane);
  const factor = accumulates ? powerOfTwo(-op.scaleD) : null;
  const perform = (): void => {
    for (const read of columns) read();
    sources.forEach(({ block }, i) => {
      rows[i]!();
      products.begin({ kind: op.kind, product, paths, perPart: op.fromTensorMemory, exact });
      accumulate({ product, paths, block, d, mask, factor });
    });
  };
  issueUncounted(call, "tensor", perform, lane);
}

/** By 32 lanes of both blocks, the lanes of D that stay as they are; null: none. */
function maskOf(op: UnitOpOf<"tensor-multiply">, call: UnitCall, lane: number): readonly number[] | null {
  if (!op.masked) return null;
  const { mask } = otherOperands(op);
  return Array.from({ length: op.pair ? 8 : 4 }, (_, i) => call.word(mask + i, lane));
}

/** Finds the columns of B that a block has. */
function readColumns(source: OperandSource): Read {
  const { op, call, lane, product } = source;
  let zero: ZeroColumns | null = null;
  if (op.zeroColumns) {
    const { low, high } = call.address(otherOperands(op).zero, lane);
    zero = zeroColumns(low, high, product.m, product.n);
  }
  return sharedLines(source, "B", call.address(operandIndex.b, lane), products.b, zero);
}

/** Finds the rows of A that a block has, with what belongs to them, and the scales of B. */
function readRows(source: OperandSource): Read {
  const { op, call, lane } = source;
  const others = otherOperands(op);
  const cells = (n: number): TensorAddress => tensorAddress(call.word(n, lane));
  const reads = [
    op.fromTensorMemory
      ? tensorLines(source, cells(operandIndex.a), products.a)
      : sharedLines(source, "A", call.address(operandIndex.a, lane), products.a, null),
  ];
  const places = op.sparse ? findPlaces(source, cells(others.metadata)) : null;
  if (op.scales !== null) {
    reads.push(findScales(source, "A", cells(others.scaleA), products.scalesA));
    reads.push(findScales(source, "B", cells(others.scaleB), products.scalesB));
  }
  return () => {
    for (const read of reads) read();
    products.places = places === null ? null : places();
  };
}

/**
 * The product that the descriptors of an instruction describe.
 *
 * @throws Fault if they describe none
 */
function instructionOf(op: UnitOpOf<"tensor-multiply">, call: UnitCall, lane: number): TensorInstruction {
  const fail = (problem: string): never => {
    throw tensorFault(call, "tcgen05-bad-descriptor", `the instruction descriptor: ${problem}`, {}, lane);
  };
  const product = tensorInstruction(op.kind, call.word(operandIndex.instruction, lane));
  if (typeof product === "string") return fail(product);
  if (product.sparse !== op.sparse) fail(`bit 2 says that A is ${product.sparse ? "sparse" : "dense"}`);
  const problem = shapeProblem(op.kind, product, { group: op.pair ? 2 : 1, stationary: op.stationary });
  if (problem !== null) fail(problem);
  if (op.shifted && product.m < 128) fail(`M is ${product.m}, and must be 128 or 256 with .ashift`);
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

/** A block's rows of D, and what happens to them. */
interface Accumulation extends Pick<OperandSource, "product" | "paths" | "block"> {
  readonly d: TensorAddress;
  /** A bit for each lane of the blocks that stays as it is. */
  readonly mask: readonly number[] | null;
  /** What D is multiplied by before; null: it counts as 0. */
  readonly factor: number | null;
}

function accumulate({ product, paths, block, d, mask, factor }: Accumulation): void {
  const { words } = block.memory;
  const { n, d: format } = product;
  const inPart = n / paths.parts;
  for (let part = 0; part < paths.parts; part++) {
    for (let row = 0; row < paths.rows; row++) {
      const to = paths.lane(row) + part * (tensorLanes / paths.parts) + d.lane;
      const bit = to + block.half * tensorLanes;
      if (mask !== null && ((mask[bit >> 5]! >>> (bit & 31)) & 1) === 1) continue;
      products.row(row, part);
      const at = to * tensorColumns + d.column;
      for (let i = 0; i < inPart; i++) {
        const start = factor === null ? 0 : valueIn(words[at + i]!, format) * factor;
        words[at + i] = patternOf(products.cell(part * inPart + i, start), format);
      }
    }
  }
}
