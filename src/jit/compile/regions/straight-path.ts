import { operandsOf } from "../../../ir/flow/accesses.ts";
import type { Guard, Instruction } from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { AccessGroup } from "../analysis/access/access-groups.ts";
import { type BranchCondition, branchConditionOf } from "../analysis/flow/branch-condition.ts";
import { type GridStride, GridStrides } from "../analysis/values/grid-strides.ts";
import type { Invariants } from "../analysis/values/invariant-code.ts";
import { maxConvergedInstructions } from "../control/converged-path.ts";
import type { Chunk } from "../emit/chunk.ts";
import { atLeast, both, i64, isMultiple, low, minus, plus, times } from "../lanes/scalar.ts";
import type { Expected, AccessChecks } from "../memory/access-checks.ts";
import type { RangeTest } from "./block-range.ts";

/** A 32-bit index times less than this has an exact distance in 64 bits. */
const maxScale = 2 ** 20;

/** What all lanes of a block go through where some tests, made once for all of them, say so. */
export interface StraightPath {
  readonly blocks: readonly number[];
  /** Instructions that only decide where lanes go. */
  readonly decided: ReadonlySet<number>;
  /** Loads and stores. */
  readonly accesses: readonly number[];
  /** That all lanes go this way, and that all that they access lies where it is expected. */
  readonly tests: readonly RangeTest[];
  /** How that grows which the path reads of what is computed beforehand; null where the blocks may not be taken for one. */
  readonly read: readonly GridStride[] | null;
}

/**
 * The way through a kernel on which lanes do most: at branches it goes on where the other side leaves. Null where there is no such
 * way without loops, or where it cannot be tested for many blocks at once.
 */
export function straightPathOf(chunk: Chunk, hoisted: Invariants, locator: AccessChecks): StraightPath | null {
  const { analysis } = chunk;
  const { graph, instructions, liveness, edgeCopies } = analysis.code;
  const readsZeros = !liveness.liveIn(0).isEmpty;
  if (edgeCopies.size > 0 || readsZeros || instructions.length > maxConvergedInstructions) return null;
  const growths = new GridStrides(analysis, hoisted);
  const leaves = (block: number): boolean => block >= graph.blocks.length || analysis.isDeparture[block] === true;
  const path: number[] = [];
  const checked = new Set<AccessGroup>();
  const decided = new Set<number>();
  const accesses: number[] = [];
  const tests: RangeTest[] = [];
  const growthsRead = (blocks: readonly number[]): readonly GridStride[] | null => {
    const found = new Set<GridStride>();
    let isKnown = true;
    const read = (expr: Expr): void => {
      if (expr.kind === "prim") {
        expr.args.forEach(read);
        return;
      }
      if (expr.kind === "const" || (expr.kind === "reg" && !hoisted.registers.has(expr.reg))) return;
      const value = growths.isSame(expr) || expr.ty !== "i64" ? expr : growths.indexOf(expr);
      const growth = value === null ? null : growths.of(value);
      if (growth === null) isKnown = false;
      else if (growth.size > 0) found.add(growth);
    };
    for (const block of blocks) {
      const { start, end } = graph.blocks[block]!;
      for (let i = start; i < end; i++) {
        if (hoisted.has(i) || decided.has(i)) continue;
        const { op, guard } = instructions[i]!;
        if ((op.kind === "load" || op.kind === "store") && !/^(global|const|kernel-param)$/.test(op.access.space))
          return null;
        const moves = op.kind === "branch" || op.kind === "return" || op.kind === "exit";
        if (guard !== null && !moves) read({ kind: "reg", ty: "pred", reg: guard.register });
        operandsOf(op).forEach(read);
      }
    }
    return isKnown ? [...found] : null;
  };
  for (let at = 0; !leaves(at); ) {
    const { start, end } = graph.blocks[at]!;
    if (path.includes(at) || !instructions.slice(start, end).every(isPlain)) return null;
    path.push(at);
    for (let i = start; i < end; i++) {
      const { kind } = instructions[i]!.op;
      if (kind !== "load" && kind !== "store") continue;
      if (!hoisted.has(i)) accesses.push(i);
      const expected = locator.expected(i);
      if (expected === null) return null;
      if (checked.has(expected.group)) continue;
      checked.add(expected.group);
      const test = accessTest(chunk, expected, growths);
      if (test === null) return null;
      tests.push(test);
    }
    const { op, guard } = instructions[end - 1]!;
    const leads = op.kind === "branch" || op.kind === "return" || op.kind === "exit";
    const next = at + 1;
    const to = op.kind === "branch" ? graph.blockAt(op.target) : leads ? graph.blocks.length : next;
    const isTaken = !leads || guard === null || (leaves(next) && !leaves(to));
    if (leads && guard !== null) {
      const found = branchConditionOf(analysis, chunk.rematerialized, at, end - 1, (i) => hoisted.has(i));
      const test = branchTest(chunk, guard, found, growths, isTaken);
      if (test === null) return null;
      tests.push(test);
      for (const i of found?.instructions ?? []) decided.add(i);
    }
    at = isTaken ? to : next;
  }
  return path.length === 0 ? null : { blocks: path, decided, accesses, tests, read: growthsRead(path) };
}

