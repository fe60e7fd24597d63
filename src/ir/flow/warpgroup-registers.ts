import type { Instruction, IrFunction, WarpgroupProduct } from "../index.ts";
import { productOperands } from "../index.ts";
import { readsOf, writesOf } from "./accesses.ts";

/** The registers that a product uses. */
export interface ProductRegisters {
  readonly product: WarpgroupProduct;
  /** C and D are the same. */
  readonly accumulators: readonly number[];
  /** A, if it is in registers. */
  readonly left: readonly number[];
}

/** What an instruction that is no product does to registers that products use. */
export interface Touched {
  readonly reads: readonly number[];
  readonly writes: readonly number[];
  /** Registers that become copies of others, and may be the accumulators of later products instead of these. */
  readonly copies: ReadonlyMap<number, number>;
}

const nothing: Touched = { reads: [], writes: [], copies: new Map() };

/** The registers that an instruction multiplies, or null if it multiplies none. */
function productOf({ op, dst }: Instruction): ProductRegisters | null {
  if (op.kind !== "unit" || op.unit.op !== "multiply-warpgroup") return null;
  const { product } = op.unit;
  const isRegister = (to: (typeof dst)[number]): to is number => typeof to === "number";
  const { registersOfA: first } = productOperands;
  const left = product.left.kind === "registers" ? op.operands.slice(first, first + 4) : [];
  return {
    product,
    accumulators: dst.filter(isRegister),
    left: left.flatMap((expr) => (expr.kind === "reg" ? [expr.reg] : [])),
  };
}

/** How the instructions of a function use the registers of its products. */
export class RegisterUses {
  readonly products: readonly (ProductRegisters | null)[];
  readonly #instructions: readonly Instruction[];
  readonly #accumulators = new Set<number>();
  readonly #used = new Set<number>();
  readonly #touched: (Touched | undefined)[] = [];

  constructor({ instructions }: IrFunction) {
    this.#instructions = instructions;
    this.products = instructions.map(productOf);
    for (const found of this.products) {
      for (const register of found?.accumulators ?? []) this.#accumulators.add(register);
      for (const register of found?.left ?? []) this.#used.add(register);
    }
    if (this.#accumulators.size > 0) this.#followCopies();
    for (const register of this.#accumulators) this.#used.add(register);
  }

  /** Whether the function has products. */
  get any(): boolean {
    return this.#used.size > 0;
  }

  touched(index: number): Touched {
    return (this.#touched[index] ??= this.#find(this.#instructions[index]!));
  }

  /** Copies of accumulators that become accumulators, in one step or several: compilers write them at ends of loops. */
  #followCopies(): void {
    const pairs = this.#instructions.flatMap((instruction) => [...copiesOf(instruction)]);
    for (let size = -1; size !== this.#accumulators.size; ) {
      size = this.#accumulators.size;
      for (const [to, from] of pairs) if (this.#accumulators.has(to)) this.#accumulators.add(from);
    }
  }

  #find(instruction: Instruction): Touched {
    const reads = new Set<number>();
    const writes = new Set<number>();
    readsOf(instruction, { register: (register) => void (this.#used.has(register) && reads.add(register)) });
    writesOf(instruction, (register) => void (this.#used.has(register) && writes.add(register)));
    if (reads.size + writes.size === 0) return nothing;
    const copies = new Map([...copiesOf(instruction)].filter(([to]) => this.#accumulators.has(to)));
    return { reads: [...reads], writes: [...writes], copies };
  }
}

/** The registers that an instruction makes copies of others, by the copy. */
function copiesOf({ op, dst }: Instruction): Map<number, number> {
  const found = new Map<number, number>();
  if (op.kind !== "pure") return found;
  op.values.forEach((value, i) => {
    const to = dst[i];
    if (value.kind === "reg" && typeof to === "number") found.set(to, value.reg);
  });
  return found;
}

const uses = new WeakMap<IrFunction, RegisterUses>();

/** How the instructions of a function use the registers of its products, found once. */
export function registerUsesOf(ir: IrFunction): RegisterUses {
  let found = uses.get(ir);
  if (found === undefined) uses.set(ir, (found = new RegisterUses(ir)));
  return found;
}
