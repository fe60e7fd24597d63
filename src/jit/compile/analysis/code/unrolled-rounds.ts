import { registersWritten } from "../../../../ir/flow/accesses.ts";
import type { FlowBlock, FlowGraph } from "../../../../ir/flow/flow-graph.ts";
import type { Liveness } from "../../../../ir/flow/liveness.ts";
import type { Instruction, IrFunction } from "../../../../ir/index.ts";
import type { Expr } from "../../../../semantics/index.ts";
import { type Sum, type SymbolicLoad, SymbolicValues, type Values } from "./symbolic-values.ts";
import { isConditional, type UnrolledLoop } from "./unrolled-loops.ts";

/** Rounds of one loop that a round of the other may have. */
const unrollings: readonly number[] = [2, 4, 8, 16];

/** The most blocks before a loop whose values are followed. */
const maxBlocksBefore = 16;

/** The single loop in place of one. */
export interface SingleLoop {
  /** Whether there is another round: i < n. */
  readonly again: Expr;
  readonly bound: Expr;
  readonly step: number;
  /** Instructions that count the rounds that are left, which nobody needs to know any more. */
  readonly dropped: readonly number[];
}

/** A register that grows by the same in each single round. */
interface Step {
  readonly register: number;
  readonly start: Sum;
  /** With a sign. */
  readonly by: bigint;
}

/** A register of the unrolled loop holds what one of the single rounds does, or (with `offset`) so much more. */
interface Relation {
  readonly register: number;
  readonly single: number;
  readonly offset: Sum | null;
}

/** Proves that a loop of single rounds and an unrolled one are one loop. */
export class UnrolledRounds {
  readonly #instructions: readonly Instruction[];
  readonly #graph: FlowGraph;
  readonly #liveness: Liveness;
  readonly #loop: UnrolledLoop;
  readonly #values: SymbolicValues;
  /** What is known to hold where the loop begins. */
  readonly #facts = new Set<Sum>();

  constructor(ir: IrFunction, graph: FlowGraph, liveness: Liveness, loop: UnrolledLoop) {
    this.#instructions = ir.instructions;
    this.#graph = graph;
    this.#liveness = liveness;
    this.#loop = loop;
    this.#values = new SymbolicValues(ir.registers);
  }

