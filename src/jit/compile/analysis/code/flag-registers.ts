import { operandsOf, readsOf, writesOf } from "../../../../ir/flow/accesses.ts";
import type { Instruction, Register } from "../../../../ir/index.ts";
import { mapOperands } from "../../../../ir/operands.ts";
import { type Expr, kit, mapChanged } from "../../../../semantics/index.ts";

type Prim = Extract<Expr, { kind: "prim" }>;

/**
 * Makes predicates of flags: registers of numbers that are never anything but 0 and 1, and are only compared with
 * these. Compilers keep a variable of type bool so that lives across branches and barriers. As a number it takes
 * comparisons, selections and extensions wherever it is read or written. `isFixed`: whether others than the
 * instructions know a register.
 */
export function predicatesForFlags<C extends { readonly instructions: readonly Instruction[] }>(
  code: C & { readonly registers: readonly Register[] },
  isFixed: (register: number) => boolean,
): { readonly instructions: readonly Instruction[]; readonly registers: readonly Register[] } {
  const { instructions, registers } = code;
  const flags = flagsOf(instructions, registers, isFixed);
  if (flags.size === 0) return code;
  const forms = new FlagForms(flags);
  return {
    instructions: instructions.map((instruction) => {
      const { op, dst } = instruction;
      if (op.kind !== "pure") return mapOperands(instruction, (expr) => forms.withPredicates(expr));
      const isFlag = (k: number): boolean => typeof dst[k] === "number" && flags.has(dst[k]);
      let k = 0;
      return mapOperands(instruction, (expr) => (isFlag(k++) ? forms.conditionOf(expr)! : forms.withPredicates(expr)));
    }),
    registers: registers.map((r, i) => (flags.has(i) ? { ...r, class: "pred", bits: 1, type: "pred" } : r)),
  };
}

/** The registers that are flags: all that may be, without those that something shows not to be. */
function flagsOf(
  instructions: readonly Instruction[],
  registers: readonly Register[],
  isFixed: (register: number) => boolean,
): ReadonlySet<number> {
  const flags = candidates(instructions, registers, isFixed);
  if (flags.size === 0) return flags;
  const [first, compared] = [new FlagForms(flags), new Set<number>()];
  for (let size = -1; size !== flags.size; ) {
    size = flags.size;
    compared.clear();
    for (const instruction of instructions) {
      const { op, dst, lanes } = instruction;
      const accepted = new Set<number>();
      const isRead = (r: number): boolean => {
        accepted.add(r);
        return true;
      };
      if (op.kind === "pure" && lanes === undefined) {
        op.values.forEach((value, k) => {
          const to = dst[k];
          if (typeof to === "number" && flags.has(to)) {
            if (first.conditionOf(value, isRead) === null) flags.delete(to);
          } else first.visitCompared(value, (r) => compared.add(r) && accepted.add(r));
        });
      } else {
        writesOf(instruction, (r) => flags.delete(r));
        for (const expr of operandsOf(op)) first.visitCompared(expr, (r) => compared.add(r) && accepted.add(r));
      }
      readsOf(instruction, { register: (r) => !accepted.has(r) && flags.delete(r) });
    }
  }
  // One that is compared only after it has been copied stays with those that are.
  return compared.size === 0 ? new Set() : flags;
}

/** The registers that may be flags as far as each value shows by itself; none if no constant is ever written to one. */
function candidates(
  instructions: readonly Instruction[],
  registers: readonly Register[],
  isFixed: (register: number) => boolean,
): Set<number> {
  const [found, others] = [new Set<number>(), new Set<number>()];
  let hasConstant = false;
  for (const instruction of instructions) {
    const { op, dst } = instruction;
    if (op.kind !== "pure") {
      writesOf(instruction, (r) => others.add(r));
      continue;
    }
    for (let k = 0; k < dst.length; k++) {
      const to = dst[k]!;
      if (typeof to !== "number" || registers[to]!.class !== "b32") continue;
      (mayBeFlag(op.values[k]!) ? found : others).add(to);
    }
  }
  for (const r of found) if (others.has(r) || registers[r]!.home !== undefined || isFixed(r)) found.delete(r);
  for (const { op, dst } of found.size === 0 ? [] : instructions) {
    if (op.kind !== "pure") continue;
    for (let k = 0; k < dst.length && !hasConstant; k++) {
      const to = dst[k]!;
      hasConstant = typeof to === "number" && found.has(to) && op.values[k]!.kind !== "reg";
    }
  }
  return hasConstant ? found : new Set();
}

