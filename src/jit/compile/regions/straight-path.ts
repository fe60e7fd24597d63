import type { FlowBlock } from "../../../ir/flow/flow-graph.ts";
import { operandsOf } from "../../../ir/flow/accesses.ts";
import { accessesOf, controlOf, type Instruction, isLanewise, type MemoryAccess } from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { AccessGroup } from "../analysis/access/access-groups.ts";
import { type BranchCondition, branchConditionOf } from "../analysis/flow/branch-condition.ts";
import { type GridRange, type GridStride, GridStrides } from "../analysis/values/grid-strides.ts";
import type { Invariants } from "../analysis/values/invariant-code.ts";
import { specialsOf } from "../analysis/values/special-registers.ts";
import { maxConvergedInstructions } from "../control/converged-path.ts";
import type { ConvertedRegion, IfConversion } from "../control/if-conversion.ts";
import type { Chunk } from "../emit/chunk.ts";
import { atLeast, both, extended, i64, isMultiple, low, minus, plus, times } from "../lanes/scalar.ts";
import type { Expected, AccessChecks } from "../memory/access-checks.ts";
import { branchTest, scalarOf } from "./branch-test.ts";
import type { RangeTest } from "./range-values.ts";

/** A 32-bit index times less than this has an exact distance in 64 bits. */
const maxScale = 2 ** 20;

/**
 * The most instructions of a kernel with a path on which lanes may leave blocks out: with more, most of what a chunk
 * does is no test, and the path gains little.
 */
const maxWithRegions = 64;

/** A block of instructions on a straight path. */
export interface StraightBlock {
  readonly index: number;
  /** What only those lanes execute that do not take the block's branch, as each decides for itself; else null. */
  readonly region: ConvertedRegion | null;
  /** The condition of that branch, if it need not be evaluated where all lanes take it; else null. */
  readonly condition: BranchCondition | null;
}

/** A path through a kernel that all threads of a block take if some tests, made once for all of them, hold. */
export interface StraightPath {
  readonly blocks: readonly StraightBlock[];
  /** Instructions that only decide branches of the path. */
  readonly decided: ReadonlySet<number>;
  /** Loads and stores. */
  readonly accesses: readonly number[];
  /** Whether all lanes take the path, and all that they access lies where it is expected. */
  readonly tests: readonly RangeTest[];
  /** The strides of what the path reads of invariants; null where blocks may not be treated as one row. */
  readonly stridesRead: readonly GridStride[] | null;
  /** The blocks for which the tests can be made at once. */
  readonly range: GridRange;
}

/**
 * Finds the path on which lanes do most: at a branch it continues on the side that does not exit, and where each lane
 * decides for itself, after a block that it may leave out. Null where there is no such path without loops, or where it
 * cannot be tested for many blocks at once.
 */
export function straightPathOf(
  chunk: Chunk,
  invariants: Invariants,
  accessChecks: AccessChecks,
  ifConversion: IfConversion,
): StraightPath | null {
  // Of lanes that go on along a row there is none but the first.
  if (chunk.lanes === 1) return null;
  const within = (range: GridRange): StraightPath | null =>
    straightPathIn(range, chunk, invariants, accessChecks, ifConversion);
  const hasRows = specialsOf(chunk.analysis.code.instructions).has("ctaid.y");
  return (hasRows ? within("plane") : null) ?? within("row");
}

