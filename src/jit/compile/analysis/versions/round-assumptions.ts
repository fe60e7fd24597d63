import type { Instruction, IrFunction } from "../../../../ir/index.ts";
import type { Dim3 } from "../../../../machine/reports/report.ts";
import { type Expr, kit, mapChanged, onceForEach } from "../../../../semantics/index.ts";
import { type BlockForm, distancesIn, isShared, shared, valueAt } from "./block-forms.ts";
import { BlockTests } from "./block-tests.ts";
import type { Assumptions } from "./interior-assumptions.ts";
import { WrittenQuestion } from "./written-forms.ts";

const warpThreads = 32;

type Prim = Extract<Expr, { kind: "prim" }>;

/** A number, as all threads of a block have it once it is divided by 2^shift. */
interface Quotient {
  readonly shift: number;
  readonly value: Expr;
}

/**
 * Assumes that all threads of a block have as many rounds of a loop such as `for (i = threadIdx.x; i < n; i += 128)`,
 * which they have in blocks of 128 if n is a multiple of that. Compilers count them before the loop, as
 * `(n - 1 - threadIdx.x) >> 7`, to unroll it. Null where there is no such number, or nothing is gained.
 */
export function roundAssumptionsOf(
  { instructions }: IrFunction,
  written: ReadonlyMap<number, Instruction>,
  block: Dim3,
): Assumptions | null {
  const [columns, rows, layers] = block;
  // In a chunk with threads of several rows counters and addresses are vectors in any case.
  if (columns % warpThreads !== 0 && rows * layers > 1) return null;
  const found = new RoundQuestion(written, block);
  const look = onceForEach<void>((expr, lookAt) => {
    if (expr.kind !== "prim") return;
    expr.args.forEach(lookAt);
    if (shifted.test(expr.prim)) found.of(expr);
  });
  for (const { op } of instructions) if (op.kind === "pure") op.values.forEach(look);
  return found.values.length > 0 ? found : null;
}

const shifted = /^i32\.shr_[su]$/;
const comparison = /^i32\.(lt|le)_[su]$/;

class RoundQuestion extends WrittenQuestion implements Assumptions {
  readonly #block: Dim3;
  readonly #tests: BlockTests;
  readonly #quotients = new Map<Expr, Quotient>();
  /** By register, the quotient of what it holds. */
  readonly #ofRegisters = new Map<number, Quotient>();

  constructor(written: ReadonlyMap<number, Instruction>, block: Dim3) {
    super(written, block);
    this.#block = block;
    this.#tests = new BlockTests(block);
  }

  get all(): Expr {
    return this.#tests.all;
  }

  get values(): readonly Expr[] {
    return [...this.#quotients.values()].map(({ value }) => value);
  }

  readonly isBent = (expr: Prim): boolean => this.#quotients.has(expr);

  readonly rewrite = (expr: Expr, computed: (value: Expr) => Expr): Expr =>
    onceForEach<Expr>((of, inside) => {
      if (of.kind !== "prim") return of;
      const quotient = this.#quotients.get(of);
      if (quotient !== undefined) return computed(quotient.value);
      const compared = this.#compared(of, computed);
      if (compared !== null) return compared;
      const args = mapChanged(of.args, inside);
      return args === of.args ? of : { ...of, args };
    })(expr);

  protected override find(expr: Expr): BlockForm | null {
    return (expr.kind === "prim" && shifted.test(expr.prim) ? this.#divided(expr) : null) ?? super.find(expr);
  }

  #divided(expr: Prim): BlockForm | null {
    const [number, by] = expr.args as readonly [Expr, Expr];
    const shift = by.kind === "const" ? Number(by.value) : 0;
    const form = shift > 0 && shift < 31 ? this.of(number) : null;
    if (form === null || isShared(form) || form.base.kind === "const") return null;
    const { min, max } = distancesIn(form, this.#block);
    if (max - min >= 2 ** shift) return null;
    this.#tests.atLeast(form, 0);
    this.#tests.sameQuotient(form, this.power(shift));
    const value = kit.shr(valueAt(form, min), kit.i32(shift), true);
    const quotient = { shift, value };
    this.#quotients.set(expr, quotient);
    if (number.kind === "reg") this.#ofRegisters.set(number.reg, quotient);
    return shared(value, form.block, form.size);
  }

  /** The comparison of a number with one at which its quotient changes, as that of the quotient; null for any other. */
  #compared({ prim, args }: Prim, computed: (value: Expr) => Expr): Expr | null {
    const [, order] = comparison.exec(prim) ?? [];
    if (order === undefined) return null;
    const at = args.findIndex(({ kind }) => kind === "reg");
    const [number, limit] = [args[at], args[1 - at]];
    const quotient = number?.kind === "reg" ? this.#ofRegisters.get(number.reg) : undefined;
    if (quotient === undefined || limit?.kind !== "const" || Number(limit.value) < 0) return null;
    // `x < 8` and `8 <= x` ask for the quotient by 8, as do `x <= 7` and `7 < x`.
    const last = 2 ** quotient.shift - 1;
    if ((Number(limit.value) & last) !== ((order === "lt") === (at === 0) ? 0 : last)) return null;
    const limits = kit.i32(Number(limit.value) >> quotient.shift);
    return kit.op(prim, ...(at === 0 ? [computed(quotient.value), limits] : [limits, computed(quotient.value)]));
  }
}
