import { type Expr, mapChanged, registersOf } from "../../../../semantics/index.ts";
import { writesOf } from "../../../../ir/flow/accesses.ts";
import type { Instruction } from "../../../../ir/index.ts";
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
 * of a picture; or one between what lies on either side of a border, as where rows go around. Instructions that
 * compute the address are followed back as long as their operands still are what they were.
 */
export class StraightAddresses {
  readonly #analysis: UniformityAnalysis;
  /** Registers that always have their values. */
  readonly #lasting: ReadonlySet<number>;
  /** By instruction, what has been found. */
  readonly #known = new Map<number, StraightAddress | null>();
  /** By register that one instruction writes, in all lanes, before it is read: that instruction. */
  #single: ReadonlyMap<number, number> | null = null;

  constructor(analysis: UniformityAnalysis, lasting: ReadonlySet<number>) {
    this.#analysis = analysis;
    this.#lasting = lasting;
  }

  /**
   * What the address of an instruction is before it; null where that is not known, or where lanes are not so many
   * `bytes` apart.
   */
  of(address: Expr, instruction: number, bytes: number): StraightAddress | null {
    let found = this.#known.get(instruction);
    if (found === undefined) this.#known.set(instruction, (found = this.#find(address, instruction, bytes)));
    return found;
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

/** Whether an instruction computes values in all lanes that come to it. */
const isPlain = ({ op, guard, lanes }: Instruction): boolean =>
  op.kind === "pure" && guard === null && lanes === undefined;

class Search {
  readonly #analysis: UniformityAnalysis;
  readonly #lasting: ReadonlySet<number>;
  readonly #single: ReadonlyMap<number, number>;
  readonly #at: number;
  readonly #start: number;
  readonly #tests: EndTest[];
  readonly #isLive: (register: number) => boolean;
  #depth = 0;

  constructor(
    analysis: UniformityAnalysis,
    lasting: ReadonlySet<number>,
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

  /** What an expression is that the instruction at `at` evaluates, in terms of what is known where it is asked. */
  of(expr: Expr, at = this.#at): Expr | null {
    if (expr.kind === "const" || expr.kind === "special") return this.#isRegular(expr) ? expr : null;
    if (expr.kind === "reg") return this.#register(expr, at);
    if (expr.kind !== "prim") return null;
    if (this.#isRegular(expr) && registersOf(expr).every((r) => this.#has(r, at))) return expr;
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
    const shape = this.#analysis.shape(expr);
    return shape.kind === "uniform" || shape.kind === "affine" || (shape.kind === "indexed" && shape.stride !== null);
  }

  #register(expr: Extract<Expr, { kind: "reg" }>, at: number): Expr | null {
    if (this.#isRegular(expr) && this.#has(expr.reg, at)) return expr;
    if (this.#depth >= maxDepth) return null;
    const by = this.#writerOf(expr.reg, at);
    if (by === null) return null;
    const { op, dst } = this.#analysis.code.instructions[by]!;
    const value = op.kind === "pure" ? op.values[dst.indexOf(expr.reg)]! : null;
    if (value?.ty !== expr.ty) return null;
    this.#depth++;
    const found = this.of(value, by);
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

  /** Whether a register has the value still that it has had at an instruction. */
  #has(register: number, at: number): boolean {
    if (!this.#lasting.has(register) && !this.#isLive(register)) return false;
    if (at === this.#at || this.#lasting.has(register)) return true;
    const { instructions } = this.#analysis.code;
    if (at < this.#start || at > this.#at) return this.#single.has(register);
    for (let i = at; i < this.#at; i++) if (writes(instructions[i]!, register)) return false;
    return true;
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
    if (condition.kind === "reg") {
      const by = this.#writerOf(condition.reg, at);
      if (by === null || this.#depth >= maxDepth) return false;
      const { op, dst } = this.#analysis.code.instructions[by]!;
      const value = op.kind === "pure" ? op.values[dst.indexOf(condition.reg)]! : null;
      this.#depth++;
      const isDecided = value?.ty === "pred" && this.#decide(value, wanted, by);
      this.#depth--;
      return isDecided;
    }
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

function writes(instruction: Instruction, register: number): boolean {
  let found = false;
  writesOf(instruction, (r) => (found ||= r === register));
  return found;
}