/** The same, given the blocks that are tested at once. */
function straightPathIn(
  range: GridRange,
  chunk: Chunk,
  invariants: Invariants,
  accessChecks: AccessChecks,
  ifConversion: IfConversion,
): StraightPath | null {
  const { analysis } = chunk;
  const { graph, instructions, liveness, edgeCopies } = analysis.code;
  const readsZeros = !liveness.liveIn(0).isEmpty;
  if (edgeCopies.size > 0 || readsZeros || instructions.length > maxConvergedInstructions) return null;
  const strides = new GridStrides(analysis, invariants, range);
  const isExit = (block: number): boolean => block >= graph.blocks.length || analysis.isDeparture[block] === true;
  const path: StraightBlock[] = [];
  const checked = new Set<AccessGroup>();
  const decided = new Set<number>();
  const accesses: number[] = [];
  const tests: RangeTest[] = [];
  /** Adds what a block does to the path; false where it may not be a part of it. */
  const add = ({ start, end }: FlowBlock): boolean => {
    if (!instructions.slice(start, end).every(mayStand)) return false;
    for (let i = start; i < end; i++) {
      const { kind } = instructions[i]!.op;
      if (kind !== "load" && kind !== "store") continue;
      if (!invariants.has(i)) accesses.push(i);
      const expected = accessChecks.expected(i);
      if (expected === null) return false;
      if (checked.has(expected.group)) continue;
      checked.add(expected.group);
      const test = accessTest(chunk, expected, strides);
      if (test === null) return false;
      tests.push(test);
    }
    return true;
  };
  for (let at = 0; !isExit(at); ) {
    const block = graph.blocks[at]!;
    const { end } = block;
    if (path.some(({ index }) => index === at) || !add(block)) return null;
    const { op, guard } = instructions[end - 1]!;
    const isJump = op.kind === "branch" || op.kind === "return" || op.kind === "exit";
    const next = at + 1;
    const to = op.kind === "branch" ? graph.blockAt(op.target) : isJump ? graph.blocks.length : next;
    const isTaken = !isJump || guard === null || (isExit(next) && !isExit(to));
    if (isJump && guard !== null) {
      const found = branchConditionOf(analysis, chunk.rematerialized, at, end - 1, (i) => invariants.has(i));
      const test = branchTest(chunk, guard, found, strides, isTaken);
      if (test === null) {
        const isOwn = !chunk.rematerialized.has(guard.register) && !invariants.registers.has(guard.register);
        const mayBeOnPath = isOwn && guard.collapse === undefined && instructions.length <= maxWithRegions;
        const region = mayBeOnPath ? ifConversion.regionAfter(block, to, false) : null;
        if (region?.blocks.length !== 1 || chunk.guardMask(guard) === null || !add(region.blocks[0]!)) return null;
        path.push({ index: at, region, condition: found });
        at = region.join;
        continue;
      }
      tests.push(test);
      for (const i of found?.instructions ?? []) decided.add(i);
    }
    path.push({ index: at, region: null, condition: null });
    at = isTaken ? to : next;
  }
  if (path.length === 0) return null;
  const inRow = range === "row" ? strides : new GridStrides(analysis, invariants);
  const stridesRead = stridesReadBy(path, decided, chunk, invariants, inRow);
  return { blocks: path, decided, accesses, tests, stridesRead, range };
}

/**
 * The strides of all that instructions of a path read of invariants; null where one is not known, or where the path
 * accesses memory of which each block has its own.
 */
function stridesReadBy(
  path: readonly StraightBlock[],
  decided: ReadonlySet<number>,
  chunk: Chunk,
  invariants: Invariants,
  strides: GridStrides,
): readonly GridStride[] | null {
  const { graph, instructions } = chunk.analysis.code;
  // Numbers that are constants do not go on along a row.
  if (invariants.known.numbers.has("tid.x")) return null;
  const found = new Set<GridStride>();
  let isKnown = true;
  const read = (expr: Expr): void => {
    if (expr.kind === "prim") {
      expr.args.forEach(read);
      return;
    }
    if (expr.kind === "const" || (expr.kind === "reg" && !invariants.registers.has(expr.reg))) return;
    const value = strides.isSame(expr) || expr.ty !== "i64" ? expr : strides.indexOf(expr);
    const stride = value === null ? null : strides.of(value);
    if (stride === null) isKnown = false;
    else if (stride.size > 0) found.add(stride);
  };
  for (const { start, end } of path.flatMap(({ index, region }) => [graph.blocks[index]!, ...(region?.blocks ?? [])])) {
    for (let i = start; i < end; i++) {
      if (invariants.has(i) || decided.has(i)) continue;
      const { op, guard } = instructions[i]!;
      if ((op.kind === "load" || op.kind === "store") && !/^(global|const|kernel-param)$/.test(op.access.space))
        return null;
      const moves = op.kind === "branch" || op.kind === "return" || op.kind === "exit";
      if (guard !== null && !moves) read({ kind: "reg", ty: "pred", reg: guard.register });
      operandsOf(op).forEach(read);
    }
  }
  return isKnown ? [...found] : null;
}

