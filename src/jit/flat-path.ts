import type { Instruction } from "../ir/index.ts";
import type { Expr } from "../semantics/index.ts";
import { type FunctionWriter, type Wasm, wasm } from "../wasm/index.ts";
import { type BranchTest, everywhere, testOf } from "./branch-test.ts";
import type { Chunk } from "./chunk.ts";
import type { ContextLayout } from "./context-layout.ts";
import type { Hoisted } from "./hoisting.ts";
import type { Locator } from "./locator.ts";
import { atLeast, below, both, extended, i64, isMultiple, low, minus, plus, times } from "./scalar.ts";
import { type Along, alongRow } from "./row.ts";

/** A condition on all lanes of a row, of which the last has a number (i64), as the first chunk's registers are. 0 or 1. */
type RowTest = (last: Wasm) => Wasm;

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
  let begins = true;
  liveness.liveIn(0).forEach(() => {
    begins = false;
  });
  if (edgeCopies.size > 0 || !begins) return null;
  const along = alongRow(analysis, hoisted);
  const leaves = (block: number): boolean => block >= graph.blocks.length || analysis.isDeparture[block] === true;
  const path: number[] = [];
  const decided = new Set<number>();
  const tests: RowTest[] = [];
  for (let at = 0; !leaves(at); ) {
    if (path.includes(at)) return null;
    path.push(at);
    const { start, end } = graph.blocks[at]!;
    for (let i = start; i < end; i++) {
      if (!isPlain(instructions[i]!)) return null;
      const test = accessTest(chunk, locator, along, i);
      if (test === null) return null;
      if (test !== always) tests.push(test);
    }
    const { op, guard } = instructions[end - 1]!;
    const ends = op.kind === "return" || op.kind === "exit";
    const to = op.kind === "branch" ? graph.blockAt(op.target) : ends ? graph.blocks.length : at + 1;
    const isTaken = guard === null || (leaves(at + 1) && !leaves(to));
    if (guard !== null && (ends || op.kind === "branch")) {
      const found = testOf(chunk, at, end - 1, (i) => hoisted.has(i));
      const predicate: Expr = { kind: "reg", ty: "pred", reg: guard.register };
      if (guard.collapse !== undefined || !isKnown(predicate, found, along)) return null;
      for (const i of found?.instructions ?? []) decided.add(i);
      const predicates = found?.predicates ?? new Map<number, Expr>();
      const holds = isTaken !== guard.negate;
      // Asked once beforehand: whether there is an answer does not hang on the number of lanes.
      if (everywhere(chunk, predicates, predicate, holds) === null) return null;
      tests.push((last) => everywhere(chunk, predicates, predicate, holds, last)!);
    }
    at = isTaken ? to : at + 1;
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

/** Whether a predicate is made of what goes on along the row. */
function isKnown(expr: Expr, test: BranchTest | null, along: (expr: Expr) => Along): boolean {
  const visit = (part: Expr): boolean => {
    if (part.ty !== "pred") return along(part) !== "other";
    if (part.kind === "reg") {
      const known = test?.predicates.get(part.reg);
      return known === undefined ? along(part) === "same" : visit(known);
    }
    return part.kind === "const" || (part.kind === "prim" && part.args.every(visit));
  };
  return visit(expr);
}

const always: RowTest = () => wasm.i32(1);

/** That all lanes of a row find what an instruction accesses; `always` where it accesses nothing, null where there is no test. */
function accessTest(chunk: Chunk, locator: Locator, along: (expr: Expr) => Along, instruction: number): RowTest | null {
  const { op } = chunk.analysis.code.instructions[instruction]!;
  if (op.kind !== "load" && op.kind !== "store") return always;
  const expected = locator.expected(instruction);
  if (expected === null) return null;
  const { target, group, isFirst } = expected;
  const { base } = group.address;
  const { offset, size, align } = group.stretch;
  const shape = chunk.analysis.shape(base);
  const isRun = shape.kind === "indexed" && shape.stride !== null;
  if (target.ahead === null || (target.reach.lane ?? 0) !== 0 || along(base) === "other") return null;
  if (!isRun && (shape.kind !== "uniform" || along(base) !== "same")) return null;
  const scale = isRun ? shape.scale : 0;
  const step = isRun ? shape.stride! : 0;
  if (Math.abs(step * scale) >= 2 ** 40 || (step * scale) % align !== 0 || scale < 0) return null;
  if (!isFirst) return always;
  const { from, bytes, align: ofReach = 1 } = target.reach;
  const start = plus(target.ahead, i64(offset));
  const fits = (lowest: Wasm, more: Wasm): Wasm => {
    const room = minus(minus(bytes, i64(size)), more);
    const aligned = isMultiple(low(ofReach % align === 0 ? lowest : plus(lowest, from)), align);
    return both(aligned, both(atLeast(room, i64(0)), below(lowest, plus(room, i64(1)))));
  };
  if (!isRun) return () => fits(start, i64(0));
  return (last) => {
    const value = chunk.value(base);
    if (value.kind !== "indexed" || value.index.kind !== "affine") throw new Error("the address is no run");
    const first = extended(value.index.base, value.signed);
    const way = times(last, Math.abs(step));
    const end = step > 0 ? plus(first, way) : minus(first, way);
    // Beyond the other end the index would begin again.
    const [least, most] = value.signed ? [-(2 ** 31), 2 ** 31 - 1] : [0, 2 ** 32 - 1];
    const counts = step > 0 ? atLeast(i64(most), end) : atLeast(end, i64(least));
    const lowest = plus(start, times(step > 0 ? first : end, scale));
    return both(counts, fits(lowest, times(way, scale)));
  };
}
