import { everyLeaf, type Expr, mapChanged, type Ty } from "../../../../semantics/index.ts";
import { isLinear } from "../../../../ir/uniformity/shape.ts";
import { writesOf } from "../../../../ir/flow/accesses.ts";
import type { Instruction } from "../../../../ir/index.ts";
import type { RestartablePrefix } from "./restartable-prefix.ts";
import type { Invariants } from "../values/invariant-code.ts";
import { foundOnce } from "./noted.ts";
import { lifetimeOf } from "../values/special-registers.ts";
import type { UniformityAnalysis } from "../values/uniformity.ts";

type Prim = Extract<Expr, { kind: "prim" }>;

/**
 * A comparison of what grows from lane to lane with what all lanes share. Where it ends as it should at both ends of a
 * chunk, and the numbers do not wrap around between them, it does so in all lanes.
 */
export interface EndTest {
  readonly growing: Expr;
  readonly bound: Expr;
  /** Whether the growing value is less than the bound, or at most it, or greater, or at least it; or another. */
  readonly order: "lt" | "le" | "gt" | "ge" | "ne";
  readonly signed: boolean;
}

/** An address as it is where nothing is clamped in any lane, and the tests that say so. */
export interface StraightAddress {
  readonly address: Expr;
  readonly tests: readonly EndTest[];
}

/** Where an address is asked for: before an access. `isReady`: further before it, which values are there already. */
export interface AccessPlace {
  readonly instruction: number;
  readonly isReady?: RestartablePrefix["isReady"];
}

/** Comparisons that are as wanted, with the growing value on their left side, by operation and side of that value. */
const orders = {
  lt: { left: "lt", right: "gt" },
  le: { left: "le", right: "ge" },
} as const;

const opposite = { lt: "ge", le: "gt", gt: "le", ge: "lt" } as const;

/** With larger steps values could wrap around more than once within a chunk. */
const maxStride = 2 ** 20;

/** Deeper chains of instructions are left as they are. */
const maxDepth = 12;

/**
 * Finds what clamped addresses are where nothing is clamped: sums of what all lanes share and what grows from lane to
 * lane. A choice between the two, by a comparison of the two, is taken to fall on what grows, as it does in the middle
 * of a picture.
 *
 * Why tests at the ends are enough:
 *
 * 1. What is compared grows by the same step from lane to lane, modulo 2^32, and by less than 2^25 over a chunk. If the
 *    last lane's number is not below the first one's (or not above, where the step is negative), as numbers of the
 *    comparison's sign, none wraps around between them. Then the numbers of all lanes lie between those of the ends,
 *    and what holds of both holds of all.
 * 2. So each choice falls on the same side in all lanes, and in each of them the address is the same sum. This is the
 *    address in the lanes that are active; what it would be in others does not matter.
 * 3. The sum is computed where the memory is accessed, from what was computed before: each of its leaves must be there
 *    now what it was to the instruction that read it. Constants and numbers of threads and blocks always are; clocks
 *    are not. A register is, if nothing has written it since that instruction, in the same block; or if all
 *    instructions followed back are the only ones that write their registers, and all registers are written before
 *    they are read. Then one that is computed from others comes after these on every way, and again after each time
 *    that they are written anew.
 * 4. Code must keep the register for the access, which does not read it. Only some hold their values wherever they are
 *    read: those that are computed once for the grid or a block, and those that are known while code is written. Of
 *    others, invariants of a chunk too, those alone are there after a barrier that the code up to the next one touches:
 *    the block itself must do so. What is not invariant must be live besides, so that its local is not another's, and
 *    writes in some lanes keep it in the others.
 *
 * Registers for which this is not known are followed back to what they were computed from.
 */
export class StraightAddresses {
  readonly #analysis: UniformityAnalysis;
  readonly #lasting: LastingRegisters;
  /** By instruction, what has been found. */
  readonly #known = new Map<number, StraightAddress | null>();
  /** By register that one instruction writes, in all lanes, before it is read: that instruction. */
  #single: ReadonlyMap<number, number> | null = null;

  /** `invariants`: null in a function that a kernel calls. */
  constructor(analysis: UniformityAnalysis, invariants: Invariants | null) {
    this.#analysis = analysis;
    this.#lasting = lastingIn(analysis, invariants);
  }

