import { type Expr, isConst } from "../../semantics/index.ts";

/*
 * Linear forms of integer expressions.
 *
 * A value of n bits is linear in some axes if `value = base + Σ step(axis) * axis` modulo 2^n. Five analyses ask how a
 * value moves along an axis, and what it moves from. They differ in the axes, and in what they keep of base and steps:
 *
 *   question              axes                            base                  steps
 *   shape.ts              the lane within its chunk       -                     numbers
 *   row-strides.ts        the lane, beyond its chunk      -                     whether there is one
 *   grid-strides.ts       tid.x, tid.y, tid.z, ctaid.x    -                     expressions
 *   block-induction.ts    the round of a loop             registers, constant   integers
 *   underlying-object.ts  the index of an access          object, constant      -
 *
 * Steps are plain numbers in shapes, which are found for every expression in each pass of the uniformity analysis, and
 * expressions where only the running kernel knows them; so there is no one type for all forms. What stands here once is
 * the walk over expressions, and the arithmetic on which all questions rely:
 *
 * 1. Sums. Integers modulo 2^n are a ring: the form of a sum or a difference is the sum or the difference of the forms,
 *    wherever operands or results wrap around. So is `~x`, which is `-1 - x`.
 * 2. Multiples. For the same reason a form can be multiplied, base and steps, by a factor that does not vary. The
 *    product of two forms that both vary is not linear.
 * 3. Shifts. `x << c` is `x * 2^c` for every c below the width; from there on the result is 0. Only constants up to 31
 *    are taken, for which this holds in both widths.
 * 4. Truncation. Taking a number modulo 2^64 to one modulo 2^32 is a homomorphism of rings: the form of `wrap(x)` is
 *    that of x with base and steps modulo 2^32.
 * 5. Extension is none: `extend(i + 1)` is not `extend(i) + 1` where i + 1 leaves the range of 32 bits, at 2^31 if the
 *    extension is signed, at 2^32 if it is not. So an extension ends one form and begins another whose atom it is, the
 *    *index*: `base + scale * extend(index)`, where the index has a 32-bit form of its own. By rules 1 and 2 sums
 *    with what does not vary and constant multiples are of this kind again. By rule 4
 *    `wrap(base + scale * extend(index))` is `wrap(base) + scale * index`, whether the extension is signed or not, as
 *    both leave the low half alone. Code that needs extend(index) itself to be linear has to show that the index does
 *    not wrap around on the way: `BlockRange` and `BoundsCheck` test it when the kernel runs.
 * 6. Everything else. Primitives are pure functions: the result of operands that do not vary does not vary.
 */

export type PrimExpr = Extract<Expr, { kind: "prim" }>;

export type LeafExpr = Exclude<Expr, PrimExpr>;

/**
 * A question that is answered for expressions by their linear forms. `Form`: what it keeps of one. `Factor`: what a
 * form can be multiplied by. Null, as a form: nothing is known of the value, nor of anything that it is an operand of.
 */
export abstract class LinearQuestion<Form, Factor> {
  of(expr: Expr): Form | null {
    if (expr.kind !== "prim") return this.leaf(expr);
    const { args } = expr;
    switch (expr.prim) {
      case "i32.add":
      case "i64.add":
        return this.#sum(args[0]!, args[1]!, 1);
      case "i32.sub":
      case "i64.sub":
        return this.#sum(args[0]!, args[1]!, -1);
      case "i32.mul":
      case "i64.mul":
        return this.#product(expr);
      case "i32.xor":
      case "i64.xor":
        return isConst(args[1], -1) ? this.#sum(args[1]!, args[0]!, -1) : this.#otherwise(expr);
      case "i32.shl":
      case "i64.shl":
        return this.#shifted(expr);
      case "i64.extend_i32_s":
        return this.extension(args[0]!, true, expr);
      case "i64.extend_i32_u":
        return this.extension(args[0]!, false, expr);
      case "i32.wrap_i64":
        return this.truncation(args[0]!, expr);
      default:
        return this.#otherwise(expr);
    }
  }

  protected abstract leaf(expr: LeafExpr): Form | null;

  /** Rule 1: `a + sign * b`, the forms of `left` and `right`. */
  protected abstract sum(a: Form, b: Form, sign: 1 | -1, left: Expr, right: Expr): Form | null;

  /** The factor by which an operand multiplies the other one; null where it cannot be one. */
  protected abstract factorOf(operand: Expr, form: Form): Factor | null;

  /** The factor 2^exponent. */
  protected abstract power(exponent: number): Factor;

  /** Rule 2. */
  protected abstract multiple(form: Form, by: Factor): Form | null;

  /** Rule 5. `whole`: the extension itself. */
  protected abstract extension(operand: Expr, signed: boolean, whole: PrimExpr): Form | null;

  /** Rule 4. `whole`: the truncation itself. */
  protected abstract truncation(operand: Expr, whole: PrimExpr): Form | null;

  /** Rule 6: the result of any other operation on operands of these forms. */
  protected abstract other(expr: PrimExpr, operands: readonly Form[]): Form | null;

  #sum(left: Expr, right: Expr, sign: 1 | -1): Form | null {
    const a = this.of(left);
    const b = a === null ? null : this.of(right);
    return a === null || b === null ? null : this.sum(a, b, sign, left, right);
  }

  #product(expr: PrimExpr): Form | null {
    const [left, right] = expr.args as readonly [Expr, Expr];
    const a = this.of(left);
    const b = a === null ? null : this.of(right);
    if (a === null || b === null) return null;
    const byRight = this.factorOf(right, b);
    if (byRight !== null) return this.multiple(a, byRight);
    const byLeft = this.factorOf(left, a);
    return byLeft === null ? this.other(expr, [a, b]) : this.multiple(b, byLeft);
  }

  #shifted(expr: PrimExpr): Form | null {
    const [value, by] = expr.args as readonly [Expr, Expr];
    const count = by.kind === "const" ? Number(by.value) : -1;
    if (count < 0 || count > 31) return this.#otherwise(expr);
    const form = this.of(value);
    return form === null ? null : this.multiple(form, this.power(count));
  }

  #otherwise(expr: PrimExpr): Form | null {
    const forms: Form[] = [];
    for (let i = 0; i < expr.args.length; i++) {
      const form = this.of(expr.args[i]!);
      if (form === null) return null;
      forms.push(form);
    }
    return this.other(expr, forms);
  }
}

/** The value of an integer constant; null for anything else. */
export const integerOf = (expr: Expr): bigint | null =>
  expr.kind === "const" && (expr.ty === "i32" || expr.ty === "i64") ? BigInt(expr.value as number | bigint) : null;
