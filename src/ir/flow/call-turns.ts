import { everyLeaf, type Expr, ExprResults, fold, isConst, kit, rewriteLeaves } from "../../semantics/index.ts";
import type { CallOp } from "../calls.ts";
import type { Instruction, IrFunction } from "../index.ts";
import { laneNumber } from "./lane-tables.ts";
import { flowGraphOf } from "./flow-graph.ts";
import { livenessOf, resultsOf } from "./liveness.ts";
import { operandsOf, readsOf, writesOf } from "./accesses.ts";

/*
 * Loops in which lanes take turns to call functions by address. A call of vISA goes to one address, so that compilers
 * write, where each lane has its own:
 *
 *     left = the lanes that are here
 *     do {
 *       target = the address of the first lane in `left`
 *       matches = target == own address
 *       if (matches) call target
 *       left = left & ~(the lanes in which it matches)
 *     } while (left has this lane)
 *
 * Each lane makes one call, with its own address, in the order of the first lanes of each address: which is what a call
 * by address does where each lane has an address of its own.
 */

/** The parts of such a loop: indices of instructions, and registers. */
interface Turns {
  /** The first instruction, the branch round the call, where that leads to, and the branch back. */
  readonly head: number;
  readonly skip: number;
  readonly tail: number;
  readonly latch: number;
  /** The predicate of lanes whose turn it is, the address whose turn it is, and the lane's own. */
  readonly matches: number;
  readonly target: number;
  readonly own: number;
  /** What the lane's own address is computed with. */
  readonly ownIndex: number;
}

/** A routine's work-item form with calls in place of such loops; the number of instructions stays the same. */
export function withoutCallTurns(ir: IrFunction, width: number): IrFunction {
  const { instructions } = ir;
  const loops = instructions.flatMap(({ op }, latch) => {
    const found = op.kind === "branch" && op.target < latch ? new TurnsFinder(ir, width, latch).found() : null;
    return found === null ? [] : [found];
  });
  if (loops.length === 0) return ir;
  const code = [...instructions];
  for (const { head, skip, tail, latch, matches, target, own, ownIndex } of loops) {
    for (let i = head; i < skip; i++) if (i !== ownIndex) code[i] = nothing(code[i]!);
    code[skip - 1] = assigned(code[skip - 1]!, matches, kit.eq(kit.i32(0), kit.i32(0)));
    code[skip] = assigned(code[skip]!, target, { kind: "reg", ty: "i32", reg: own });
    for (let i = tail; i <= latch; i++) code[i] = nothing(code[i]!);
  }
  return { ...ir, instructions: code };
}

const nothing = ({ span, location }: Instruction): Instruction => ({
  ...{ span, location, guard: null, dst: [], undefinedCases: [] },
  op: { kind: "nothing" },
});

const assigned = (instruction: Instruction, register: number, value: Expr): Instruction => ({
  ...nothing(instruction),
  dst: [register],
  op: { kind: "pure", values: [value] },
});

/** Recognizes one such loop by the branch back to its beginning. */
class TurnsFinder {
  readonly #ir: IrFunction;
  readonly #width: number;
  readonly #head: number;
  readonly #latch: number;

  constructor(ir: IrFunction, width: number, latch: number) {
    const { op } = ir.instructions[latch]!;
    this.#ir = ir;
    this.#width = width;
    this.#latch = latch;
    this.#head = op.kind === "branch" ? op.target : latch;
  }