  /** What an address is at a place; null where that is not known, or where lanes are not so many `bytes` apart. */
  of(address: Expr, { instruction, isReady }: AccessPlace, bytes: number): StraightAddress | null {
    const found = foundOnce(this.#known, instruction, () => this.#find(address, instruction, bytes));
    if (found === null || isReady === undefined) return found;
    const isThere = (leaf: Expr): boolean => leaf.kind !== "reg" || isReady(leaf, instruction);
    const read = [found.address, ...found.tests.flatMap(({ growing, bound }) => [growing, bound])];
    return read.every((expr) => everyLeaf(expr, isThere)) ? found : null;
  }

  #find(expr: Expr, instruction: number, bytes: number): StraightAddress | null {
    if (this.#analysis.code.ir.file !== undefined) return null;
    const tests: EndTest[] = [];
    const address = new Search(this.#analysis, this.#lasting, this.#singleWrites(), instruction, tests).of(expr);
    if (address === null || tests.length === 0) return null;
    const shape = this.#analysis.shape(address);
    const distance =
      shape.kind === "indexed" ? shape.scale * shape.stride! : shape.kind === "affine" ? shape.stride : 0;
    return distance === bytes ? { address, tests } : null;
  }

  #singleWrites(): ReadonlyMap<number, number> {
    if (this.#single !== null) return this.#single;
    const { instructions, writes, liveness } = this.#analysis.code;
    const readFirst = liveness.liveIn(0);
    const found = new Map<number, number>();
    instructions.forEach((instruction, i) => {
      if (isPlain(instruction))
        writesOf(instruction, (r) => {
          if (writes[r] === 1 && !readFirst.has(r) && !liveness.acrossLanes.has(r)) found.set(r, i);
        });
    });
    return (this.#single = found);
  }
}

/** Registers that are written before all else that a kernel does. */
interface LastingRegisters {
  /** Those that hold their values wherever they are read. */
  readonly everywhere: ReadonlySet<number>;
  /** Those that a chunk computes where it begins, or resumes, if it needs them. */
  readonly ofChunk: ReadonlySet<number>;
}

function lastingIn({ code }: UniformityAnalysis, invariants: Invariants | null): LastingRegisters {
  if (invariants === null) return { everywhere: new Set(), ofChunk: new Set() };
  const { grid, block, chunk, known } = invariants;
  const writtenBy = (instructions: readonly number[]): readonly number[] =>
    instructions.flatMap((i) => code.instructions[i]!.dst.filter((to) => typeof to === "number"));
  return {
    everywhere: new Set([...writtenBy(grid), ...writtenBy(block), ...known.values.keys()]),
    ofChunk: new Set(writtenBy(chunk)),
  };
}

/** Whether an instruction computes values in all lanes that come to it. */
const isPlain = ({ op, guard, lanes }: Instruction): boolean =>
  op.kind === "pure" && guard === null && lanes === undefined;

class Search {
  readonly #analysis: UniformityAnalysis;
  readonly #lasting: LastingRegisters;
  readonly #single: ReadonlyMap<number, number>;
  readonly #at: number;
  readonly #start: number;
  readonly #tests: EndTest[];
  readonly #touched: ReadonlySet<number>;
  readonly #isLive: (register: number) => boolean;
  #depth = 0;

  constructor(
    analysis: UniformityAnalysis,
    lasting: LastingRegisters,
    single: ReadonlyMap<number, number>,
    at: number,
    tests: EndTest[],
  ) {
    const { graph, liveness } = analysis.code;
    const block = graph.blockAt(at);
    this.#analysis = analysis;
    this.#lasting = lasting;
    this.#single = single;
    this.#at = at;
    this.#start = graph.blocks[block]!.start;
    this.#tests = tests;
    this.#touched = new Set(liveness.touchedIn(block));
    let live: { has(r: number): boolean } | null = null;
    this.#isLive = (register) => {
      if (live === null) {
        liveness.walk(block, (i, after) => {
          if (i === at - 1) live = after.copy();
        });
        live ??= liveness.liveIn(block);
      }
      return live.has(register);
    };
  }

  /** What an expression is that the instruction at `at` evaluates, of what can be read where it is asked. */
  of(expr: Expr, at = this.#at): Expr | null {
    if (this.#isRegular(expr) && everyLeaf(expr, (leaf) => this.#isThere(leaf, at))) return expr;
    if (expr.kind === "reg") return this.#register(expr, at);
    if (expr.kind !== "prim") return null;
    if (expr.prim === "i32.select") return this.#chosen(expr, at);
    let isKnown = true;
    const args = mapChanged(expr.args, (arg) => {
      const found = isKnown ? this.of(arg, at) : null;
      isKnown &&= found !== null;
      return found ?? arg;
    });
    if (!isKnown) return null;
    const whole = args === expr.args ? expr : { ...expr, args };
    return this.#isRegular(whole) ? whole : null;
  }

  /** Whether a value is the same in all lanes, or grows by the same step from each to the next. */
  #isRegular(expr: Expr): boolean {
    return expr.ty !== "pred" && isLinear(this.#analysis.shape(expr));
  }

  /** Whether a leaf can be read where it is asked, and is then what it was to the instruction at `at`. */
  #isThere(leaf: Expr, at: number): boolean {
    if (leaf.kind === "reg") return leaf.ty !== "pred" && this.#holds(leaf.reg, at);
    return leaf.kind === "const" || (leaf.kind === "special" && lifetimeOf(leaf.name) !== "code");
  }

  #holds(register: number, at: number): boolean {
    const { everywhere, ofChunk } = this.#lasting;
    if (everywhere.has(register)) return true;
    if (!this.#touched.has(register)) return false;
    return ofChunk.has(register) || (this.#isLive(register) && this.#isUnchanged(register, at));
  }

  /** Whether nothing has written a register since the instruction at `at` has read it. */
  #isUnchanged(register: number, at: number): boolean {
    if (at < this.#start || at > this.#at) return this.#single.has(register);
    const { instructions } = this.#analysis.code;
    for (let i = at; i < this.#at; i++) if (writes(instructions[i]!, register)) return false;
    return true;
  }

  /** What a register is that cannot be read: what the instruction that has written it computes. */
  #register({ reg, ty }: Extract<Expr, { kind: "reg" }>, at: number): Expr | null {
    return this.#atWriter(reg, ty, at, (value, by) => this.of(value, by));
  }

  /** Asks about the value that a register has at an instruction, and where it is computed; null if none is known. */
  #atWriter<T>(register: number, ty: Ty, at: number, ask: (value: Expr, by: number) => T | null): T | null {
    const by = this.#depth >= maxDepth ? null : this.#writerOf(register, at);
    if (by === null) return null;
    const { op, dst } = this.#analysis.code.instructions[by]!;
    const value = op.kind === "pure" ? op.values[dst.indexOf(register)] : undefined;
    // Registers of other sizes take a part of the value.
    if (value?.ty !== ty || this.#analysis.code.ir.registers[register]!.bits !== sizes[ty]) return null;
    this.#depth++;
    const found = ask(value, by);
    this.#depth--;
    return found;
  }

  /** The instruction that has written what a register is at an instruction; null where that is not known. */
  #writerOf(register: number, at: number): number | null {
    const { instructions } = this.#analysis.code;
    if (at >= this.#start && at <= this.#at) {
      for (let i = at - 1; i >= this.#start; i--) {
        if (writes(instructions[i]!, register)) return isPlain(instructions[i]!) ? i : null;
      }
    }
    return this.#single.get(register) ?? null;
  }

  /** What grows, of two values between which a comparison decides. */
  #chosen({ args }: Prim, at: number): Expr | null {
    const [yes, no] = [this.of(args[1]!, at), this.of(args[2]!, at)];
    if (yes === null || no === null) return null;
    const [first, second] = [this.#grows(yes), this.#grows(no)];
    if (first === second) return null;
    return this.#decide(args[0]!, first, at) ? (first ? yes : no) : null;
  }

  #grows(expr: Expr): boolean {
    const shape = this.#analysis.shape(expr);
    return shape.kind === "affine" && Math.abs(shape.stride) < maxStride;
  }

  /** Adds the tests that a condition is `wanted` in all lanes; false where there are none. */
  #decide(condition: Expr, wanted: boolean, at: number): boolean {
    if (condition.kind === "reg")
      return this.#atWriter(condition.reg, "pred", at, (value, by) => this.#decide(value, wanted, by)) ?? false;
    if (condition.kind !== "prim") return false;
    if (condition.prim === "pred.not") return this.#decide(condition.args[0]!, !wanted, at);
    const [, name, sign, equality] = /^i32\.(?:(lt|le)_([su])|(eq|ne))$/.exec(condition.prim) ?? [];
    if (name === undefined && equality === undefined) return false;
    const [a, b] = condition.args.map((arg) => this.of(arg, at)) as [Expr | null, Expr | null];
    if (a === null || b === null || this.#grows(a) === this.#grows(b)) return false;
    const [growing, bound, side] = this.#grows(a) ? ([a, b, "left"] as const) : ([b, a, "right"] as const);
    if (this.#analysis.shape(bound).kind !== "uniform") return false;
    if (equality !== undefined) {
      if ((equality === "ne") !== wanted) return false;
      this.#tests.push({ growing, bound, order: "ne", signed: true });
      return true;
    }
    const order = orders[name as "lt" | "le"][side];
    this.#tests.push({ growing, bound, order: wanted ? order : opposite[order], signed: sign === "s" });
    return true;
  }
}

const sizes: Readonly<Partial<Record<Ty, number>>> = { i32: 32, i64: 64, pred: 1 };

function writes(instruction: Instruction, register: number): boolean {
  let found = false;
  writesOf(instruction, (r) => (found ||= r === register));
  return found;
}
