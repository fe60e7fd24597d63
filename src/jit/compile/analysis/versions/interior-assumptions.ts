import type { Instruction, IrFunction } from "../../../../ir/index.ts";
import type { Dim3 } from "../../../../machine/reports/report.ts";
import { type Expr, isConst, kit, mapChanged, onceForEach } from "../../../../semantics/index.ts";
import {
  type BlockForm,
  distancesIn,
  isNumber,
  isShared,
  reversed,
  shared,
  sumOfTrends,
  valueAt,
} from "./block-forms.ts";
import { BlockTests } from "./block-tests.ts";
import { WrittenQuestion } from "./written-forms.ts";

type Prim = Extract<Expr, { kind: "prim" }>;

/** What holds in the interior of a grid, and what follows for expressions. */
export interface Assumptions {
  /** Whether a block is in the interior: the same for all of its threads, as are all of `values`. */
  readonly all: Expr;
  /** What is to be computed before the code: quotients, or these times what they are quotients by. */
  readonly values: readonly Expr[];
  /** Whether an expression that is linear in the interior, or the same for all threads, is not so elsewhere. */
  readonly isBent: (expr: Prim) => boolean;
  /** What an expression is in the interior. `computed`: where one of `values` is. */
  readonly rewrite: (expr: Expr, computed: (value: Expr) => Expr) => Expr;
}

/**
 * What may be assumed of blocks in the interior; null where nothing follows of it. `written`: by register that one
 * instruction writes, before it is read, that instruction.
 */
export function assumptionsOf(
  { instructions }: IrFunction,
  written: ReadonlyMap<number, Instruction>,
  block: Dim3,
): Assumptions | null {
  const found = new InteriorQuestion(written, block, new ComparedPlaces(instructions, written, block));
  const look = onceForEach<void>((expr, lookAt) => {
    if (expr.kind !== "prim") return;
    expr.args.forEach(lookAt);
    if (expr.ty === "pred") found.decide(expr);
    else if (expr.ty === "i32") found.of(expr);
  });
  for (const { op } of instructions) if (op.kind === "pure") op.values.forEach(look);
  return found.hasAny ? found : null;
}

const comparison = /^i32\.(?:(lt|le)_([su])|(eq|ne))$/;
const division = /^i32\.(div|rem)_([su])$/;

/**
 * Values that grow from block to block and that are compared with sizes: places in what has such a size, whatever else
 * of the launch they are computed from, such as the width of a halo.
 */
class ComparedPlaces extends WrittenQuestion {
  readonly #bases = new Set<string>();

  constructor(instructions: readonly Instruction[], written: ReadonlyMap<number, Instruction>, block: Dim3) {
    super(written, block);
    const compared = onceForEach<void>((expr, inner) => {
      if (expr.kind !== "prim") return;
      expr.args.forEach(inner);
      if (!comparison.test(expr.prim)) return;
      const [a, b] = expr.args.map((arg) => this.of(arg)) as [BlockForm | null, BlockForm | null];
      if (a !== null && b !== null) this.#note(a, b);
    });
    for (const { op } of instructions) if (op.kind === "pure") op.values.forEach(compared);
  }

  #note(a: BlockForm, b: BlockForm): void {
    for (const [place, size] of [
      [a, b],
      [b, a],
    ] as const) {
      if (isGrowing(place) && place.size !== 0 && size.block === 0 && size.size === 1) {
        this.#bases.add(textOf(place.base));
      }
    }
  }

  has(form: BlockForm): boolean {
    return this.#bases.size > 0 && isGrowing(form) && this.#bases.has(textOf(form.base));
  }
}

const isGrowing = ({ block }: BlockForm): boolean => block !== 0 && block !== null;

const textOf = (expr: Expr): string =>
  JSON.stringify(expr, (_, value) => (typeof value === "bigint" ? `${value}n` : value));

/** A quotient that all threads of a block share, and its product with the divisor. */
interface Quotient {
  readonly quotient: Expr;
  readonly product: Expr;
}

/** A number that is 0 unless a condition is as it should be. */
interface SignChoice {
  readonly isNegative: Expr;
  readonly value: Expr;
  /** What the condition is where the number is `value`. */
  readonly when: boolean;
}

