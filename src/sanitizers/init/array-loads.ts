import { accessesOf, type Instruction, type IrFunction, type MemoryAccess } from "../../ir/index.ts";
import { operandsOf } from "../../ir/flow/accesses.ts";
import type { Expr } from "../../semantics/index.ts";

/** Of an address: the frame variable in which it lies, and whether it is computed from what is not constant. */
interface Within {
  readonly variable: number;
  readonly isIndexed: boolean;
}

/** Combines what is known of an address, or of addresses that a register may hold. Several variables are none. */
const joined = (a: Within | null, b: Within | null): Within | null | "several" =>
  a === null ? b : b === null ? a : a.variable === b.variable ? { ...a, isIndexed: true } : "several";

const known = new WeakMap<IrFunction, ReadonlySet<Instruction>>();

/**
 * The loads of a function that read elements of arrays in its frame: at a computed index, from a variable that is only
 * accessed in elements of one size. Such a variable has no padding, whatever of it is unwritten.
 */
export function arrayLoadsOf(ir: IrFunction): ReadonlySet<Instruction> {
  let loads = known.get(ir);
  if (loads === undefined) known.set(ir, (loads = new FrameUse(ir).arrayLoads()));
  return loads;
}

/** What the instructions of a function do with the variables of its frame. */
class FrameUse {
  readonly #ir: IrFunction;
  readonly #registers = new Map<number, Within>();
  /** Variables whose addresses go where they are not followed. */
  readonly #escaped = new Set<number>();
  /** Expressions share parts: each part is visited once, as long as the registers stay the same. */
  readonly #seen = new Map<Expr, Within | null>();

  constructor(ir: IrFunction) {
    this.#ir = ir;
    if (ir.frame.length > 0) this.#follow();
  }

  arrayLoads(): ReadonlySet<Instruction> {
    const bits = new Map<number, Set<number>>();
    const loads: (readonly [Instruction, number])[] = [];
    for (const instruction of this.#ir.instructions) {
      const accesses = accessesOf(instruction.op);
      for (const access of accesses) {
        const place = addressOf(access);
        const within = place === null ? null : this.#within(place);
        if (within === null) continue;
        const sizes = bits.get(within.variable) ?? new Set();
        bits.set(within.variable, sizes.add(access.access.bits));
        if (access.effect === "load" && within.isIndexed) loads.push([instruction, within.variable]);
      }
      this.#noteEscapes(instruction, accesses);
    }
    const isArray = (v: number): boolean => bits.get(v)?.size === 1 && !this.#escaped.has(v);
    return new Set(loads.flatMap(([instruction, variable]) => (isArray(variable) ? [instruction] : [])));
  }

  /** Finds the registers that hold addresses of variables. */
  #follow(): void {
    const writes = new Map<number, number>();
    const computed = this.#ir.instructions.filter(({ op }) => op.kind === "pure");
    for (const { dst } of this.#ir.instructions)
      for (const to of dst) if (typeof to === "number") writes.set(to, (writes.get(to) ?? 0) + 1);
    for (let changes = true; changes; ) {
      changes = false;
      this.#seen.clear();
      for (const { op, dst } of computed) {
        if (op.kind !== "pure") continue;
        op.values.forEach((value, i) => {
          const to = dst[i];
          const found = typeof to === "number" ? this.#within(value) : null;
          if (found === null || typeof to !== "number") return;
          const before = this.#registers.get(to) ?? null;
          const after = before === null ? found : joined(before, found);
          if (after === "several" || after === null) {
            this.#escaped.add(found.variable).add(before!.variable);
            return;
          }
          // A pointer that is moved along has been written more than once.
          const isIndexed = found.isIndexed || before?.isIndexed === true || (writes.get(to) ?? 0) > 1;
          if (before !== null && before.isIndexed === isIndexed) return;
          this.#seen.clear();
          this.#registers.set(to, { variable: after.variable, isIndexed });
          changes = true;
        });
      }
    }
  }

  /** The variable in which an address lies, if it is one. */
  #within(expr: Expr): Within | null {
    let within = this.#seen.get(expr);
    if (within === undefined) this.#seen.set(expr, (within = this.#lookAt(expr)));
    return within;
  }

  #lookAt(expr: Expr): Within | null {
    switch (expr.kind) {
      case "frame":
        return { variable: expr.variable, isIndexed: false };
      case "reg":
        return this.#registers.get(expr.reg) ?? null;
      case "prim": {
        const found = expr.args.map((arg) => this.#within(arg));
        let all: Within | null = null;
        for (const one of found) {
          const next = joined(all, one);
          if (next === "several") {
            for (const each of found) if (each !== null) this.#escaped.add(each.variable);
            return null;
          }
          all = next;
        }
        if (all === null) return null;
        const isIndexed = all.isIndexed || expr.args.some((arg, i) => found[i] === null && !isConstant(arg));
        return { ...all, isIndexed };
      }
      default:
        return null;
    }
  }

  /** Addresses that are stored, passed or compared to others may be used in ways that are not followed. */
  #noteEscapes({ op, dst }: Instruction, accesses: readonly MemoryAccess[]): void {
    if (op.kind === "pure" && dst.every((to) => typeof to === "number")) return;
    const addresses = new Set(accesses.map(addressOf));
    for (const expr of operandsOf(op)) {
      const within = addresses.has(expr) ? null : this.#within(expr);
      if (within !== null) this.#escaped.add(within.variable);
    }
  }
}

const addressOf = ({ place }: MemoryAccess): Expr | null => (place.kind === "address" ? place.address : null);

/** Whether an expression is the same in all executions: what takes an address from one space to another is. */
const isConstant = (expr: Expr): boolean =>
  expr.kind === "const" ||
  expr.kind === "symbol" ||
  (expr.kind === "special" && expr.name === "window") ||
  (expr.kind === "prim" && expr.args.every(isConstant));
