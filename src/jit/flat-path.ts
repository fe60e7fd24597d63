import type { AccessGroup } from "./access-groups.ts";
import type { Guard, Instruction } from "../ir/index.ts";
import type { Expr } from "../semantics/index.ts";
import { type FunctionWriter, type Wasm, wasm } from "../wasm/index.ts";
import { type BranchTest, everywhere, testOf } from "./branch-test.ts";
import type { Chunk } from "./chunk.ts";
import type { ContextLayout } from "./context-layout.ts";
import type { Hoisted } from "./hoisting.ts";
import { mostInStep } from "./in-step.ts";
import type { Expected, Locator } from "./locator.ts";
import { atLeast, below, both, extended, i64, isMultiple, low, minus, plus, times } from "./scalar.ts";
import { type Along, alongRow } from "./row.ts";

/** A condition on all lanes of a row, of which the last has a number (i64), as the first chunk's registers are. 0 or 1. */
type RowTest = (last: Wasm) => Wasm;

/** Steps of fewer bytes are exact in 64 bits when they are multiplied by the lanes of a row. */
const largestStep = 2 ** 40;

/** What all lanes of a block go through where some tests, made once for all of them, say so. */
export interface FlatPath {
  readonly blocks: readonly number[];
  /** Instructions that only decide where lanes go. */
  readonly decided: ReadonlySet<number>;
  /** That all lanes go this way, and that all that they access lies where it is expected. */
  readonly tests: readonly RowTest[];
}

/** The row of lanes that a block is, where it is one. */
export class Row {
  readonly #writer: FunctionWriter;
  /** Threads of the block that are in chunks in which all lanes have one: a local. */
  readonly whole: number;
  /** The number (i64) of the last of them. */
  readonly #last: number;
  /** Whether there are any, and the block has one row. */
  readonly #isThere: number;

  /** Writes what is the same for all blocks. `threads`: the local with those of a block. */
  constructor(writer: FunctionWriter, { words }: ContextLayout, context: number, threads: number, lanes: number) {
    const w = writer;
    const [whole, last, isThere] = [w.local("i32"), w.local("i64"), w.local("i32")];
    const all = wasm.local("i32", threads);
    w.assign([{ local: whole, value: wasm.op("i32.and", all, wasm.i32(-lanes)) }]);
    const some = wasm.local("i32", whole);
    w.assign([{ local: last, value: minus(extended(some), i64(1)) }]);
    w.get(context);
    w.memory("i32.load", 4, words["ntid.x"]);
    w.value(all);
    w.op("i32.eq");
    w.value(wasm.op("i32.ne", some, wasm.i32(0)));
    w.op("i32.and");
    w.set(isThere);
    this.#writer = w;
    this.whole = whole;
    this.#last = last;
    this.#isThere = isThere;
  }

