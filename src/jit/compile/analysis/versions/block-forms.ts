import type { Dim3 } from "../../../../machine/reports/report.ts";
import { type Expr, kit, type Ty } from "../../../../semantics/index.ts";
import { type LeafExpr, LinearQuestion, type PrimExpr } from "../../../../ir/uniformity/linear-form.ts";

/** Whether a value grows (1) or falls (-1) as something else grows; 0: neither; null: it may do both. */
export type Trend = -1 | 0 | 1 | null;

/**
 * A value in terms of a thread's numbers within its block: `base + offset`, which all threads of the block share, and a
 * step for each thread along each axis. Values of other types than `i32` have a base alone.
 */
export interface BlockForm {
  readonly base: Expr;
  readonly offset: number;
  readonly steps: Dim3;
  /** How it changes from block to block. */
  readonly block: Trend;
  /** How it changes with what the launch is given, such as the size of an image. */
  readonly size: Trend;
}

/** Offsets and steps beyond this are left to themselves: no sum of them is near where 32 bits end. */
const maxOffset = 2 ** 24;

const zero = kit.i32(0);
const none: Dim3 = [0, 0, 0];

/** What all threads of a block have in common. */
export const shared = (base: Expr, block: Trend = 0, size: Trend = 0): BlockForm => ({
  ...{ base, offset: 0, steps: none, block, size },
});

const constant = (offset: number): BlockForm => ({ base: zero, offset, steps: none, block: 0, size: 0 });

/** Whether all threads of a block have the same value. */
export const isShared = ({ steps }: BlockForm): boolean => steps.every((step) => step === 0);

/** The value of the threads of a block whose steps add up to `distance`. */
export function valueAt({ base, offset }: BlockForm, distance = 0): Expr {
  const by = offset + distance;
  if (by === 0) return base;
  return base === zero ? kit.i32(by) : kit.add(base, kit.i32(by));
}

/** How far the values of a block are from its first thread's, at least and at most. */
export function distancesIn({ steps }: BlockForm, block: Dim3): { readonly min: number; readonly max: number } {
  const far = steps.map((step, axis) => step * (block[axis]! - 1));
  const sum = (of: (distance: number) => number): number => far.reduce((total, distance) => total + of(distance), 0);
  return { min: sum((d) => Math.min(d, 0)), max: sum((d) => Math.max(d, 0)) };
}

/** Whether a value is a number that is known while code is written. */
export const isNumber = (form: BlockForm): boolean => form.base === zero && isShared(form);

/** The trend of a sum of two values. */
export const sumOfTrends = (a: Trend, b: Trend): Trend => (a === 0 || a === b ? b : b === 0 ? a : null);

/** The trend of the other direction. */
export const reversed = (trend: Trend): Trend => (trend === null ? null : ((0 - trend) as Trend));

const productOfTrends = (a: Trend, b: Trend): Trend => (a === null || b === null ? null : ((a * b) as Trend));

/** Asks for the forms of values. A subclass knows those of registers. */
export abstract class BlockQuestion extends LinearQuestion<BlockForm, BlockForm> {
  readonly #block: Dim3;
  readonly #known = new Map<Expr, BlockForm | null>();

  constructor(block: Dim3) {
    super();
    this.#block = block;
  }

  protected abstract register(register: number, ty: Ty): BlockForm | null;

  override of(expr: Expr): BlockForm | null {
    let form = this.#known.get(expr);
    if (form === undefined) {
      // One that is computed from itself has none.
      this.#known.set(expr, null);
      this.#known.set(expr, (form = this.find(expr)));
    }
    return form;
  }

  protected find(expr: Expr): BlockForm | null {
    return super.of(expr);
  }

  protected leaf(expr: LeafExpr): BlockForm | null {
    switch (expr.kind) {
      case "const":
        return expr.ty === "i32" ? ofNumber(expr) : shared(expr);
      case "reg":
        return this.register(expr.reg, expr.ty);
      case "special":
        return this.#special(expr);
      default:
        return null;
    }
  }

