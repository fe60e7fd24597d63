import type { Instruction } from "../../../../ir/index.ts";
import { mapOperands } from "../../../../ir/operands.ts";
import { type Expr, kit, mapChanged } from "../../../../semantics/index.ts";

/**
 * Writes sums for `or`s of disjoint bits: compilers emit `x | 1` for `x + 1` where the lowest bit of x is 0. As a sum
 * it is recognized as the address of a neighbour. `once`: whether a register is written by one instruction, before it
 * is read.
 */
export function addsForDisjointOrs(
  instructions: readonly Instruction[],
  once: (register: number) => boolean,
): readonly Instruction[] {
  const bits = new KnownLowBits();
  const asSum = (expr: Expr): Expr => bits.asSum(expr);
  return instructions.map((instruction) => {
    const { op, dst, guard, lanes } = instruction;
    if (op.kind !== "pure") return instruction;
    const mapped = mapOperands(instruction, asSum);
    if (guard === null && lanes === undefined && mapped.op.kind === "pure") {
      mapped.op.values.forEach((value, i) => {
        const to = dst[i];
        if (typeof to === "number" && once(to)) bits.remember(to, value);
      });
    }
    return mapped;
  });
}

/** The number of low bits that are 0 in every lane, by register and by expression. */
class KnownLowBits {
  readonly #registers = new Map<number, number>();
  readonly #memo = new Map<Expr, number>();

  remember(register: number, value: Expr): void {
    const zeros = this.#zeros(value);
    if (zeros > 0) this.#registers.set(register, zeros);
  }

  asSum(expr: Expr): Expr {
    if (expr.kind !== "prim") return expr;
    const args = mapChanged(expr.args, (a) => this.asSum(a));
    if (expr.prim === "i32.or" || expr.prim === "i64.or") {
      const [a, b] = args;
      if (this.#fits(a!, b!) || this.#fits(b!, a!)) return kit.add(a!, b!);
    }
    return args === expr.args ? expr : { ...expr, args };
  }

  /** Whether a constant has bits only where the other operand has none. */
  #fits(value: Expr, constant: Expr): boolean {
    if (constant.kind !== "const" || typeof constant.value === "boolean") return false;
    const bits = Number(constant.value);
    return bits >= 0 && bits < 2 ** this.#zeros(value);
  }

  #zeros(expr: Expr): number {
    if (expr.kind === "reg") return this.#registers.get(expr.reg) ?? 0;
    if (expr.kind === "const") return typeof expr.value === "boolean" ? 0 : zerosOf(expr.value);
    if (expr.kind !== "prim") return 0;
    let zeros = this.#memo.get(expr);
    if (zeros === undefined) this.#memo.set(expr, (zeros = this.#ofPrim(expr)));
    return zeros;
  }

  #ofPrim({ prim, args }: Extract<Expr, { kind: "prim" }>): number {
    const zeros = (i: number): number => this.#zeros(args[i]!);
    switch (prim) {
      case "i32.add":
      case "i32.sub":
      case "i64.add":
      case "i64.sub":
      case "i32.or":
      case "i64.or":
        return Math.min(zeros(0), zeros(1));
      case "i32.mul":
      case "i64.mul":
        return Math.min(30, zeros(0) + zeros(1));
      case "i32.shl":
      case "i64.shl": {
        const [, count] = args;
        const by = count?.kind === "const" ? Number(count.value) : 0;
        return Math.min(30, zeros(0) + Math.max(0, by));
      }
      case "i64.extend_i32_s":
      case "i64.extend_i32_u":
      case "i32.wrap_i64":
        return zeros(0);
      default:
        return 0;
    }
  }
}

function zerosOf(value: number | bigint): number {
  const low = typeof value === "number" ? value | 0 : Number(BigInt.asIntN(32, value));
  return low === 0 ? 30 : Math.min(30, 31 - Math.clz32(low & -low));
}
