import { isClock } from "../../../../ir/clock.ts";
import { writesOf } from "../../../../ir/flow/accesses.ts";
import type { Instruction, IrFunction } from "../../../../ir/index.ts";
import { type Expr, kit } from "../../../../semantics/index.ts";
import { integerOf, type LeafExpr, LinearQuestion, type PrimExpr } from "../../../../ir/uniformity/linear-form.ts";

/**
 * Multiples of registers as they are when the block begins, of other values that do not change in it, and a constant.
 */
interface Sum {
  readonly constant: bigint;
  readonly registers: ReadonlyMap<number, { readonly leaf: Expr; readonly factor: bigint }>;
  readonly others: readonly { readonly expr: Expr; readonly factor: bigint }[];
}

/** Larger expressions are not put together. */
const maxSize = 64;

/**
 * The values of a block's registers in terms of those that they have when the block begins, as far as pure instructions
 * show it; and, if the block is a loop, the step of a value from round to round.
 *
 * The axis is the round. A step is found by difference: with the registers that one round leaves put in the place of
 * those with which it begins, an expression has the form that it will have one round later, and the difference of the
 * two forms is the step if nothing is left in it that changes. All is modulo 2^32 or 2^64: whether an address wraps
 * around on the way is for the bounds check to find out.
 */
export class BlockInduction {
  readonly #registers: IrFunction["registers"];
  readonly #instructions: readonly Instruction[];
  readonly #written = new Set<number>();
  /** By register that has been written, its value; null: not known. */
  readonly #now = new Map<number, Expr | null>();
  readonly #question = new RoundQuestion((r) => this.#written.has(r));
  #done = 0;

  constructor({ registers }: Pick<IrFunction, "registers">, instructions: readonly Instruction[]) {
    this.#registers = registers;
    this.#instructions = instructions;
    for (const instruction of instructions) writesOf(instruction, (r) => this.#written.add(r));
  }

  /**
   * An expression before the n-th instruction, in terms of the beginning; null where that is not known. `n` only grows.
   */
  early(expr: Expr, n: number): Expr | null {
    this.#advance(n);
    return this.#small(this.#replaced(expr));
  }

  /**
   * The step from round to round of an expression in terms of the beginning, if the block is a loop; null where there
   * is none.
   */
  step(early: Expr): Expr | null {
    this.#advance(this.#instructions.length);
    const before = this.#question.of(early);
    if (before === null) return null;
    let change = nothing;
    for (const [register, { leaf, factor }] of before.registers) {
      if (!this.#written.has(register)) continue;
      const next = this.#small(this.#replaced(leaf));
      const after = next === null ? null : this.#question.of(next);
      if (after === null) return null;
      change = combined(combined(change, after, factor), this.#question.of(leaf)!, -factor);
    }
    const terms = [...change.registers.values()].filter(({ factor }) => factor !== 0n);
    if (terms.some(({ leaf }) => leaf.kind === "reg" && this.#written.has(leaf.reg))) return null;
    const multiples = [...terms.map(({ leaf, factor }) => ({ expr: leaf, factor })), ...change.others];
    return multiples.reduce<Expr>(
      (sum, { expr, factor }) => kit.add(sum, factor === 1n ? expr : kit.mul(expr, kit.int(expr, factor))),
      kit.int(early, change.constant),
    );
  }

  #advance(n: number): void {
    for (; this.#done < n; this.#done++) this.#execute(this.#instructions[this.#done]!);
  }

  #execute(instruction: Instruction): void {
    const { op, dst, guard, lanes } = instruction;
    const isComputed = op.kind === "pure" && guard === null && lanes === undefined;
    const values = isComputed ? op.values.map((value) => this.#replaced(value)) : [];
    writesOf(instruction, (r) => this.#now.set(r, null));
    dst.forEach((to, i) => {
      const value = this.#small(values[i] ?? null);
      if (typeof to !== "number" || value === null) return;
      // A narrower register does not keep all bits of the value.
      if (this.#registers[to]!.bits >= 32) this.#now.set(to, value);
    });
  }

  #small(expr: Expr | null): Expr | null {
    return expr !== null && sizeOf(expr, maxSize) <= maxSize ? expr : null;
  }

  /** An expression with the present values of registers in their place. */
  #replaced(expr: Expr): Expr | null {
    switch (expr.kind) {
      case "const":
        return expr;
      case "special":
        return isClock(expr.name) ? null : expr;
      case "reg": {
        const value = this.#now.get(expr.reg);
        if (value === undefined) return expr;
        return value?.ty === expr.ty ? value : null;
      }
      case "prim": {
        const args: Expr[] = [];
        for (const arg of expr.args) {
          const value = this.#replaced(arg);
          if (value === null) return null;
          args.push(value);
        }
        return args.every((arg, i) => arg === expr.args[i]) ? expr : { ...expr, args };
      }
      default:
        return null;
    }
  }
}

/**
 * Asks what expressions are a sum of, at the beginning of a block. `changes`: whether a register changes in the block.
 */
class RoundQuestion extends LinearQuestion<Sum, bigint> {
  readonly #changes: (register: number) => boolean;

  constructor(changes: (register: number) => boolean) {
    super();
    this.#changes = changes;
  }

  protected leaf(expr: LeafExpr): Sum {
    const constant = integerOf(expr);
    if (constant !== null) return { ...nothing, constant };
    if (expr.kind === "reg") return { ...nothing, registers: new Map([[expr.reg, { leaf: expr, factor: 1n }]]) };
    return { ...nothing, others: [{ expr, factor: 1n }] };
  }

  protected sum(a: Sum, b: Sum, sign: 1 | -1): Sum {
    return combined(a, b, BigInt(sign));
  }

  protected factorOf(operand: Expr): bigint | null {
    return integerOf(operand);
  }

  protected power(exponent: number): bigint {
    return 1n << BigInt(exponent);
  }

  protected multiple(sum: Sum, by: bigint): Sum {
    return combined(nothing, sum, by);
  }

  protected extension(_operand: Expr, _signed: boolean, whole: PrimExpr): Sum | null {
    return this.#whole(whole);
  }

  protected truncation(_operand: Expr, whole: PrimExpr): Sum | null {
    return this.#whole(whole);
  }

  protected other(expr: PrimExpr): Sum | null {
    return this.#whole(expr);
  }

  /** An expression as a term of its own, which it can be if it does not change in the block. */
  #whole(expr: PrimExpr): Sum | null {
    return this.#varies(expr) ? null : { ...nothing, others: [{ expr, factor: 1n }] };
  }

  #varies(expr: Expr): boolean {
    if (expr.kind === "reg") return this.#changes(expr.reg);
    return expr.kind === "prim" && expr.args.some((arg) => this.#varies(arg));
  }
}

const nothing: Sum = { constant: 0n, registers: new Map(), others: [] };

/** `a + b * factor`. */
function combined(a: Sum, b: Sum, factor: bigint): Sum {
  const registers = new Map(a.registers);
  for (const [register, { leaf, factor: times }] of b.registers) {
    registers.set(register, { leaf, factor: (registers.get(register)?.factor ?? 0n) + times * factor });
  }
  const others = b.others.map(({ expr, factor: times }) => ({ expr, factor: times * factor }));
  return { constant: a.constant + b.constant * factor, registers, others: [...a.others, ...others] };
}

/** The number of nodes of an expression; counting stops beyond `most`. */
function sizeOf(expr: Expr, most: number): number {
  if (expr.kind !== "prim") return 1;
  let size = 1;
  for (const arg of expr.args) if (size <= most) size += sizeOf(arg, most - size);
  return size;
}
