import { writesOf } from "../../../../ir/flow/accesses.ts";
import type { Instruction, IrFunction } from "../../../../ir/index.ts";
import { type Expr, kit } from "../../../../semantics/index.ts";
import { isClock } from "./special-registers.ts";

/** A sum: multiples of registers as they were when the block began, and of what does not change in it. */
interface Sum {
  readonly constant: bigint;
  readonly registers: ReadonlyMap<number, { readonly leaf: Expr; readonly factor: bigint }>;
  readonly others: readonly { readonly expr: Expr; readonly factor: bigint }[];
}

/** Larger expressions are not put together. */
const maxSize = 64;

/** What the registers of a block hold, in terms of what they held when it began, as far as pure instructions tell. */
export class BlockInduction {
  readonly #registers: IrFunction["registers"];
  readonly #instructions: readonly Instruction[];
  readonly #written = new Set<number>();
  /** By register that has been written; null: not known. */
  readonly #now = new Map<number, Expr | null>();
  #done = 0;

  constructor({ registers }: IrFunction, instructions: readonly Instruction[]) {
    this.#registers = registers;
    this.#instructions = instructions;
    for (const instruction of instructions) writesOf(instruction, (r) => this.#written.add(r));
  }

  /** An expression before the n-th instruction, in terms of the beginning; null where that is not known. `n` only grows. */
  early(expr: Expr, n: number): Expr | null {
    this.#advance(n);
    const early = this.#replaced(expr);
    return early !== null && sizeOf(early, maxSize) <= maxSize ? early : null;
  }

  /** By how much an expression (in terms of the beginning) grows from round to round, if the block is a loop; or null. */
  step(early: Expr): Expr | null {
    this.#advance(this.#instructions.length);
    const before = this.#sumOf(early);
    if (before === null) return null;
    let change = nothing;
    for (const [register, { leaf, factor }] of before.registers) {
      if (!this.#written.has(register)) continue;
      const behind = this.#replaced(leaf);
      const after = behind === null || sizeOf(behind, maxSize) > maxSize ? null : this.#sumOf(behind);
      if (after === null) return null;
      change = added(added(change, after, factor), this.#sumOf(leaf)!, -factor);
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
    for (; this.#done < n; this.#done++) this.#pass(this.#instructions[this.#done]!);
  }

  #pass(instruction: Instruction): void {
    const { op, dst, guard, lanes } = instruction;
    const isPlain = op.kind === "pure" && guard === null && lanes === undefined;
    const values = isPlain ? op.values.map((value) => this.#replaced(value)) : [];
    writesOf(instruction, (r) => this.#now.set(r, null));
    dst.forEach((to, i) => {
      const value = values[i];
      if (typeof to !== "number" || value == null || sizeOf(value, maxSize) > maxSize) return;
      // What is narrower than the value loses bits.
      if (this.#registers[to]!.bits >= 32) this.#now.set(to, value);
    });
  }

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

  /** Null where something that changes is more than added. */
  #sumOf(expr: Expr): Sum | null {
    const constant = integerOf(expr);
    if (constant !== null) return { ...nothing, constant };
    if (expr.kind === "reg") return { ...nothing, registers: new Map([[expr.reg, { leaf: expr, factor: 1n }]]) };
    if (expr.kind === "prim") {
      const [a, b] = expr.args as readonly [Expr, Expr];
      switch (expr.prim) {
        case "i32.add":
        case "i64.add":
          return this.#added(a, b, 1n);
        case "i32.sub":
        case "i64.sub":
          return this.#added(a, b, -1n);
        case "i32.mul":
        case "i64.mul":
        case "i32.shl":
        case "i64.shl": {
          const by = integerOf(b);
          const sum = by === null ? null : this.#sumOf(a);
          if (sum === null) break;
          if (!expr.prim.endsWith("shl")) return added(nothing, sum, by!);
          if (by! >= 0n && by! < 32n) return added(nothing, sum, 1n << by!);
          break;
        }
      }
    }
    return this.#changes(expr) ? null : { ...nothing, others: [{ expr, factor: 1n }] };
  }

  #added(a: Expr, b: Expr, factor: bigint): Sum | null {
    const [left, right] = [this.#sumOf(a), this.#sumOf(b)];
    return left === null || right === null ? null : added(left, right, factor);
  }

  #changes(expr: Expr): boolean {
    if (expr.kind === "reg") return this.#written.has(expr.reg);
    return expr.kind === "prim" && expr.args.some((arg) => this.#changes(arg));
  }
}

const nothing: Sum = { constant: 0n, registers: new Map(), others: [] };

/** `a + b * factor`. */
function added(a: Sum, b: Sum, factor: bigint): Sum {
  const registers = new Map(a.registers);
  for (const [register, { leaf, factor: times }] of b.registers) {
    registers.set(register, { leaf, factor: (registers.get(register)?.factor ?? 0n) + times * factor });
  }
  const others = b.others.map(({ expr, factor: times }) => ({ expr, factor: times * factor }));
  return { constant: a.constant + b.constant * factor, registers, others: [...a.others, ...others] };
}

const integerOf = (expr: Expr): bigint | null =>
  expr.kind === "const" && (expr.ty === "i32" || expr.ty === "i64") ? BigInt(expr.value as number | bigint) : null;

/** How many parts an expression has; from `most` on it is not counted further. */
function sizeOf(expr: Expr, most: number): number {
  if (expr.kind !== "prim") return 1;
  let size = 1;
  for (const arg of expr.args) if (size <= most) size += sizeOf(arg, most - size);
  return size;
}