class InteriorQuestion extends WrittenQuestion implements Assumptions {
  readonly #block: Dim3;
  readonly #places: ComparedPlaces;
  readonly #tests: BlockTests;
  readonly #decisions = new Map<Expr, boolean | null>();
  readonly #quotients = new Map<Expr, Quotient>();
  readonly #signChoices = new Map<Expr, SignChoice | null>();

  constructor(written: ReadonlyMap<number, Instruction>, block: Dim3, places: ComparedPlaces) {
    super(written, block);
    this.#block = block;
    this.#places = places;
    this.#tests = new BlockTests(block);
  }

  get hasAny(): boolean {
    return this.#quotients.size > 0 || [...this.#decisions.values()].some((decision) => decision !== null);
  }

  get all(): Expr {
    return this.#tests.all;
  }

  get values(): readonly Expr[] {
    return [...this.#quotients.values()].flatMap(({ quotient, product }) => [quotient, product]);
  }

  readonly isBent = (expr: Prim): boolean => this.#quotients.has(expr) || this.#chosen(expr) !== null;

  readonly rewrite = (expr: Expr, computed: (value: Expr) => Expr): Expr =>
    onceForEach<Expr>((of, inside) => {
      if (of.kind !== "prim") return of;
      const decision = of.ty === "pred" ? this.decide(of) : null;
      if (decision !== null) return kit.pred(decision);
      const chosen = this.#chosen(of);
      if (chosen !== null) return inside(chosen);
      const whole = this.#quotients.get(of);
      if (whole !== undefined) {
        return of.prim.startsWith("i32.div")
          ? computed(whole.quotient)
          : kit.sub(inside(of.args[0]!), computed(whole.product));
      }
      const args = mapChanged(of.args, inside);
      return args === of.args ? of : { ...of, args };
    })(expr);

  /** What a condition is in the interior for all threads; null where nothing is assumed of it. */
  decide(expr: Expr): boolean | null {
    let decision = this.#decisions.get(expr);
    if (decision === undefined) {
      this.#decisions.set(expr, null);
      this.#decisions.set(expr, (decision = this.#decided(expr)));
    }
    return decision;
  }

  #decided(expr: Expr): boolean | null {
    if (expr.kind === "reg") {
      const value = this.writtenTo(expr.reg, expr.ty);
      return value === null ? null : this.decide(value);
    }
    if (expr.kind !== "prim") return null;
    if (expr.prim === "pred.not") {
      const inner = this.decide(expr.args[0]!);
      return inner === null ? null : !inner;
    }
    const signs = this.#withoutSigns(expr);
    if (signs !== null) return signs;
    const [, order, sign, equality] = comparison.exec(expr.prim) ?? [];
    if (order === undefined && equality === undefined) return null;
    const [a, b] = [this.of(expr.args[0]!), this.of(expr.args[1]!)];
    if (a === null || b === null) return null;
    const isLess = this.#lessInside(a, b);
    if (isLess === null) return null;
    for (const form of [a, b]) {
      if (sign === "u") this.#tests.atLeast(form, 0);
      else this.#tests.exact(form);
    }
    const [low, high] = isLess ? [a, b] : [b, a];
    // Of what is not less, nor equal where that would do, the opposite holds.
    const mayBeEqual = equality === undefined && (order === "le") === isLess;
    this.#tests.less(low, high, mayBeEqual ? 0 : 1);
    return equality === undefined ? isLess : equality === "ne";
  }

  /**
   * Whether the first value is less than the second in the interior, or greater; null where nobody can tell. What grows
   * from block to block is more than a number there, and less than the size of something.
   */
  #lessInside(a: BlockForm, b: BlockForm): boolean | null {
    if (a.base.ty !== "i32") return null;
    const block = sumOfTrends(a.block, reversed(b.block));
    const size = sumOfTrends(a.size, reversed(b.size));
    if (block === null || block === 0 || size === null) return null;
    const isPlace = (isNumber(b) && this.#places.has(a)) || (isNumber(a) && this.#places.has(b));
    return (size === 0 || isPlace ? block : size) < 0;
  }

