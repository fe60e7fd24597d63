import { readsOf, writesOf } from "../../../../ir/flow/accesses.ts";
import type { Instruction } from "../../../../ir/index.ts";
import { mapOperands } from "../../../../ir/operands.ts";
import { bind } from "../../../../semantics/bind.ts";
import { type Expr, kit, mapChanged } from "../../../../semantics/index.ts";

/**
 * A number that is one of two constants, or again such a choice. Compilers keep conditions in registers as numbers, and
 * ask later whether these are 0.
 */
type Choice =
  | { readonly kind: "const"; readonly value: Expr }
  | { readonly kind: "choice"; readonly when: Expr; readonly yes: Choice; readonly no: Choice };

/** The most constants among which a number is chosen: conditions grow with them. */
const maxConstants = 8;

/**
 * Writes conditions of conditions for comparisons of numbers that stand for them: `t = p ? 1 : 0; q = t != 0` has
 * q = p. Compilers for GPUs write so for `a && b`, where the hardware keeps the results of comparisons in ordinary
 * registers. Numbers that nothing reads any more are left out. `isValue`: whether a register of 32 bits or a predicate
 * is written by one instruction, before it is read, and read by instructions alone.
 */
export function conditionsForNumbers(
  instructions: readonly Instruction[],
  isValue: (register: number) => boolean,
): readonly Instruction[] {
  const choices = new Choices();
  let hasChanged = false;
  const mapped = instructions.map((instruction) => {
    const { op, dst, guard, lanes } = instruction;
    if (op.kind !== "pure" || lanes !== undefined || (choices.isEmpty && !op.values.some(mayChoose)))
      return instruction;
    const result = mapOperands(instruction, (expr) => choices.simplified(expr));
    hasChanged ||= result !== instruction;
    if (guard === null && result.op.kind === "pure") {
      result.op.values.forEach((value, i) => {
        const to = dst[i];
        if (typeof to === "number" && isValue(to)) choices.note(to, value, isValue);
      });
    }
    return result;
  });
  return hasChanged ? withoutUnread(mapped, isValue) : instructions;
}

/** Whether a value may be a number that is chosen by a condition. */
const mayChoose = (expr: Expr): boolean =>
  expr.kind === "prim" && (expr.prim === "i32.select" || expr.args.some(mayChoose));

/** What is known of registers. */
class Choices {
  readonly #known = new Map<number, Choice>();

  get isEmpty(): boolean {
    return this.#known.size === 0;
  }

  /** Remembers what a register holds, if it is a choice between constants by what does not change. */
  note(register: number, value: Expr, isValue: (register: number) => boolean): void {
    if (value.ty !== "i32") return;
    const choice = this.#choiceOf(value);
    if (choice?.kind === "choice" && isLasting(choice, isValue)) this.#known.set(register, choice);
  }

  /** The expression with comparisons of choices replaced by conditions. */
  simplified(expr: Expr): Expr {
    if (expr.kind !== "prim") return expr;
    const args = mapChanged(expr.args, (arg) => this.simplified(arg));
    const same = args === expr.args ? expr : { ...expr, args };
    if (same.ty !== "pred") return same;
    if (same.prim === "pred.not") return args[0]!.kind === "prim" ? negated(args[0]!) : same;
    if (!/^i32\.(eq|ne|l[te]_[su])$/.test(same.prim)) return same;
    const compared = this.#compared(same);
    return compared === null ? same : conditionOf(compared);
  }

