import { writesOf } from "../../../../ir/flow/accesses.ts";
import type { IrFunction } from "../../../../ir/index.ts";
import type { Dim3 } from "../../../../machine/reports/report.ts";
import { bind, type Bindings } from "../../../../semantics/bind.ts";
import type { Expr } from "../../../../semantics/index.ts";
import { fold, type LeafValue } from "../../../../semantics/fold.ts";

type Value = ReturnType<typeof fold>;

const axes = ["x", "y", "z"] as const;

/** The values of expressions in each thread of a block, as far as they follow from the thread's numbers alone. */
export class ThreadValues {
  readonly #block: Dim3;
  readonly #bindings: Bindings;
  /** By register that is written in one place, before it is read, its value. */
  readonly #written = new Map<number, Expr>();
  readonly #known = new Map<number, boolean>();
  /** By thread, what has been computed. */
  readonly #values: readonly { readonly ofExpr: Map<Expr, Value>; readonly ofRegister: Map<number, Value> }[];

  /** `isSet`: whether a register is always written before it is read. */
  constructor(ir: IrFunction, block: Dim3, bindings: Bindings, isSet: (register: number) => boolean) {
    this.#block = block;
    this.#bindings = bindings;
    const writes = new Uint32Array(ir.registers.length);
    for (const instruction of ir.instructions) writesOf(instruction, (r) => writes[r]!++);
    for (const { op, dst, guard, lanes } of ir.instructions) {
      if (op.kind !== "pure" || guard !== null || lanes !== undefined) continue;
      dst.forEach((to, i) => {
        if (typeof to === "number" && writes[to] === 1 && isSet(to)) this.#written.set(to, op.values[i]!);
      });
    }
    this.#values = Array.from({ length: block[0] * block[1] * block[2] }, () => ({
      ofExpr: new Map<Expr, Value>(),
      ofRegister: new Map<number, Value>(),
    }));
  }

  get threads(): number {
    return this.#values.length;
  }

  /** By thread, the value of an integer; null where it depends on anything else. */
  of(expr: Expr): readonly number[] | null {
    if (!this.#isKnown(expr)) return null;
    return this.#values.map((_, thread) => {
      const value = this.#evaluate(expr, thread);
      return typeof value === "bigint" ? Number(BigInt.asUintN(64, value)) : Number(value) >>> 0;
    });
  }

  #isKnown(expr: Expr): boolean {
    switch (expr.kind) {
      case "const":
      case "symbol":
        return true;
      case "special":
        return /^n?tid\.[xyz]$/.test(expr.name);
      case "prim":
        return expr.args.every((arg) => this.#isKnown(arg));
      case "reg":
        return this.#isRegisterKnown(expr.reg) && this.#written.get(expr.reg)!.ty === expr.ty;
      default:
        return false;
    }
  }

  #isRegisterKnown(register: number): boolean {
    const known = this.#known.get(register);
    if (known !== undefined) return known;
    const value = this.#written.get(register);
    // One that is computed from itself is not.
    this.#known.set(register, false);
    const found = value !== undefined && this.#isKnown(value);
    this.#known.set(register, found);
    return found;
  }

  #evaluate(expr: Expr, thread: number): Value {
    const { ofExpr, ofRegister } = this.#values[thread]!;
    const leaf: LeafValue = (of) => {
      if (of.kind === "special") return this.#special(of.name, thread);
      if (of.kind !== "reg") return fold(bind(of, this.#bindings), leaf);
      let value = ofRegister.get(of.reg);
      if (value === undefined) ofRegister.set(of.reg, (value = this.#evaluate(this.#written.get(of.reg)!, thread)));
      return value;
    };
    return fold(expr, leaf, ofExpr);
  }

  #special(name: string, thread: number): number {
    const [x, y] = this.#block;
    const axis = axes.findIndex((of) => name.endsWith(of));
    if (name.startsWith("n")) return this.#block[axis]!;
    return [thread % x, Math.floor(thread / x) % y, Math.floor(thread / (x * y))][axis]!;
  }
}