  /** Compilers test of several numbers at once that none is negative: `(a | b) > -1`. Null for anything else. */
  #withoutSigns({ prim, args }: Prim): boolean | null {
    const [least, number] = args;
    if (prim !== "i32.lt_s" || !isConst(least, -1)) return null;
    const numbers = this.#united(number!);
    if (numbers.length < 2) return null;
    const forms = numbers.map((each) => this.of(each));
    const zero = this.of(kit.i32(0))!;
    if (!forms.every((form) => form !== null && this.#lessInside(zero, form) === true)) return null;
    for (const form of forms) this.#tests.atLeast(form!, 0);
    return true;
  }

  /** The operands of a disjunction of bits. */
  #united(expr: Expr): readonly Expr[] {
    const value = expr.kind === "reg" ? this.writtenTo(expr.reg, expr.ty) : expr;
    if (value?.kind !== "prim" || value.prim !== "i32.or") return [expr];
    return value.args.flatMap((arg) => this.#united(arg));
  }

  protected override find(expr: Expr): BlockForm | null {
    if (expr.kind !== "prim") return super.find(expr);
    const chosen = this.#chosen(expr);
    if (chosen !== null) return this.of(chosen);
    return (division.test(expr.prim) ? this.#divided(expr) : null) ?? super.find(expr);
  }

  /** What a choice is in the interior for all threads; null where nothing is assumed of it, or for anything else. */
  #chosen(expr: Prim): Expr | null {
    if (expr.prim.endsWith(".select")) {
      const decision = this.decide(expr.args[0]!);
      return decision === null ? null : expr.args[decision ? 1 : 2]!;
    }
    const choice = this.#signChoice(expr);
    const decision = choice && this.decide(choice.isNegative);
    if (choice === null || decision === null) return null;
    return decision === choice.when ? choice.value : kit.i32(0);
  }

  /**
   * Compilers choose between a number and 0 by the bits of a sign: `(x >> 31) & y` is `x < 0 ? y : 0`, and with
   * `~(x >> 31)` it is the other way around.
   */
  #signChoice(expr: Prim): SignChoice | null {
    if (expr.prim !== "i32.and") return null;
    let choice = this.#signChoices.get(expr);
    if (choice === undefined) {
      const [a, b] = expr.args as readonly [Expr, Expr];
      choice = this.#chosenBySign(a, b) ?? this.#chosenBySign(b, a);
      this.#signChoices.set(expr, choice);
    }
    return choice;
  }

  #chosenBySign(signs: Expr, value: Expr): SignChoice | null {
    const mask = this.#computed(signs, "i32.xor");
    const isInverted = mask !== null && isConst(mask.args[1], -1);
    const shift = this.#computed(isInverted ? mask.args[0]! : signs, "i32.shr_s");
    if (shift === null || !isConst(shift.args[1], 31)) return null;
    return { isNegative: kit.lt(shift.args[0]!, kit.i32(0), true), value, when: !isInverted };
  }

  /** An expression, or what is written to the register that it is, if it is this primitive. */
  #computed(expr: Expr, prim: Prim["prim"]): Prim | null {
    const value = expr.kind === "reg" ? this.writtenTo(expr.reg, expr.ty) : expr;
    return value?.kind === "prim" && value.prim === prim ? value : null;
  }

  /** A quotient that is the same in the whole block, or what it leaves. */
  #divided(expr: Prim): BlockForm | null {
    const [a, b] = [this.of(expr.args[0]!), this.of(expr.args[1]!)];
    if (a === null || b === null || isShared(a) || !isShared(b) || a.block === 0 || a.block === null) return null;
    const [, operation, sign] = division.exec(expr.prim)!;
    if (sign === "u") this.#tests.atLeast(a, 0);
    else this.#tests.exact(a);
    this.#tests.atLeast(b, 1);
    this.#tests.sameQuotient(a, b);
    const by = valueAt(b);
    const quotient = kit.div(valueAt(a, distancesIn(a, this.#block).min), by, true);
    const product = kit.mul(quotient, by);
    this.#quotients.set(expr, { quotient, product });
    if (operation === "div") return shared(quotient, a.block);
    return { ...a, base: kit.sub(a.base, product), size: 0 };
  }
}