function isPlain({ op, guard, lanes }: Instruction): boolean {
  if (lanes !== undefined) return false;
  switch (op.kind) {
    case "load":
    case "store":
      return guard === null && op.surface === undefined;
    case "pure":
    case "branch":
    case "return":
    case "exit":
    case "nothing":
      return true;
    default:
      return false;
  }
}

/** That all lanes take a branch (or leave), or none does; null where there is no such test. */
function branchTest(
  chunk: Chunk,
  { register, negate, collapse }: Guard,
  found: BranchCondition | null,
  growths: GridStrides,
  isTaken: boolean,
): RangeTest | null {
  const predicate: Expr = { kind: "reg", ty: "pred", reg: register };
  const predicates = found?.predicates ?? new Map<number, Expr>();
  return collapse === undefined ? holds(chunk, growths, predicates, predicate, isTaken !== negate) : null;
}

/** That a predicate is `wanted` for all threads. */
function holds(
  chunk: Chunk,
  growths: GridStrides,
  predicates: ReadonlyMap<number, Expr>,
  expr: Expr,
  wanted: boolean,
): RangeTest | null {
  const inner = (of: Expr, isWanted: boolean): RangeTest | null => holds(chunk, growths, predicates, of, isWanted);
  if (expr.kind === "const") return () => wasm.i32(expr.value === wanted ? 1 : 0);
  if (expr.kind === "reg") {
    const known = predicates.get(expr.reg);
    if (known !== undefined) return inner(known, wanted);
    if (!growths.isSame(expr)) {
      const value = growths.valueOf(expr.reg);
      return value === null ? null : inner(value, wanted);
    }
    return () => {
      const p = scalarOf(chunk, expr);
      return wanted ? p : wasm.op("i32.eqz", p);
    };
  }
  if (expr.kind !== "prim") return null;
  if (expr.prim === "pred.not") return inner(expr.args[0]!, !wanted);
  if (expr.prim === "pred.and" || expr.prim === "pred.or") {
    const [a, b] = expr.args.map((arg) => inner(arg, wanted)) as [RangeTest | null, RangeTest | null];
    if ((expr.prim === "pred.and") === wanted) return a && b && ((region) => both(a(region), b(region)));
    return a && b ? (region) => wasm.op("i32.or", a(region), b(region)) : (a ?? b);
  }
  const found = /^i32\.(lt|le)_([su])$/.exec(expr.prim);
  if (found === null) return null;
  const isSigned = found[2] === "s";
  // What is not less is greater or equal.
  const [a, b] = (wanted ? expr.args : [expr.args[1]!, expr.args[0]!]) as readonly [Expr, Expr];
  const [left, right] = [growths.of(a), growths.of(b)];
  if (left === null || right === null) return null;
  const isStrict = (found[1] === "lt") === wanted;
  return (region) => {
    const [low, high] = [region.range(a, left, isSigned), region.range(b, right, isSigned)];
    const inOrder = wasm.op(isStrict ? "i64.lt_s" : "i64.le_s", low.most, high.least);
    return both(both(low.isExact, high.isExact), inOrder);
  };
}

/** That all threads find what some accesses expect; null where there is no test. */
function accessTest(chunk: Chunk, { target, group }: Expected, growths: GridStrides): RangeTest | null {
  const { base } = group.address;
  const { offset, size, align } = group.stretch;
  const { baseDistance, object } = target;
  const shape = chunk.analysis.shape(base);
  if ((object.lane ?? 0) !== 0 || base.ty !== "i64") return null;
  /** How far the stretch is from the beginning, for a base without index. */
  const distance = (of: Wasm): Wasm => plus(baseDistance ?? minus(of, object.from), i64(offset));
  /** Whether the stretches between two distances, which are less than 2^53 apart, lie within object. */
  const fits = (least: Wasm, most: Wasm): Wasm => {
    const { from, bytes, align: ofReach = 1 } = object;
    const room = minus(bytes, i64(size));
    const aligned = isMultiple(low(ofReach % align === 0 ? least : plus(least, from)), align);
    const within = (at: Wasm): Wasm => wasm.op("i64.le_u", at, room);
    return both(both(aligned, atLeast(room, i64(0))), both(within(least), within(most)));
  };
  if (shape.kind === "uniform") {
    if (!growths.isSame(base)) return null;
    return () => {
      const at = distance(scalarOf(chunk, base));
      return fits(at, at);
    };
  }
  if (shape.kind !== "indexed" || shape.stride === null) return null;
  const index = growths.indexOf(base);
  const growth = index === null ? null : growths.of(index);
  const { scale, signed } = shape;
  if (index === null || growth === null || scale <= 0 || scale >= maxScale || scale % align !== 0) return null;
  return (region) => {
    const value = chunk.value(base);
    if (value.kind !== "indexed") throw new Error("the address has no index");
    const { least, most, isExact } = region.range(index, growth, signed);
    const start = distance(value.base);
    return both(isExact, fits(plus(start, times(least, scale)), plus(start, times(most, scale))));
  };
}

/** A value that is the same in all lanes. */
function scalarOf(chunk: Chunk, expr: Expr): Wasm {
  const value = chunk.value(expr);
  if (value.kind !== "uniform") throw new Error("a value that is the same is no scalar");
  return value.scalar;
}
