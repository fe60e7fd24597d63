import { type Expr, kit } from "../../../../semantics/index.ts";
import type { Invariants } from "./invariant-code.ts";
import { integerOf, type LeafExpr, LinearQuestion, type PrimExpr } from "../../../../ir/uniformity/linear-form.ts";
import { isSameInBlock } from "./special-registers.ts";
import type { UniformityAnalysis } from "./uniformity.ts";

/** Special registers that differ within a range of blocks. */
export type Axis = "tid.x" | "tid.y" | "tid.z" | "ctaid.x" | "ctaid.y";

/** Step of a 32-bit value (mod 2^32) per unit of each axis. An axis that is absent does not affect the value. */
export type GridStride = ReadonlyMap<Axis, Expr>;

const inRow = ["tid.x", "tid.y", "tid.z", "ctaid.x"] as const;

/** By range of blocks, the axes along which these lie: of a row of the grid, or of several rows of one plane. */
const axesOf: Readonly<Record<GridRange, ReadonlySet<string>>> = {
  row: new Set<Axis>(inRow),
  plane: new Set<Axis>([...inRow, "ctaid.y"]),
};

/** The blocks of which a range is made. */
export type GridRange = "row" | "plane";

/**
 * A value of 32 bits has steps and no index. One of 64 bits has no steps of its own: at most it has an index, and
 * varies as `scale * extend(index)` does.
 */
interface GridForm {
  readonly steps: GridStride;
  readonly index: GridIndex | null;
}

/** What `scale * extend(expr)` is made of. */
export interface GridIndex {
  readonly expr: Expr;
  readonly scale: bigint;
  readonly signed: boolean;
}

const same: GridForm = { steps: new Map(), index: null };

const isSame = ({ steps, index }: GridForm): boolean => steps.size === 0 && index === null;

/** How values that are computed before a chunk begins change from thread to thread and from block to block. */
export class GridStrides {
  /** By register, the expression that it holds. */
  readonly #values = new Map<number, Expr>();
  readonly #question: GridQuestion;

  constructor({ code }: Pick<UniformityAnalysis, "code">, invariants: Invariants, range: GridRange = "row") {
    this.#question = new GridQuestion(this.#values, axesOf[range]);
    for (const i of [...invariants.grid, ...invariants.block, ...invariants.chunk]) {
      const { op, dst } = code.instructions[i]!;
      dst.forEach((to, k) => {
        // What is loaded is a parameter: the same in the whole grid, as a constant is.
        if (typeof to === "number") this.#values.set(to, op.kind === "pure" ? op.values[k]! : kit.i32(0));
      });
    }
  }

  /** The stride of a 32-bit value, or of any that is the same everywhere; null where it is not linear. */
  of(expr: Expr): GridStride | null {
    const form = this.#question.of(expr);
    return form?.index === null ? form.steps : null;
  }

  /** The expression that a register holds, where that is computed beforehand. */
  valueOf(register: number): Expr | null {
    return this.#values.get(register) ?? null;
  }

  isSame(expr: Expr): boolean {
    const form = this.#question.of(expr);
    return form !== null && isSame(form);
  }

  /** The 32-bit index on which a 64-bit address depends; null where it is the same everywhere, or not linear. */
  indexOf(address: Expr): Expr | null {
    return this.scaledIndexOf(address)?.expr ?? null;
  }

  /** The same, with how the address depends on it. */
  scaledIndexOf(address: Expr): GridIndex | null {
    return this.#question.of(address)?.index ?? null;
  }
}

class GridQuestion extends LinearQuestion<GridForm, Expr> {
  readonly #values: ReadonlyMap<number, Expr>;
  readonly #axes: ReadonlySet<string>;
  readonly #known = new Map<Expr, GridForm | null>();

  constructor(values: ReadonlyMap<number, Expr>, axes: ReadonlySet<string>) {
    super();
    this.#values = values;
    this.#axes = axes;
  }

  override of(expr: Expr): GridForm | null {
    let form = this.#known.get(expr);
    if (form === undefined) this.#known.set(expr, (form = super.of(expr)));
    return form;
  }

  #isAxis(name: string): name is Axis {
    return this.#axes.has(name);
  }

  protected leaf(expr: LeafExpr): GridForm | null {
    switch (expr.kind) {
      case "const":
        return same;
      case "reg": {
        const value = this.#values.get(expr.reg);
        const form = value === undefined ? null : this.of(value);
        // Read as another type the bits are the same, but not the number.
        return form === null || isSame(form) || value!.ty === expr.ty ? form : null;
      }
      case "special":
        if (!this.#isAxis(expr.name)) return isSameInBlock(expr.name) ? same : null;
        return expr.ty === "i32" ? { steps: new Map([[expr.name, kit.i32(1)]]), index: null } : null;
      default:
        return null;
    }
  }

  protected sum(a: GridForm, b: GridForm, sign: 1 | -1): GridForm | null {
    if (isSame(b)) return a;
    if (isSame(a) && sign === 1) return b;
    if (a.index !== null || b.index !== null) return null;
    const steps = new Map(a.steps);
    for (const [axis, by] of b.steps) {
      const before = steps.get(axis);
      if (before !== undefined) steps.set(axis, sign === 1 ? kit.add(before, by) : kit.sub(before, by));
      else steps.set(axis, sign === 1 ? by : kit.neg(by));
    }
    return { steps, index: null };
  }

  protected factorOf(operand: Expr, form: GridForm): Expr | null {
    return isSame(form) ? operand : null;
  }

  protected power(exponent: number): Expr {
    return kit.i32(2 ** exponent);
  }

  protected multiple(form: GridForm, by: Expr): GridForm | null {
    if (isSame(form)) return same;
    if (form.index === null) {
      return { steps: new Map([...form.steps].map(([axis, step]) => [axis, kit.mul(step, by)])), index: null };
    }
    const factor = integerOf(by);
    if (factor === null) return null;
    return { ...form, index: { ...form.index, scale: form.index.scale * factor } };
  }

  protected extension(operand: Expr, signed: boolean): GridForm | null {
    const form = this.of(operand);
    return form === null || isSame(form) ? form : { steps: same.steps, index: { expr: operand, scale: 1n, signed } };
  }

  protected truncation(operand: Expr): GridForm | null {
    const form = this.of(operand);
    if (form === null || form.index === null) return form;
    const { expr, scale } = form.index;
    const index = this.of(expr)!;
    return scale === 1n ? index : this.multiple(index, kit.i32(Number(BigInt.asIntN(32, scale))));
  }

  protected other(_: PrimExpr, operands: readonly GridForm[]): GridForm | null {
    return operands.every(isSame) ? same : null;
  }
}
