import {
  chunkBytes,
  type ElementFormat,
  type TensorInstruction,
  tensorLayoutOf,
  type TensorMatrixLayout,
  type UnitOpOf,
  type ZeroColumns,
} from "../../../ir/index.ts";
import type { AddressParts } from "../../../machine/memory/address-space.ts";
import type { UnitCall } from "../unit-call.ts";
import { checkMatrix } from "./access.ts";
import type { TensorBlock } from "./blocks.ts";
import type { DataPaths } from "./data-paths.ts";
import { tensorFault } from "./fault.ts";
import type { Lines } from "./lines.ts";
import { packingOf, patternIn } from "./packing.ts";
import { findChunks, tensorChunkAddress } from "./shared-chunks.ts";
import { type TensorAddress, tensorColumns, tensorLanes } from "./tensor-memory.ts";

/** A product, and the lane that asks for it. */
export interface OperandSource {
  readonly call: UnitCall;
  readonly lane: number;
  readonly op: UnitOpOf<"tensor-multiply">;
  readonly product: TensorInstruction;
  readonly paths: DataPaths;
  /** The block of which the operands are read, and how many there are. */
  readonly block: TensorBlock;
  readonly blocks: 1 | 2;
}

/** Reads an operand, once the product takes effect. */
export type Read = () => void;

/** Elements of a row of A in memory: of a sparse one half. */
export const storedElements = ({ k, sparse }: TensorInstruction): number => (sparse ? k / 2 : k);

/** What is particular to A and B: the lines that the block has, and what comes before them. */
function operandOf({ product, paths, blocks, block }: OperandSource, name: "A" | "B") {
  const { n, k, a, b, negateA, negateB, kMajorA, kMajorB } = product;
  return name === "A"
    ? {
        first: 0,
        lines: paths.rows,
        all: paths.rows,
        ...{ k: storedElements(product), format: a, negated: negateA, kMajor: kMajorA },
      }
    : {
        first: (block.half * n) / blocks,
        lines: n / blocks,
        all: n,
        ...{ k, format: b, negated: negateB, kMajor: kMajorB },
      };
}

/**
 * Finds the rows of A, or the columns of B, that a block has in its shared memory.
 *
 * @throws Fault if the descriptor is none, or the lane must not access what it describes
 */
export function sharedLines(
  source: OperandSource,
  name: "A" | "B",
  { low, high }: AddressParts,
  to: Lines,
  columns: ZeroColumns | null,
): Read {
  const { call, lane, op, block } = source;
  const operand = operandOf(source, name);
  const { lines, k, format, kMajor } = operand;
  const layout = sharedLayout(source, name, low, high);
  const packing = packingOf(op.kind, format, "shared");
  const shift = columns?.shift ?? 0;
  // Lines of memory go along k, or across it.
  const across = Math.ceil((lines + shift) / packing.count);
  const [memoryLines, chunks] = kMajor ? [lines, k / packing.count] : [k, across];
  const addresses = new Int32Array(memoryLines * chunks);
  for (let line = 0, i = 0; line < memoryLines; line++) {
    for (let chunk = 0; chunk < chunks; chunk++, i++) {
      addresses[i] = tensorChunkAddress(layout, kMajor, kMajor ? line + shift : line, chunk);
    }
  }
  const read = findChunks(call, lane, block, addresses);
  return () => {
    const bytes = read();
    const { first, all, negated } = operand;
    to.reset(all, k);
    for (let line = 0, i = 0; line < memoryLines; line++) {
      for (let chunk = 0; chunk < chunks; chunk++, i++) {
        const at = addresses[i]!;
        for (let element = 0; element < packing.count; element++) {
          const position = chunk * packing.count + element;
          const own = kMajor ? line : position - shift;
          if (own < 0 || own >= lines) continue;
          const place = (first + own) * k + (kMajor ? position : line);
          to.put(format, patternIn(packing, bytes, at, element), place, negated);
        }
      }
    }
    columns?.zero.forEach((zero, column) => {
      if (zero) to.clear(column, format);
    });
  };
}

/** The layout of a matrix in shared memory; faults if there is none. */
function sharedLayout(source: OperandSource, name: "A" | "B", low: number, high: number): TensorMatrixLayout {
  const { call, lane, op } = source;
  const { kMajor, format } = operandOf(source, name);
  const layout = tensorLayoutOf(low, high);
  const problem = typeof layout === "string" ? layout : layoutProblem(layout, op.kind, kMajor, format);
  if (problem !== null) {
    throw tensorFault(call, "tcgen05-bad-descriptor", `the descriptor of matrix ${name}: ${problem}`, {}, lane);
  }
  return layout as TensorMatrixLayout;
}

/** Why a matrix of a kind cannot lie so (sections 9.7.16.10.1 and 9.7.16.10.3), or null. */
function layoutProblem(
  { grain, absolute }: TensorMatrixLayout,
  kind: OperandSource["op"]["kind"],
  kMajor: boolean,
  format: ElementFormat,
): string | null {
  if (!kMajor && (kind === "mxf4" || kind === "mxf4nvf4")) return "elements of 4 bits cannot be transposed";
  if (!kMajor && (format === "e2m1" || format === "e2m3" || format === "e3m2")) {
    return `elements of type ${format} cannot be transposed`;
  }
  if (kMajor && grain === 32) return "the swizzle of 128 bytes with 32 together is for transposed matrices";
  if (!kMajor && (kind === "tf32") !== (grain === 32)) {
    return kind === "tf32"
      ? "a transposed matrix of tf32 needs the swizzle of 128 bytes with 32 together"
      : "the swizzle of 128 bytes with 32 together is for tf32";
  }
  if (absolute && !kMajor) return "an absolute address is not possible for a transposed matrix";
  return null;
}

const words = new Int32Array(4);
const bytes = new Uint8Array(words.buffer);

/**
 * Finds the rows of A that a block has in tensor memory: once for each part of D, in whose lanes they are.
 *
 * @throws Fault if they are not in allocated columns
 */
export function tensorLines(source: OperandSource, from: TensorAddress, to: Lines): Read {
  const { call, lane: asking, op, paths, block } = source;
  const { lines, k, format, negated } = operandOf(source, "A");
  const packing = packingOf(op.kind, format, "tensor");
  const chunks = k / packing.count;
  const access = { block, what: "matrix A", effect: "load", asking } as const;
  checkMatrix(call, access, paths, from, chunks * (chunkBytes / 4));
  return () => {
    const { memory } = block;
    to.reset(lines * paths.parts, k);
    for (let line = 0; line < lines * paths.parts; line++) {
      const part = Math.floor(line / lines);
      const row = op.shifted && line % lines < lines - 1 ? line + 1 : line;
      const lane = from.lane + paths.lane(row % lines) + part * (tensorLanes / paths.parts);
      for (let chunk = 0; chunk < chunks; chunk++) {
        const at = lane * tensorColumns + from.column + 4 * chunk;
        words.set(memory.words.subarray(at, at + 4));
        for (let element = 0; element < packing.count; element++) {
          const place = line * k + chunk * packing.count + element;
          to.put(format, patternIn(packing, bytes, 0, element), place, negated);
        }
      }
    }
  };
}