/** Whether a value may be 0 or 1, at first sight. */
function mayBeFlag(value: Expr): boolean {
  if (value.kind === "const") return value.value === 0 || value.value === 1;
  return value.kind === "reg" || (value.kind === "prim" && /^i32\.(and|or|select)$/.test(value.prim));
}

/** What is written in place of flags. */
class FlagForms {
  readonly #flags: ReadonlySet<number>;

  constructor(flags: ReadonlySet<number>) {
    this.#flags = flags;
  }

  /** The condition for which a number that is 0 or 1 is 1; null where it may be another. `read`: is shown flags. */
  conditionOf(expr: Expr, read: (register: number) => boolean = () => true): Expr | null {
    if (expr.ty !== "i32") return null;
    if (expr.kind === "const") return expr.value === 0 || expr.value === 1 ? kit.pred(expr.value === 1) : null;
    if (expr.kind === "reg") {
      return this.#flags.has(expr.reg) && read(expr.reg) ? { kind: "reg", ty: "pred", reg: expr.reg } : null;
    }
    if (expr.kind !== "prim") return null;
    const { prim, args } = expr;
    if (/^i32\.extend(8|16)_s$/.test(prim)) return this.conditionOf(args[0]!, read);
    if (prim === "i32.select") {
      const [yes, no] = [this.conditionOf(args[1]!, read), this.conditionOf(args[2]!, read)];
      return yes === null || no === null ? null : chosen(this.withPredicates(args[0]!), yes, no);
    }
    if (prim !== "i32.and" && prim !== "i32.or") return null;
    const [a, b] = args as readonly [Expr, Expr];
    if (prim === "i32.and" && isOdd(b)) return this.conditionOf(a, read);
    if (prim === "i32.and" && isOdd(a)) return this.conditionOf(b, read);
    const [left, right] = [this.conditionOf(a, read), this.conditionOf(b, read)];
    return left === null || right === null ? null : kit.op(prim === "i32.and" ? "pred.and" : "pred.or", left, right);
  }

  /** The same value, with conditions in place of comparisons of flags. */
  withPredicates(expr: Expr): Expr {
    if (expr.kind !== "prim") return expr;
    const compared = this.#comparison(expr);
    if (compared !== null) return compared.isEqual ? compared.condition : kit.not(compared.condition);
    const args = mapChanged(expr.args, (arg) => this.withPredicates(arg));
    return args === expr.args ? expr : { ...expr, args };
  }

  /** Shows the flags that a value compares. */
  visitCompared(expr: Expr, visit: (register: number) => void): void {
    if (expr.kind !== "prim") return;
    const seen: number[] = [];
    const found = this.#comparison(expr, (r) => seen.push(r) > 0);
    if (found === null) for (const arg of expr.args) this.visitCompared(arg, visit);
    else for (const r of seen) visit(r);
  }

  /** A comparison of a flag with 0 or 1 as its condition, and whether it holds where that does. */
  #comparison(
    { prim, args }: Prim,
    read: (register: number) => boolean = () => true,
  ): { readonly condition: Expr; readonly isEqual: boolean } | null {
    if (prim !== "i32.eq" && prim !== "i32.ne") return null;
    const [a, b] = args as readonly [Expr, Expr];
    if (b.kind !== "const" || (b.value !== 0 && b.value !== 1)) return null;
    const condition = a.kind === "const" ? null : this.conditionOf(a, read);
    return condition && { condition, isEqual: (prim === "i32.eq") === (b.value === 1) };
  }
}

const isOdd = (expr: Expr): boolean =>
  expr.kind === "const" && typeof expr.value === "number" && (expr.value & 1) === 1;

/** One of two conditions. */
function chosen(when: Expr, yes: Expr, no: Expr): Expr {
  if (yes.kind === "const") return yes.value === true ? either(when, no) : both(kit.not(when), no);
  if (no.kind === "const") return no.value === true ? either(kit.not(when), yes) : both(when, yes);
  return either(both(when, yes), both(kit.not(when), no));
}

function either(a: Expr, b: Expr): Expr {
  if (b.kind === "const") return b.value === true ? b : a;
  return kit.op("pred.or", a, b);
}

function both(a: Expr, b: Expr): Expr {
  if (b.kind === "const") return b.value === true ? a : b;
  return kit.op("pred.and", a, b);
}