  find(varying: ReadonlySet<number>): SingleLoop | null {
    const { before, single, unrolled } = this.#loop;
    const test = this.#conditionOf(unrolled);
    if (test?.kind !== "prim" || test.prim !== "i32.lt_s") return null;
    const [counted, bound] = test.args as [Expr, Expr];
    if (counted.kind !== "reg") return null;
    // Where all threads have as many rounds, four at once are better.
    if (![counted, bound].some((of) => of.kind === "reg" && varying.has(of.reg))) return null;
    const atBefore = this.#before(before);
    if (atBefore === null) return null;
    const atSingle = new Map(atBefore);
    if (!this.#followAll(this.#loop.beforeSingle, atSingle, [])) return null;
    const steps = this.#steps(single, atSingle);
    const counter = steps?.find(({ register }) => register === counted.reg);
    if (steps === null || counter === undefined || counter.by <= 0n || counter.by >= 1n << 20n) return null;
    const left = this.#counterOfSingle(atBefore, atSingle, steps);
    if (left === null || left.register === counter.register) return null;
    const limit = this.#invariant(bound, atSingle);
    if (limit === null) return null;
    if (!this.#facts.has(this.#values.prim("i32.lt_s", [counter.start, limit], 32))) return null;
    for (const times of unrollings) {
      if (!this.#counts(times, left.start, counter, limit, atBefore)) continue;
      if (!this.#isUnrolled({ times, counter, limit, steps, atBefore, atSingle, left: left.register })) return null;
      const again: Expr = { ...test, args: [{ kind: "reg", ty: "i32", reg: counter.register }, bound] };
      return { again, bound, step: Number(counter.by), dropped: this.#countingIn(single, left.register) };
    }
    return null;
  }

  #guardOf({ end }: FlowBlock): { readonly register: number; readonly negate: boolean } {
    return this.#instructions[end - 1]!.guard!;
  }

  /** The expression that decides the branch at the end of a block; null if the block does not compute it. */
  #conditionOf(block: FlowBlock): Expr | null {
    const { register, negate } = this.#guardOf(block);
    if (negate) return null;
    for (let i = block.end - 2; i >= block.start; i--) {
      const { op, dst } = this.#instructions[i]!;
      const at = dst.indexOf(register);
      if (at >= 0) return op.kind === "pure" && this.#staysFrom(i, block, op.values[at]!) ? op.values[at]! : null;
    }
    return null;
  }

  /** Whether what an expression reads is not written between an instruction and the end of its block. */
  #staysFrom(from: number, { end }: FlowBlock, expr: Expr): boolean {
    const read = expr.kind === "prim" ? expr.args.flatMap((e) => (e.kind === "reg" ? [e.reg] : [])) : [];
    for (let i = from + 1; i < end; i++) {
      if (registersWritten(this.#instructions[i]!).some((r) => read.includes(r))) return false;
    }
    return true;
  }

  /** What registers hold at the end of a block, by blocks before it that all threads pass which come there. */
  #before(last: FlowBlock): Values | null {
    const { blocks } = this.#graph;
    const chain = [last];
    while (chain.length < maxBlocksBefore) {
      const [first] = chain as [FlowBlock];
      const [only, ...others] = first.predecessors;
      if (only === undefined || others.length > 0 || first.index === 0 || only >= first.index) break;
      chain.unshift(blocks[only]!);
    }
    const values: Values = new Map();
    chain.forEach((block, n) => {
      for (let i = block.start; i < block.end; i++) this.#followAny(i, values);
      const next = chain[n + 1];
      if (next !== undefined) this.#noteDecision(block, next, values);
    });
    return values;
  }

  /** What a branch that leads to a block says about conditions. */
  #noteDecision(block: FlowBlock, next: FlowBlock, values: Values): void {
    const last = this.#instructions[block.end - 1]!;
    if (last.op.kind !== "branch" || !isConditional(last) || block.successors.length !== 2) return;
    const isTaken = this.#graph.blockAt(last.op.target) === next.index;
    this.#note(this.#values.in(values, last.guard!.register), isTaken !== last.guard!.negate);
  }

  /** Notes that a condition holds, or does not. */
  #note(condition: Sum, holds: boolean): void {
    if (holds) this.#facts.add(condition);
    const made = this.#values.madeBy(condition);
    if (made === null) return;
    const [a, b] = made.args as [Sum, Sum];
    const opposite: Readonly<Record<string, readonly [string, Sum, Sum]>> = {
      "i32.le_s": ["i32.lt_s", b, a],
      "i32.ge_s": ["i32.lt_s", a, b],
    };
    if (holds) return;
    const other = opposite[made.prim];
    if (other !== undefined) this.#facts.add(this.#values.prim(other[0], [other[1], other[2]], 32));
    // Neither of two conditions holds.
    if (made.prim === "pred.or") for (const each of made.args) this.#note(each, false);
  }

  /** Follows an instruction of any kind: of what it writes nothing may be known. */
  #followAny(i: number, values: Values): void {
    const instruction = this.#instructions[i]!;
    if (instruction.op.kind === "pure" && this.#values.follow(instruction, values, [])) return;
    for (const r of registersWritten(instruction)) values.set(r, this.#unknown(`${i}:${r}`, r));
  }

  #unknown(name: string, register: number): Sum {
    return this.#values.named(name, this.#values.widthOf(register));
  }

  /** Follows a block but for its branch; false if it does more than compute and load. */
  #followAll(block: FlowBlock | null, values: Values, loads: SymbolicLoad[]): boolean {
    if (block === null) return true;
    for (let i = block.start; i < block.end; i++) {
      const instruction = this.#instructions[i]!;
      if (i === block.end - 1 && instruction.op.kind === "branch") continue;
      if (!this.#values.follow(instruction, values, loads)) return false;
    }
    return loads.length === 0 || block === this.#loop.single || block === this.#loop.unrolled;
  }

  #writtenIn(...blocks: readonly (FlowBlock | null)[]): ReadonlySet<number> {
    const written = new Set<number>();
    for (const block of blocks) {
      for (let i = block?.start ?? 0; i < (block?.end ?? 0); i++) {
        for (const r of registersWritten(this.#instructions[i]!)) written.add(r);
      }
    }
    return written;
  }

  /** What registers hold where a single round begins: those that it writes are whatever they are. */
  #inSingle(atSingle: Values): Values {
    const values = new Map(atSingle);
    for (const r of this.#writtenIn(this.#loop.single)) values.set(r, this.#unknown(`round:${r}`, r));
    return values;
  }

  /** The registers that a single round increases by a constant. */
  #steps(single: FlowBlock, atSingle: Values): readonly Step[] | null {
    const begin = this.#inSingle(atSingle);
    const end = new Map(begin);
    if (!this.#followAll(single, end, [])) return null;
    return [...this.#writtenIn(single)].flatMap((register) => {
      const { parts, constant, bits } = this.#values.minus(end.get(register)!, begin.get(register)!);
      if (parts.size !== 0 || constant === 0n) return [];
      return [{ register, start: this.#values.in(atSingle, register), by: BigInt.asIntN(bits, constant) }];
    });
  }

  /** The register that counts down the single rounds, from what is compared with 0 before them. */
  #counterOfSingle(atBefore: Values, atSingle: Values, steps: readonly Step[]): Step | null {
    const { before, single } = this.#loop;
    const guard = this.#guardOf(single);
    const begin = this.#inSingle(atSingle);
    const end = new Map(begin);
    if (guard.negate || !this.#followAll(single, end, [])) return null;
    const zero = this.#values.constant(0n, 32);
    const test = this.#values.in(end, guard.register);
    const counts = ({ register }: Step): boolean =>
      test === this.#values.prim("i32.ne", [end.get(register)!, zero], 32);
    const step = steps.find((each) => each.by === -1n && counts(each));
    if (step === undefined || step.start !== this.#values.in(atBefore, step.register)) return null;
    const { register, negate } = this.#guardOf(before);
    const none = this.#values.prim("i32.eq", [step.start, zero], 32);
    return !negate && this.#values.in(atBefore, register) === none ? step : null;
  }

  /** A value that no block of the loop changes; null for others. */
  #invariant(expr: Expr, values: Values): Sum | null {
    const { beforeSingle, single, between, beforeUnrolled, unrolled } = this.#loop;
    if (expr.kind === "const") return this.#values.of(expr, values);
    if (expr.kind !== "reg") return null;
    const written = this.#writtenIn(beforeSingle, single, between, beforeUnrolled, unrolled);
    return written.has(expr.reg) ? null : this.#values.in(values, expr.reg);
  }

  /**
   * Whether `left` single rounds, and whether others follow, are what remains of all rounds, as they were counted
   * before: with i < n, and d = n - i as a number without a sign, there are ceil(d / s) rounds, which is
   * floor((d - 1) / s) + 1. Compilers also write max(n, i + s) - i for d, which gives as many: it is the greater of d
   * and s, or d where i + s overflows.
   */
  #counts(times: number, left: Sum, { start, by }: Step, limit: Sum, atBefore: Values): boolean {
    const v = this.#values;
    const number = (n: bigint): Sum => v.constant(n, 32);
    const most = v.max(limit, v.plus(start, number(by)));
    const distances = [v.minus(limit, start), v.minus(most, start)];
    const lasts = distances.map((d) => v.minus(d, number(1n)));
    const shift = BigInt(by.toString(2).length - 1);
    if (by !== 1n << shift) return false;
    const totals =
      by === 1n ? distances : lasts.map((x) => v.plus(v.prim("i32.shr_u", [x, number(shift)], 32), number(1n)));
    const mask = number(BigInt(times - 1));
    if (!totals.some((total) => left === v.prim("i32.and", [total, mask], 32))) return false;
    // Whether there are fewer than `times` rounds.
    const at = new Map(atBefore);
    for (const r of this.#writtenIn(this.#loop.beforeSingle, this.#loop.single))
      at.set(r, this.#unknown(`past:${r}`, r));
    const { between } = this.#loop;
    for (let i = between.start; i < between.end - 1; i++) this.#followAny(i, at);
    const { register, negate } = this.#guardOf(between);
    const fewer = lasts.map((x) => v.prim("i32.lt_u", [x, number(by * BigInt(times - 1))], 32));
    // The distance is 1 to times - 1 exactly if its opposite is beyond that of `times`.
    if (by === 1n) {
      for (const d of distances) fewer.push(v.prim("i32.lt_u", [number(BigInt(-times)), v.minus(number(0n), d)], 32));
    }
    return !negate && fewer.includes(v.in(at, register));
  }

  /** Whether a round of the unrolled loop is so many single ones, from the first on, and leaves what these leave. */
  #isUnrolled({
    times,
    counter,
    limit,
    steps,
    atBefore,
    atSingle,
    left,
  }: {
    readonly times: number;
    readonly counter: Step;
    readonly limit: Sum;
    readonly steps: readonly Step[];
    readonly atBefore: Values;
    readonly atSingle: Values;
    readonly left: number;
  }): boolean {
    const v = this.#values;
    const { beforeSingle, single, between, beforeUnrolled, unrolled, after } = this.#loop;
    const [inSingle, inUnrolled] = [this.#writtenIn(single), this.#writtenIn(unrolled)];
    const needed = this.#liveness.liveIn(between.index);
    // How many single rounds come before; i has not come to n then, so that it has not overflowed.
    const rounds = v.named("rounds before");
    v.extendable = { start: counter.start, rounds, step: counter.by };
    const begin = this.#inSingle(atSingle);
    // Values of an earlier time have names of their own, as what the unrolled loop does not change stays as it is.
    const past = (r: number): Sum => this.#unknown(`past:${r}`, r);
    const atBetween = new Map(atBefore);
    for (const r of this.#writtenIn(beforeSingle, single)) {
      const isSame = v.in(atBefore, r) === v.in(atSingle, r);
      // Where no single round comes before, nothing is computed for them.
      if (needed.has(r) && !isSame) return false;
      const step = isSame ? steps.find(({ register }) => register === r) : undefined;
      if (step !== undefined) atBetween.set(r, v.plus(step.start, rounds, step.by));
      else atBetween.set(r, isSame && inSingle.has(r) ? past(r) : this.#unknown(`stale:${r}`, r));
    }
    for (const block of [between, beforeUnrolled]) if (!this.#followAll(block, atBetween, [])) return false;
    // In terms of what single rounds have in registers.
    const inRounds = new Map(atBetween);
    const relations: Relation[] = [];
    for (const register of inUnrolled) {
      const value = v.in(atBetween, register);
      const isCarried = this.#liveness.liveIn(unrolled.index).has(register);
      const same = isCarried ? [...inSingle].find((r) => value === past(r)) : undefined;
      const relation = same === undefined ? this.#relation(value, steps, rounds, left) : { single: same, offset: null };
      if (!isCarried || relation === null) inRounds.set(register, this.#unknown(`unrolled:${register}`, register));
      else relations.push({ register, ...relation });
    }
    const inTermsOf = (values: Values, { single: r, offset }: Relation): Sum =>
      offset === null ? v.in(values, r) : v.plus(v.in(values, r), offset);
    for (const relation of relations) inRounds.set(relation.register, inTermsOf(begin, relation));
    const [many, one]: [SymbolicLoad[], SymbolicLoad[]] = [[], []];
    const atEnd = new Map(begin);
    for (let n = 0; n < times; n++) if (!this.#followAll(single, atEnd, many)) return false;
    if (!this.#followAll(unrolled, inRounds, one)) return false;
    const isSame = many.length === one.length && many.every((l, i) => isSameLoad(l, one[i]!));
    if (!isSame) return false;
    // One by one, i comes to n exactly.
    if (counter.by > 1n && !this.#leaveMemory(many, begin, steps, counter.by)) return false;
    const { register } = this.#guardOf(unrolled);
    if (v.in(inRounds, register) !== v.prim("i32.lt_s", [v.in(atEnd, counter.register), limit], 32)) return false;
    // The next round begins in the same terms.
    if (relations.some((each) => v.in(inRounds, each.register) !== inTermsOf(atEnd, each))) return false;
    const live = this.#liveness.liveIn(after);
    // Threads with a few rounds pass this block, which is gone.
    if ([...this.#writtenIn(between)].some((r) => live.has(r))) return false;
    const written = this.#writtenIn(beforeSingle, single, between, beforeUnrolled, unrolled);
    for (const r of written) {
      if (live.has(r) && (r === left || !inSingle.has(r) || v.in(inRounds, r) !== v.in(atEnd, r))) return false;
    }
    return true;
  }

  /** The register of single rounds from which a value differs by a constant. */
  #relation(value: Sum, steps: readonly Step[], rounds: Sum, left: number): Omit<Relation, "register"> | null {
    const v = this.#values;
    for (const { register, start, by } of steps) {
      if (register === left || start.bits !== value.bits) continue;
      const offset = v.minus(value, v.plus(start, rounds, by));
      if (offset.parts.size === 0) return { single: register, offset };
    }
    return null;
  }

  /** Whether an address leaves all memory before the rounds are counted once more from the least number on. */
  #leaveMemory(loads: readonly SymbolicLoad[], begin: Values, steps: readonly Step[], by: bigint): boolean {
    const v = this.#values;
    return steps.some(({ register, start, by: bytes }) => {
      const growth = bytes < 0n ? -bytes : bytes;
      if (start.bits !== 64 || growth < 2n * by || growth >= 1n << 31n) return false;
      return loads.some(({ address, isFar }) => isFar && v.minus(address, begin.get(register)!).parts.size === 0);
    });
  }

  /** The instructions that count down a register, and compare it, for nobody else. */
  #countingIn(single: FlowBlock, left: number): readonly number[] {
    const found: number[] = [];
    for (let i = single.start; i < single.end - 1; i++) {
      const written = registersWritten(this.#instructions[i]!);
      if (written.length === 1 && written[0] === left) found.push(i);
    }
    return found;
  }
}

const isSameLoad = (a: SymbolicLoad, b: SymbolicLoad): boolean => a.address === b.address && a.what === b.what;