  /** A comparison with a constant as a choice between true and false; null if it is none. */
  #compared(expr: Extract<Expr, { kind: "prim" }>): Choice | null {
    const [a, b] = expr.args as readonly [Expr, Expr];
    const varying = b.kind === "const" ? a : a.kind === "const" ? b : null;
    const choice = varying === null ? null : this.#choiceOf(varying);
    return choice?.kind === "choice" ? mapChoice(choice, (value) => folded(expr, varying!, value)) : null;
  }

  #choiceOf(expr: Expr): Choice | null {
    if (expr.kind === "const") return { kind: "const", value: expr };
    if (expr.kind === "reg") return expr.ty === "i32" ? (this.#known.get(expr.reg) ?? null) : null;
    if (expr.kind !== "prim") return null;
    const { prim, args } = expr;
    if (prim === "i32.select") {
      const [yes, no] = [this.#choiceOf(args[1]!), this.#choiceOf(args[2]!)];
      if (yes === null || no === null || constantsIn(yes) + constantsIn(no) > maxConstants) return null;
      return choiceBetween(args[0]!, yes, no);
    }
    if (!/^i32\.(add|sub|and|or|xor|shl|shr_[su])$/.test(prim)) return null;
    const [a, b] = [this.#choiceOf(args[0]!), this.#choiceOf(args[1]!)];
    if (a === null || b === null || constantsIn(a) * constantsIn(b) > maxConstants) return null;
    return mapChoice(a, (left) =>
      mapChoice(b, (right) => ({ kind: "const", value: bind({ ...expr, args: [left, right] }, {}) })),
    );
  }
}

const constantsIn = (choice: Choice): number =>
  choice.kind === "const" ? 1 : constantsIn(choice.yes) + constantsIn(choice.no);

/** The choice with something else in place of each constant. */
const mapChoice = (choice: Choice, map: (value: Expr) => Choice): Choice =>
  choice.kind === "const"
    ? map(choice.value)
    : choiceBetween(choice.when, mapChoice(choice.yes, map), mapChoice(choice.no, map));

function choiceBetween(when: Expr, yes: Choice, no: Choice): Choice {
  if (yes.kind === "const" && no.kind === "const" && isSameConstant(yes.value, no.value)) return yes;
  if (when.kind === "const") return when.value === true ? yes : no;
  return { kind: "choice", when, yes, no };
}

const isSameConstant = (a: Expr, b: Expr): boolean => a.kind === "const" && b.kind === "const" && a.value === b.value;

/** The result of a comparison in which a constant stands for what varies. */
const folded = (expr: Extract<Expr, { kind: "prim" }>, varying: Expr, value: Expr): Choice => ({
  kind: "const",
  value: bind({ ...expr, args: expr.args.map((arg) => (arg === varying ? value : arg)) }, {}),
});

/** Whether all conditions of a choice are the same wherever it is read. */
function isLasting(choice: Choice, isValue: (register: number) => boolean): boolean {
  if (choice.kind === "const") return true;
  return isLastingExpr(choice.when, isValue) && isLasting(choice.yes, isValue) && isLasting(choice.no, isValue);
}

const isLastingExpr = (expr: Expr, isValue: (register: number) => boolean): boolean =>
  expr.kind === "const" ||
  (expr.kind === "reg" && isValue(expr.reg)) ||
  (expr.kind === "prim" && expr.args.every((arg) => isLastingExpr(arg, isValue)));

/** A choice between true and false as a condition. */
function conditionOf(choice: Choice): Expr {
  if (choice.kind === "const") return choice.value;
  const { when, yes, no } = choice;
  const [a, b] = [conditionOf(yes), conditionOf(no)];
  if (isTrue(a)) return isFalse(b) ? when : kit.op("pred.or", when, b);
  if (isFalse(a)) return isTrue(b) ? negated(when) : kit.op("pred.and", negated(when), b);
  if (isTrue(b)) return kit.op("pred.or", negated(when), a);
  if (isFalse(b)) return kit.op("pred.and", when, a);
  return kit.op("pred.or", kit.op("pred.and", when, a), kit.op("pred.and", negated(when), b));
}

const isTrue = (expr: Expr): boolean => expr.kind === "const" && expr.value === true;
const isFalse = (expr: Expr): boolean => expr.kind === "const" && expr.value === false;

function negated(expr: Expr): Expr {
  if (expr.kind === "const") return kit.pred(expr.value !== true);
  if (expr.kind !== "prim") return kit.not(expr);
  if (expr.prim === "pred.not") return expr.args[0]!;
  const other = expr.prim === "pred.or" ? "pred.and" : expr.prim === "pred.and" ? "pred.or" : null;
  const [a, b] = expr.args as readonly [Expr, Expr];
  return other !== null && (isNegation(a) || isNegation(b)) ? kit.op(other, negated(a), negated(b)) : kit.not(expr);
}

const isNegation = (expr: Expr): boolean => expr.kind === "prim" && expr.prim === "pred.not";

/**
 * Does nothing where a register is computed that nothing reads, nor anything that is computed of it. `isValue`: as
 * above.
 */
function withoutUnread(
  instructions: readonly Instruction[],
  isValue: (register: number) => boolean,
): readonly Instruction[] {
  const readers = new Map<number, number>();
  const writers = new Map<number, number>();
  instructions.forEach((instruction, i) => {
    readsOf(instruction, { register: (r) => readers.set(r, (readers.get(r) ?? 0) + 1) });
    writesOf(instruction, (r) => writers.set(r, i));
  });
  const result = [...instructions];
  const isUnread = (i: number): boolean => {
    const { op, dst } = result[i]!;
    return (
      op.kind === "pure" &&
      dst.length > 0 &&
      dst.every((to) => typeof to === "number" && isValue(to) && (readers.get(to) ?? 0) === 0)
    );
  };
  for (const start of instructions.keys()) {
    for (const todo = [start]; todo.length > 0; ) {
      const i = todo.pop()!;
      if (!isUnread(i)) continue;
      const unread = result[i]!;
      result[i] = { ...unread, op: { kind: "nothing" }, dst: [], guard: null };
      readsOf(unread, {
        register: (r) => {
          readers.set(r, readers.get(r)! - 1);
          if (writers.has(r)) todo.push(writers.get(r)!);
        },
      });
    }
  }
  return result;
}
