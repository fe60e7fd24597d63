import { readsOf, writesOf } from "../../../../ir/flow/accesses.ts";
import { type Arrangement, type Instruction, type OpOf, rowsOfQuads, rowsToFragments } from "../../../../ir/index.ts";
import type { Expr } from "../../../../semantics/index.ts";
import type { PreparedCode } from "../code/prepared-code.ts";

/** A load of four words a lane and the instruction after it, the only one that needs them: rows move as a whole. */
export interface RowMove {
  readonly load: number;
  /** A store to another state space, or the exchange of parts that `ldmatrix` ends with. */
  readonly to: "store" | "fragments";
  /** Stored by lanes that load nothing: zeros. */
  readonly fillsZeros: boolean;
}

/** The moves of rows in some code. */
export interface RowMoves {
  /** By the instruction that completes a move. */
  readonly moves: ReadonlyMap<number, RowMove>;
  /** Instructions that need no code of their own, as the moves do what they do. */
  readonly skipped: ReadonlySet<number>;
}

type Load = Instruction & { readonly op: OpOf<"load"> };

const words = 4;

/** Finds moves of rows. */
export function rowMovesOf({ instructions, graph, ir, liveness }: PreparedCode): RowMoves {
  const moves = new Map<number, RowMove>();
  const skipped = new Set<number>();
  if (ir.file !== undefined || !instructions.some(isRowLoad)) return { moves, skipped };
  for (const { index, start, end } of graph.blocks) {
    liveness.walk(index, (i, liveAfter) => {
      const load = instructions[i - 1];
      if (i === start || i === end || load === undefined || !isRowLoad(load)) return;
      const next = instructions[i]!;
      const to = destinationOf(load, next);
      const row = load.dst as readonly number[];
      if (to === null || row.some((r) => liveAfter.has(r)) || !readsOnce(next, row)) return;
      const isAll = to === "fragments" || load.guard === null || sameGuard(load, next);
      const zeros = isAll ? [] : zerosBefore(instructions, i - 1, row, start);
      if (!isAll && zeros.length < words) return;
      moves.set(i, { load: i - 1, to, fillsZeros: !isAll });
      for (const at of [...zeros, i - 1]) skipped.add(at);
    });
  }
  return { moves, skipped };
}

/** Whether an instruction reads each register of a row once. */
function readsOnce(instruction: Instruction, row: readonly number[]): boolean {
  let reads = 0;
  readsOf(instruction, { register: (r) => void (row.includes(r) && reads++) });
  return reads === words;
}

const sameGuard = ({ guard: a }: Instruction, { guard: b }: Instruction): boolean =>
  a === b ||
  (a !== null && b !== null && a.register === b.register && a.negate === b.negate && a.collapse === b.collapse);

function isRowLoad(instruction: Instruction): instruction is Load {
  const { op, dst, lanes } = instruction;
  if (op.kind !== "load" || op.place.kind !== "address" || lanes !== undefined) return false;
  const { bits, count, order, volatile, align } = op.access;
  const isPlain = bits === 32 && count === words && order === "weak" && !volatile && align >= 16;
  return isPlain && dst.length === words && dst.every((to) => typeof to === "number") && new Set(dst).size === words;
}

/** What the instruction after a load does with the row. */
function destinationOf({ op, dst }: Load, next: Instruction): RowMove["to"] | null {
  const takes = (values: readonly (Expr | null)[]): boolean =>
    values.length === words && values.every((v, i) => v?.kind === "reg" && v.reg === dst[i]);
  if (next.lanes !== undefined) return null;
  if (next.op.kind === "store") {
    const { access, place, values } = next.op;
    // Lanes are copied one after the other, so that no lane may store what another still has to load.
    const spaces = new Set([op.access.space, access.space]);
    const areApart = spaces.has("global") && spaces.has("shared");
    const isPlain = access.bits === 32 && access.order === "weak" && !access.volatile && access.align >= 16;
    return areApart && isPlain && place.kind === "address" && takes(values) ? "store" : null;
  }
  if (next.op.kind !== "warp" || next.op.warp.op !== "arrange" || next.guard !== null) return null;
  const { operands, arrangement } = next.op.warp;
  return takes(operands) && fragmentsOf(arrangement) !== null ? "fragments" : null;
}

/** How the quads of the results of an exchange are made of rows. */
export interface Fragments {
  /** By result and quad, the lane whose row it is; transposed: by result and number, the lanes of eight rows. */
  readonly rows: readonly (readonly number[])[];
  readonly isTransposed: boolean;
}

/** The exchanges at the end of `ldmatrix` that move whole rows, or transpose eight of them; null for others. */
export function fragmentsOf(arrangement: Arrangement): Fragments | null {
  const rows = rowsOfQuads(arrangement);
  if (rows !== null) return { rows, isTransposed: false };
  for (const count of [1, 2, 4]) {
    if (arrangement !== rowsToFragments(count, true)) continue;
    const eight = (matrix: number): number[] => Array.from({ length: 8 }, (_, r) => 8 * matrix + r);
    return { rows: Array.from({ length: count }, (_, matrix) => eight(matrix)), isTransposed: true };
  }
  return null;
}

/** The instructions of a block before a load that give its registers zeros, if nothing else comes in between. */
function zerosBefore(instructions: readonly Instruction[], load: number, row: readonly number[], start: number) {
  const left = new Set(row);
  const found: number[] = [];
  for (let i = load - 1; i >= start && left.size > 0; i--) {
    const instruction = instructions[i]!;
    let isOther = false;
    readsOf(instruction, { register: (r) => void (isOther ||= left.has(r)) });
    writesOf(instruction, (r) => void (isOther ||= left.has(r)));
    if (!isOther) continue;
    const { op, dst, guard } = instruction;
    const [to] = dst;
    const value = op.kind === "pure" && dst.length === 1 && guard === null ? op.values[0]! : null;
    if (value?.kind !== "const" || Number(value.value) !== 0 || typeof to !== "number") return [];
    left.delete(to);
    found.push(i);
  }
  return found;
}