/** Whether an instruction may stand on a straight path: its accesses are in all lanes, and to addresses. */
function mayStand({ op, guard, lanes }: Instruction): boolean {
  if (lanes !== undefined) return false;
  if (op.kind === "branch" || controlOf(op) === "leave") return true;
  if (!isLanewise(op)) return false;
  const accesses = accessesOf(op);
  return accesses.length === 0 || (guard === null && accesses.every(isByAddress));
}

const isByAddress = ({ place }: MemoryAccess): boolean => place.kind === "address";

const isExactScale = (scale: number): boolean => scale > 0 && scale < maxScale;

/** Tests that the accesses of a group find what they expect in all threads; null where that cannot be tested. */
function accessTest(chunk: Chunk, { target, group }: Expected, strides: GridStrides): RangeTest | null {
  const { base } = group.address;
  const { offset, size, align } = group.range;
  const { baseDistance, object } = target;
  const shape = chunk.analysis.shape(base);
  if ((object.lane ?? 0) !== 0 || base.ty !== "i64") return null;
  /** Distance of the range from the beginning of the object, for a base without index. */
  const distance = (of: Wasm): Wasm => plus(baseDistance ?? minus(of, object.from), i64(offset));
  /** Whether the ranges between two distances, which are less than 2^53 apart, lie in the object. */
  const fits = (min: Wasm, max: Wasm): Wasm => {
    const { from, bytes, align: ofReach = 1 } = object;
    const room = minus(bytes, i64(size));
    const aligned = isMultiple(low(ofReach % align === 0 ? min : plus(min, from)), align);
    const within = (at: Wasm): Wasm => wasm.op("i64.le_u", at, room);
    return both(both(aligned, atLeast(room, i64(0))), both(within(min), within(max)));
  };
  if (shape.kind === "uniform") {
    const at = (): Wasm => distance(scalarOf(chunk, base));
    if (strides.isSame(base)) return () => fits(at(), at());
    // The same for all lanes of a chunk, but not for all rows of a block.
    const index = strides.scaledIndexOf(base);
    const stride = index === null ? null : strides.of(index.expr);
    if (index === null || stride === null || !isExactScale(Number(index.scale))) return null;
    const scale = Number(index.scale);
    if (scale % align !== 0) return null;
    return (range) => {
      const { min, max, isExact } = range.range(index.expr, stride, index.signed);
      const first = extended(scalarOf(chunk, index.expr), index.signed);
      const beyond = (value: Wasm): Wasm => plus(at(), times(minus(value, first), scale));
      return both(isExact, fits(beyond(min), beyond(max)));
    };
  }
  if (shape.kind !== "indexed" || shape.stride === null) return null;
  const index = strides.indexOf(base);
  const stride = index === null ? null : strides.of(index);
  const { scale, signed } = shape;
  if (index === null || stride === null || !isExactScale(scale)) return null;
  // The index may be one of bytes, as offsets into surfaces are.
  const steps = scale % align === 0 ? [] : [...stride.values()];
  return (range) => {
    const value = chunk.value(base);
    if (value.kind !== "indexed") throw new Error("the address has no index");
    const { min: least, max: most, isExact } = range.range(index, stride, signed);
    const start = distance(value.base);
    const areAligned = steps.map((step) => isMultiple(times(scalarOf(chunk, step), scale), align));
    return [isExact, ...areAligned].reduce(
      both,
      fits(plus(start, times(least, scale)), plus(start, times(most, scale))),
    );
  };
}