  #special(expr: Extract<LeafExpr, { kind: "special" }>): BlockForm | null {
    const [, name, axis] = /^(tid|ntid|ctaid|nctaid)\.([xyz])$/.exec(expr.name) ?? [];
    const at = "xyz".indexOf(axis ?? "-");
    switch (name) {
      case "tid":
        return {
          ...constant(0),
          steps: none.map((_, i) => (i === at && this.#block[i]! > 1 ? 1 : 0)) as unknown as Dim3,
        };
      case "ntid":
        return constant(this.#block[at]!);
      case "ctaid":
        return shared(expr, 1);
      case "nctaid":
        return shared(expr, 0, 1);
      default:
        return null;
    }
  }

  protected sum(a: BlockForm, b: BlockForm, sign: 1 | -1): BlockForm | null {
    const op = sign === 1 ? kit.add : kit.sub;
    const [block, size] = (["block", "size"] as const).map((axis) =>
      sumOfTrends(a[axis], sign === 1 ? b[axis] : reversed(b[axis])),
    ) as [Trend, Trend];
    if (a.base.ty !== "i32") return isShared(a) && isShared(b) ? shared(op(a.base, b.base), block, size) : null;
    const base = b.base === zero ? a.base : a.base === zero && sign === 1 ? b.base : op(a.base, b.base);
    const steps = a.steps.map((step, axis) => step + sign * b.steps[axis]!) as unknown as Dim3;
    return bounded({ base, offset: a.offset + sign * b.offset, steps, block, size });
  }

  protected factorOf(_: Expr, form: BlockForm): BlockForm | null {
    return isShared(form) ? form : null;
  }

  protected power(exponent: number): BlockForm {
    return constant(2 ** exponent);
  }

  protected multiple(form: BlockForm, by: BlockForm): BlockForm | null {
    const [block, size] = trendsOfProduct(form, by, this.#block);
    if (form.base.ty !== "i32") {
      const factor = isNumber(by) ? kit.int(form.base, by.offset) : by.base;
      return shared(kit.mul(form.base, factor), block, size);
    }
    if (isNumber(by)) {
      const base = form.base === zero ? zero : kit.mul(form.base, kit.i32(by.offset));
      const steps = form.steps.map((step) => step * by.offset) as unknown as Dim3;
      return bounded({ base, offset: form.offset * by.offset, steps, block, size });
    }
    return isShared(form) ? shared(kit.mul(valueAt(form), valueAt(by)), block, size) : null;
  }

  protected extension(operand: Expr, signed: boolean): BlockForm | null {
    const form = this.of(operand);
    return form !== null && isShared(form)
      ? { ...form, ...shared(kit.widen(valueAt(form), signed)), ...trends(form) }
      : null;
  }

  protected truncation(operand: Expr): BlockForm | null {
    const form = this.of(operand);
    return form !== null && isShared(form) ? shared(kit.wrap(form.base), form.block, form.size) : null;
  }

  /** What is computed otherwise of values that the threads share, they share. It mostly grows as these do. */
  protected other({ prim, args }: PrimExpr, operands: readonly BlockForm[]): BlockForm | null {
    if (!operands.every(isShared)) return null;
    const values = operands.map((form, i) => (args[i]!.ty === "i32" ? valueAt(form) : form.base));
    const first = (axis: "block" | "size"): Trend => operands.find((form) => form[axis] !== 0)?.[axis] ?? 0;
    return shared(kit.op(prim, ...values), first("block"), first("size"));
  }
}

const trends = ({ block, size }: BlockForm): Pick<BlockForm, "block" | "size"> => ({ block, size });

const ofNumber = (expr: Expr): BlockForm | null =>
  expr.kind === "const" && Math.abs(Number(expr.value)) <= maxOffset ? constant(Number(expr.value)) : shared(expr);

const bounded = (form: BlockForm): BlockForm | null =>
  [form.offset, ...form.steps].every((by) => Math.abs(by) <= maxOffset) ? form : null;

/**
 * A row's number times a row's length grows from block to block. So does a block's number times the threads along its
 * side less those of a halo.
 */
function trendsOfProduct(a: BlockForm, b: BlockForm, block: Dim3): readonly [block: Trend, size: Trend] {
  const side = Math.min(...block.filter((threads) => threads > 1));
  const own = (form: BlockForm): Trend => {
    if (form.block !== 0) return form.block;
    const ofNumber = Math.sign(form.offset) as Trend;
    return form.size === 0 || (form.size === reversed(ofNumber) && Math.abs(form.offset) >= side)
      ? ofNumber
      : form.size;
  };
  const product = productOfTrends(own(a), own(b));
  const isOfBlock = a.block !== 0 || b.block !== 0;
  const isOfSize = a.size !== 0 || b.size !== 0;
  return isOfBlock ? [product, 0] : [0, isOfSize ? product : 0];
}