  /** What is done for a block in which all of these lanes go a way. The registers are those of the first chunk. */
  ifAll({ tests }: FlatPath, then: () => void): void {
    const w = this.#writer;
    const last = wasm.local("i64", this.#last);
    w.value(tests.reduce((all, test) => both(all, test(last)), wasm.local("i32", this.#isThere)));
    w.expect(true);
    w.if(then);
  }
}

/**
 * The way through a kernel on which lanes do most: at branches it goes on where the other side leaves. Null where there is no such
 * way without loops, or where it cannot be tested for a whole block of one row.
 */
export function flatPathOf(chunk: Chunk, hoisted: Hoisted, locator: Locator): FlatPath | null {
  const { analysis } = chunk;
  const { graph, instructions, liveness, edgeCopies } = analysis.code;
  const readsZeros = liveness.liveIn(0).words.some((word) => word !== 0);
  if (edgeCopies.size > 0 || readsZeros || instructions.length > mostInStep) return null;
  const along = alongRow(analysis, hoisted);
  const leaves = (block: number): boolean => block >= graph.blocks.length || analysis.isDeparture[block] === true;
  const path: number[] = [];
  const checked = new Set<AccessGroup>();
  const decided = new Set<number>();
  const tests: RowTest[] = [];
  for (let at = 0; !leaves(at); ) {
    const { start, end } = graph.blocks[at]!;
    if (path.includes(at) || !instructions.slice(start, end).every(isPlain)) return null;
    path.push(at);
    for (let i = start; i < end; i++) {
      const { kind } = instructions[i]!.op;
      if (kind !== "load" && kind !== "store") continue;
      const expected = locator.expected(i);
      if (expected === null) return null;
      if (checked.has(expected.group)) continue;
      checked.add(expected.group);
      const test = accessTest(chunk, expected, along);
      if (test === null) return null;
      tests.push(test);
    }
    const { op, guard } = instructions[end - 1]!;
    const leads = op.kind === "branch" || op.kind === "return" || op.kind === "exit";
    const next = at + 1;
    const to = op.kind === "branch" ? graph.blockAt(op.target) : leads ? graph.blocks.length : next;
    const isTaken = !leads || guard === null || (leaves(next) && !leaves(to));
    if (leads && guard !== null) {
      const found = testOf(chunk, at, end - 1, (i) => hoisted.has(i));
      const test = branchTest(chunk, guard, found, along, isTaken);
      if (test === null) return null;
      tests.push(test);
      for (const i of found?.instructions ?? []) decided.add(i);
    }
    at = isTaken ? to : next;
  }
  return path.length === 0 ? null : { blocks: path, decided, tests };
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

/** That all lanes of a row take a branch (or leave), or none does; null where there is no such test. */
function branchTest(
  chunk: Chunk,
  { register, negate, collapse }: Guard,
  found: BranchTest | null,
  along: (expr: Expr) => Along,
  isTaken: boolean,
): RowTest | null {
  const predicate: Expr = { kind: "reg", ty: "pred", reg: register };
  const predicates = found?.predicates ?? new Map<number, Expr>();
  if (collapse !== undefined || !isKnown(predicate, predicates, along)) return null;
  const test = (to: Wasm): Wasm | null => everywhere(chunk, predicates, predicate, isTaken !== negate, { from: 0, to });
  // Whether there is an answer does not hang on the number of lanes.
  return test(i64(0)) === null ? null : (last) => test(last)!;
}

/** Whether a predicate is made of what goes on along the row. */
export function isKnown(expr: Expr, predicates: ReadonlyMap<number, Expr>, along: (expr: Expr) => Along): boolean {
  if (expr.ty !== "pred") return along(expr) !== "other";
  if (expr.kind === "reg") {
    const known = predicates.get(expr.reg);
    return known === undefined ? along(expr) === "same" : isKnown(known, predicates, along);
  }
  return expr.kind === "const" || (expr.kind === "prim" && expr.args.every((arg) => isKnown(arg, predicates, along)));
}

/** That all lanes of a row find what some accesses expect; null where there is no test. */
function accessTest(chunk: Chunk, { target, group }: Expected, along: (expr: Expr) => Along): RowTest | null {
  const { base } = group.address;
  const { offset, size, align } = group.stretch;
  const { ahead, reach } = target;
  const shape = chunk.analysis.shape(base);
  if (ahead === null || (reach.lane ?? 0) !== 0) return null;
  const start = plus(ahead, i64(offset));
  /** Whether that many bytes more than the stretch, from a distance on, lie within reach. */
  const fits = (lowest: Wasm, more: Wasm): Wasm => {
    const { from, bytes, align: ofReach = 1 } = reach;
    const room = minus(minus(bytes, i64(size)), more);
    const aligned = isMultiple(low(ofReach % align === 0 ? lowest : plus(lowest, from)), align);
    return both(aligned, both(atLeast(room, i64(0)), below(lowest, plus(room, i64(1)))));
  };
  if (shape.kind === "uniform") return along(base) === "same" ? () => fits(start, i64(0)) : null;
  if (shape.kind !== "indexed" || shape.stride === null || along(base) === "other") return null;
  const { scale, stride, signed } = shape;
  if (scale <= 0 || Math.abs(stride * scale) >= largestStep || (stride * scale) % align !== 0) return null;
  return (last) => {
    const value = chunk.value(base);
    if (value.kind !== "indexed" || value.index.kind !== "affine") throw new Error("the address is no run");
    const first = extended(value.index.base, signed);
    const way = times(last, Math.abs(stride));
    const end = stride > 0 ? plus(first, way) : minus(first, way);
    // Beyond the other end the index would begin again.
    const [least, most] = signed ? [-(2 ** 31), 2 ** 31 - 1] : [0, 2 ** 32 - 1];
    const counts = stride > 0 ? atLeast(i64(most), end) : atLeast(end, i64(least));
    const lowest = plus(start, times(stride > 0 ? first : end, scale));
    return both(counts, fits(lowest, times(way, scale)));
  };
}
