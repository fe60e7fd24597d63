import { bind, type Bindings, bitsOf, type RegisterLeaf } from "../../semantics/bind.ts";
import { type Expr, kit } from "../../semantics/index.ts";
import type { Instruction } from "../instruction.ts";
import type { Register } from "../module.ts";
import { mapOperands } from "../operands.ts";
import { readsOf } from "./accesses.ts";

/** Code in which constants are propagated. */
export interface ConstantCode {
  readonly instructions: readonly Instruction[];
  /** The registers that hold nothing but a constant, which nothing reads any more. */
  readonly constants: ReadonlyMap<number, Expr>;
}

/**
 * Propagates constants: replaces registers that hold nothing else. `once`: whether a register is written by one
 * instruction, before it is read.
 */
export function propagateConstants(
  registers: readonly Register[],
  instructions: readonly Instruction[],
  bindings: Partial<Bindings>,
  once: (register: number) => boolean,
): ConstantCode {
  const known = new Map<number, Expr>();
  const register = (leaf: RegisterLeaf): Expr => {
    const value = known.get(leaf.reg);
    return value === undefined ? leaf : kit.bitcast(value, leaf.ty);
  };
  const withRegisters: Partial<Bindings> = { ...bindings, register };
  const memo = new Map<Expr, Expr>();
  const bound = (expr: Expr): Expr => bitsOf(bind(expr, withRegisters, memo));
  const readsKnown = (instruction: Instruction): boolean => {
    let found = false;
    const look = (r: number): void => {
      found ||= known.has(r);
    };
    if (known.size > 0) readsOf(instruction, { register: look });
    return found;
  };
  const replaced = instructions.map((instruction) => {
    // From here on the register is a constant: expressions bound before are out of date.
    const mapped = readsKnown(instruction) ? mapOperands(instruction, bound) : instruction;
    const { op, dst, guard, lanes } = mapped;
    if (op.kind !== "pure" || guard !== null || lanes !== undefined) return mapped;
    op.values.forEach((value, i) => {
      const to = dst[i];
      const bits = bitsOf(value);
      if (typeof to !== "number" || bits.kind !== "const" || !once(to)) return;
      known.set(to, narrowed(bits, registers[to]!.bits));
      memo.clear();
    });
    return mapped;
  });
  return { instructions: replaced, constants: known };
}

const narrowed = (value: Expr, bits: number): Expr =>
  value.kind === "const" && value.ty === "i32" && bits < 32
    ? kit.i32((value.value as number) & (2 ** bits - 1))
    : value;