  found(): Turns | null {
    const [head, latch] = [this.#head, this.#latch];
    const { instructions } = this.#ir;
    // There is one at the end of the loop.
    let skip = head;
    while (instructions[skip]!.op.kind !== "branch") skip++;
    const { op, guard } = instructions[skip]!;
    if (op.kind !== "branch" || guard === null || !guard.negate || guard.collapse !== undefined) return null;
    const tail = op.target;
    // One instruction for each that the call needs afterwards; loops that are larger are something else.
    if (skip - head < 2 || skip - head > 64 || tail <= skip || tail > latch || latch - tail > 64) return null;
    if (!this.#isClosed(skip, tail)) return null;
    const call = this.#callIn(skip + 1, tail);
    if (call?.target.kind !== "indirect" || call.target.address.kind !== "reg") return null;
    const target = call.target.address.reg;
    const matches = guard.register;
    const values = this.#valuesIn(head, skip);
    const shuffle = values === null ? null : this.#shuffleIn(head, skip);
    if (values === null || shuffle === null || !this.#isCompared(skip, matches, target, shuffle.own)) return null;
    const left = this.#leftLanes(tail, matches);
    if (left === null || !this.#isFirst(values, left, target, shuffle)) return null;
    const ownIndex = this.#ownIndex(shuffle.own, skip);
    if (ownIndex === null || !this.#beginsWithAll(left)) return null;
    const turns = { head, skip, tail, latch, matches, target, own: shuffle.own, ownIndex };
    return this.#staysInside(turns) ? turns : null;
  }

  /** Whether no other branch leads into the loop, or out of it. */
  #isClosed(skip: number, tail: number): boolean {
    return (
      this.#ir.instructions.every(({ op }, i) => {
        if (op.kind !== "branch" || i === skip || i === this.#latch) return true;
        if (i > this.#head && i < this.#latch) return false;
        return op.target < this.#head || op.target > this.#latch;
      }) && tail > skip
    );
  }

  /** The one call among instructions that else only compute. */
  #callIn(from: number, to: number): CallOp | null {
    let call: CallOp | null = null;
    for (const { op, guard, lanes } of this.#ir.instructions.slice(from, to)) {
      if (lanes !== undefined || operandsOf(op).some(readsOthers)) return null;
      if (op.kind === "pure" || op.kind === "nothing") continue;
      if (op.kind !== "call" || guard !== null || call !== null) return null;
      call = op;
    }
    return call;
  }

  /** What registers hold, as expressions over what they held at the start; null if not all is computed. */
  #valuesIn(from: number, to: number): ReadonlyMap<number, Expr> | null {
    const values = new Map<number, Expr>();
    for (const { op, dst, guard, lanes } of this.#ir.instructions.slice(from, to)) {
      if (op.kind === "nothing" || (op.kind === "warp" && op.warp.op === "shfl")) {
        for (const to of dst) if (typeof to === "number") values.delete(to);
        continue;
      }
      const [to] = dst;
      if (op.kind !== "pure" || guard !== null || dst.length !== 1 || typeof to !== "number") return null;
      const value = substituted(op.values[0]!, values);
      // A value for all lanes is what each lane computes, if it computes it itself: only predicates depend on it.
      if (lanes !== undefined && this.#ir.registers[to]!.class !== "pred") return null;
      values.set(to, value);
    }
    return values;
  }

  /** The only operation of the thread there: each lane reads the address of one lane. */
  #shuffleIn(from: number, to: number) {
    const places = this.#ir.instructions.slice(from, to).flatMap(({ op }, i) => (op.kind === "warp" ? [from + i] : []));
    const [at] = places;
    if (at === undefined || places.length > 1) return null;
    const { op, dst, guard } = this.#ir.instructions[at]!;
    if (op.kind !== "warp" || op.warp.op !== "shfl" || op.warp.mode !== "idx" || op.mask !== null) return null;
    const [value, index, control] = op.warp.operands;
    const [read, isValid = null] = dst;
    if (guard !== null || typeof read !== "number" || isValid !== null || !isConst(control, 31)) return null;
    const before = this.#valuesIn(from, at);
    if (before === null || value?.kind !== "reg" || index === undefined) return null;
    return { own: value.reg, read, index: substituted(index, before) };
  }

  /** Whether the last thing before the branch is the comparison of both addresses. */
  #isCompared(skip: number, matches: number, target: number, own: number): boolean {
    const { op, dst, guard, lanes } = this.#ir.instructions[skip - 1]!;
    if (op.kind !== "pure" || dst[0] !== matches || guard !== null || lanes !== undefined) return false;
    const [value] = op.values;
    if (value?.kind !== "prim" || value.prim !== "i32.eq") return false;
    const compared = value.args.map((arg) => (arg.kind === "reg" ? arg.reg : null));
    return compared.includes(target) && compared.includes(own) && target !== own;
  }

  /**
   * The register of the lanes that are left, from which the end of the loop takes those whose turn it was, and by which
   * lanes stay; null if it does anything else.
   */
  #leftLanes(tail: number, matches: number): number | null {
    const values = this.#valuesIn(tail, this.#latch);
    const { guard } = this.#ir.instructions[this.#latch]!;
    const isShuffled = this.#ir.instructions.slice(tail, this.#latch).some(({ op }) => op.kind === "warp");
    if (values === null || isShuffled || guard === null || guard.negate || guard.collapse !== undefined) return null;
    const bits = ownBitOf(values.get(guard.register), this.#width);
    if (bits === null) return null;
    const [left] = [...values].filter(([, value]) => value === bits).map(([r]) => r);
    if (left === undefined || !isBitwise(bits)) return null;
    const all = this.#width === 32 ? -1 : 2 ** this.#width - 1;
    const isRight = [
      [0, 0],
      [0, all],
      [all, 0],
      [all, all],
    ].every(([before, now]) => {
      let isKnown = true;
      const result = fold(bits, (leaf) => {
        if (leaf.kind === "reg" && leaf.reg === left) return before!;
        if (leaf.kind === "lane-word" && leaf.reg === matches) return now!;
        isKnown = false;
        return 0;
      });
      return isKnown && (Number(result) | 0) === (before! & ~now!);
    });
    return isRight ? left : null;
  }

  /** Whether the address whose turn it is is that of the first lane that is left, whichever that is. */
  #isFirst(
    values: ReadonlyMap<number, Expr>,
    left: number,
    target: number,
    { read, index }: { readonly read: number; readonly index: Expr },
  ): boolean {
    const value = values.get(target);
    if (value === undefined || values.has(left) || !onlyFirst(value, left) || !onlyFirst(index, left)) return false;
    const isKnown = (expr: Expr, result: number | null): boolean =>
      everyLeaf(expr, (leaf) => leaf.kind === "const" || (leaf.kind === "reg" && [left, result].includes(leaf.reg)));
    if (!isKnown(value, read) || !isKnown(index, null)) return false;
    const address = 0x1234_5678;
    return Array.from({ length: this.#width }, (_, lane) => lane).every((lane) => {
      const bits = (1 << lane) | 0;
      const leaf = (l: Expr): number => (l.kind === "reg" && l.reg === left ? bits : address);
      return fold(index, leaf) === lane && fold(value, leaf) === address;
    });
  }

