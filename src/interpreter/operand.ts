import { type Expr, kit } from "../semantics/index.ts";
import { type Bindings, bind, bitsOf, splitOffset } from "./bind.ts";
import type { Assignment, ExprCompiler, FunctionContext, Run } from "./expr-compiler.ts";
import type { Slot } from "./register-file.ts";

/** The address of an access: a register (or nothing, for an address known beforehand) plus a constant. */
export interface AddressOperand {
  /** Null: the address is `offset`, or `offset` bytes behind the start of the frame. */
  readonly slot: Slot | null;
  readonly offset: number;
  readonly high: number;
  readonly inFrame: boolean;
}

const nothing: Run = () => {};

/**
 * Prepares the operands of one instruction. A plain register is used where it lies; any other expression is computed into
 * a temporary by `prepare`, which the instruction runs first.
 */
export class Operands {
  readonly #context: FunctionContext;
  readonly #bindings: Bindings;
  readonly #compiler: ExprCompiler;
  readonly #memo = new Map<Expr, Expr>();
  readonly #assignments: Assignment[] = [];

  constructor(context: FunctionContext, bindings: Bindings, compiler: ExprCompiler) {
    this.#context = context;
    this.#bindings = bindings;
    this.#compiler = compiler;
  }

  bind(expr: Expr): Expr {
    return bind(expr, this.#bindings, this.#memo);
  }

  /** The register that holds the value when `prepare` has run. */
  slot(expr: Expr): Slot {
    const bound = bitsOf(this.bind(expr));
    if (bound.kind === "reg") return this.#context.file.slot(bound.reg);
    const known = this.#assignments.find((a) => a.value === bound);
    if (known !== undefined) return known.to;
    const to = this.#context.file.temporary(bound.ty);
    this.#assignments.push({ value: bound, to });
    return to;
  }

  address(expr: Expr): AddressOperand {
    const { base, offset } = splitOffset(this.bind(expr));
    if (base === null) {
      const address = BigInt.asUintN(expr.ty === "i64" ? 64 : 32, offset);
      return { slot: null, offset: Number(address & 0xffff_ffffn), high: Number(address >> 32n), inFrame: false };
    }
    if (base.kind === "frame" && !base.generic) {
      const at = this.#context.frameOffset(base.variable) + base.offset + Number(offset);
      return { slot: null, offset: at, high: 0, inFrame: true };
    }
    const small = Number(offset);
    if (Number.isSafeInteger(small) && Math.abs(small) < 2 ** 31) {
      return { slot: this.slot(base), offset: small, high: 0, inFrame: false };
    }
    return { slot: this.slot(kit.add(base, kit.int(base, offset))), offset: 0, high: 0, inFrame: false };
  }

  /** Computes the temporaries. Call after all operands have been asked for. */
  get prepare(): Run {
    return this.#assignments.length === 0 ? nothing : this.assign(this.#assignments);
  }

  /** Code is made when it is first run: much of a large kernel never is. */
  assign(assignments: readonly Assignment[]): Run {
    let run: Run | null = null;
    return (x, mask) => {
      run ??= this.#compiler.assign(this.#context, assignments);
      run(x, mask);
    };
  }
}
