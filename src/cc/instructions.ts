import { type MemoryOp, memoryOps } from "../wasm/memory-ops.ts";
import { type ValueOp, valueOps } from "../wasm/value-ops.ts";

/** The instructions that compute or access memory, by their encoding. */
const valuesByCode = new Map<number, ValueOp>();
const accessesByCode = new Map<number, MemoryOp>();
const key = (prefix: number | null, code: number): number => (prefix ?? 0) * 0x1_0000 + code;
for (const [name, { prefix, code }] of Object.entries(valueOps)) valuesByCode.set(key(prefix, code), name as ValueOp);
for (const [name, { prefix, code }] of Object.entries(memoryOps))
  accessesByCode.set(key(prefix, code), name as MemoryOp);

/** The operation of a code. Selections of bits are of lanes: the compiler has no masks with other bits in a byte. */
export function valueOpOf(prefix: number | null, code: number): ValueOp | undefined {
  const op = valuesByCode.get(key(prefix, code));
  return op === "i8x16.relaxed_laneselect" ? "v128.bitselect" : op;
}

export const memoryOpOf = (prefix: number | null, code: number): MemoryOp | undefined =>
  accessesByCode.get(key(prefix, code));