  /** Where the lane's own address is computed, of what does not change in the loop. */
  #ownIndex(own: number, skip: number): number | null {
    const { instructions } = this.#ir;
    const writers = this.#writersIn(this.#head, this.#latch, own);
    const [at] = writers;
    if (at === undefined || writers.length > 1 || at >= skip) return null;
    let isSame = instructions[at]!.op.kind === "pure" && instructions[at]!.lanes === undefined;
    readsOf(instructions[at]!, {
      register: (r) => {
        isSame &&= this.#writersIn(this.#head, this.#latch, r).length === 0;
      },
    });
    const shuffle = instructions.findIndex(({ op }, i) => i >= this.#head && op.kind === "warp");
    return isSame && at < shuffle ? at : null;
  }

  #writersIn(from: number, to: number, register: number): readonly number[] {
    const found: number[] = [];
    for (let i = from; i < to; i++) {
      writesOf(this.#ir.instructions[i]!, (r) => {
        if (r === register) found.push(i);
      });
    }
    return found;
  }

  /** Whether the lanes that are left at first are those that come to the loop. */
  #beginsWithAll(left: number): boolean {
    const { instructions } = this.#ir;
    const targets = new Set(instructions.flatMap(({ op }) => (op.kind === "branch" ? [op.target] : [])));
    let word: number | null = null;
    let isSet = false;
    // Backwards, within one block: `left` is a word of a predicate that was made true where lanes are, false elsewhere.
    for (let i = this.#head - 1; i >= 0; i--) {
      const { op, dst, guard, lanes } = instructions[i]!;
      if (op.kind !== "pure" && op.kind !== "nothing") return false;
      const value = op.kind === "pure" ? op.values[0]! : null;
      if (word === null && dst.includes(left)) {
        word = dst.length === 1 && guard === null && lanes === undefined ? this.#wholeWord(value!) : null;
        if (word === null) return false;
      } else if (word !== null && dst.includes(word)) {
        if (dst.length > 1 || guard !== null || value === null) return false;
        if (isSet) return lanes?.noMask === true && lanes.first === 0 && lanes.count >= this.#width && isNever(value);
        if (lanes !== undefined || !isAlways(value)) return false;
        isSet = true;
      }
      if (targets.has(i)) return false;
    }
    return false;
  }

  /** The predicate of which an expression is the bits of all lanes; null if it is none. */
  #wholeWord(value: Expr): number | null {
    const mask = this.#width === 32 ? -1 : 2 ** this.#width - 1;
    const [word, bits] = value.kind === "prim" && value.prim === "i32.and" ? value.args : [value, kit.i32(-1)];
    const isWhole = isConst(bits, mask) && word?.kind === "lane-word";
    return isWhole ? word.reg : null;
  }

  /**
   * Whether what the loop computes to give lanes their turns is used by nothing else, and what the call computes not by
   * the turns of others.
   */
  #staysInside({ head, skip, tail, latch, matches, target, own }: Turns): boolean {
    const { instructions, registers } = this.#ir;
    const written = (from: number, to: number): ReadonlySet<number> => {
      const found = new Set<number>();
      for (let i = from; i < to; i++) writesOf(instructions[i]!, (r) => found.add(r));
      return found;
    };
    const read = (from: number, to: number): ReadonlySet<number> => {
      const found = new Set<number>();
      for (let i = from; i < to; i++) readsOf(instructions[i]!, { register: (r) => found.add(r) });
      return found;
    };
    const turns = new Set([...written(head, skip), ...written(tail, latch)]);
    const calls = written(skip + 1, tail);
    const reads = [...read(head, skip), ...read(tail, latch + 1)];
    if (reads.some((r) => calls.has(r)) || [...calls].some((r) => turns.has(r))) return false;
    const kept = new Set([target, own]);
    if ([...read(skip + 1, tail)].some((r) => turns.has(r) && !kept.has(r) && r !== matches)) return false;
    const graph = flowGraphOf(instructions);
    const after = graph.blocks.find(({ start }) => start === latch + 1);
    if (after === undefined) return false;
    const live = livenessOf({ instructions, registers }, graph, resultsOf(this.#ir)).liveIn(after.index);
    const outside = new Set([...read(0, head), ...read(latch + 1, instructions.length)]);
    let isUsed = false;
    live.forEach((r) => {
      // What lanes read of each other counts as needed everywhere.
      isUsed ||= turns.has(r) && !kept.has(r) && outside.has(r);
    });
    return !isUsed;
  }
}

/** The same expression with what is known of registers in place of these. */
const substituted = (expr: Expr, values: ReadonlyMap<number, Expr>): Expr =>
  rewriteLeaves(expr, (leaf) => (leaf.kind === "reg" ? (values.get(leaf.reg) ?? leaf) : leaf), new ExprResults());

const readsOthers = (expr: Expr): boolean =>
  expr.kind === "lane-word" || (expr.kind === "prim" && expr.args.some(readsOthers));

/** The word of which a predicate is the lane's own bit; null if it is something else. */
function ownBitOf(expr: Expr | undefined, width: number): Expr | null {
  const isPrim = (e: Expr | undefined, prim: string): e is Extract<Expr, { kind: "prim" }> =>
    e?.kind === "prim" && e.prim === prim;
  if (!isPrim(expr, "i32.ne") || !isConst(expr.args[1], 0)) return null;
  const [bit] = expr.args;
  if (!isPrim(bit, "i32.and") || !isConst(bit.args[1], 1)) return null;
  const [shifted] = bit.args;
  if (!isPrim(shifted, "i32.shr_u") || !isLaneNumber(shifted.args[1], width)) return null;
  return shifted.args[0]!;
}

function isLaneNumber(expr: Expr | undefined, width: number): boolean {
  const lane = laneNumber(width);
  if (expr?.kind !== "prim" || lane.kind !== "prim" || expr.prim !== lane.prim) return false;
  const [id, mask] = expr.args;
  return id?.kind === "special" && id.name === "laneid" && isConst(mask, width - 1);
}

/** Whether each bit of a result depends on that bit of what it is computed from alone. */
const isBitwise = (expr: Expr): boolean =>
  expr.kind !== "prim" || (/^i32\.(and|or|xor)$/.test(expr.prim) && expr.args.every(isBitwise));

/** Whether an expression depends on nothing of a word but which of its bits is the first, if there is any. */
function onlyFirst(expr: Expr, word: number): boolean {
  const isWord = (e: Expr | undefined): boolean => e?.kind === "reg" && e.reg === word;
  if (isWord(expr)) return false;
  if (expr.kind !== "prim") return true;
  const [a, b] = expr.args;
  if (expr.prim === "i32.eq" && isWord(a) && isConst(b, 0)) return true;
  const isNegated = b?.kind === "prim" && b.prim === "i32.sub" && isConst(b.args[0], 0) && isWord(b.args[1]);
  if (expr.prim === "i32.and" && isWord(a) && isNegated) return true;
  return expr.args.every((arg) => onlyFirst(arg, word));
}

/** Whether a predicate is true whatever registers hold: a number is compared with itself. */
function isAlways(expr: Expr): boolean {
  if (expr.kind !== "prim" || expr.prim !== "i32.eq") return expr.kind === "const" && expr.value === true;
  const [a, b] = expr.args;
  return a?.kind === "reg" && b?.kind === "reg" && a.reg === b.reg;
}

/** Whether a predicate is false in all lanes: a bit of 0. */
const isNever = (expr: Expr): boolean => {
  const isKnown = everyLeaf(expr, (leaf) => leaf.kind === "const" || leaf.kind === "special");
  const bits = [16, 32].map((width) => ownBitOf(expr, width)).find((word) => word !== null);
  return isKnown && (isConst(bits ?? undefined, 0) || (expr.kind === "const" && expr.value === false));
};
