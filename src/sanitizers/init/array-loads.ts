import {
  accessesOf,
  type FrameVariable,
  type Instruction,
  type IrFunction,
  type MemoryAccess,
} from "../../ir/index.ts";
import { operandsOf } from "../../ir/flow/accesses.ts";
import type { Expr } from "../../semantics/index.ts";

/** Of an address: the frame variable in which it lies, the object in it, and whether it is computed at run time. */
interface Within {
  readonly variable: number;
  /** Where the object begins in the variable; null is the address of a depot, from which those of its objects come. */
  readonly object: number | null;
  readonly isIndexed: boolean;
}

/** Combines what is known of an address, or of addresses that a register may hold. Several objects are none. */
const joined = (a: Within | null, b: Within | null): Within | null | "several" =>
  a === null || b === null
    ? (a ?? b)
    : a.variable === b.variable && a.object === b.object
      ? { ...a, isIndexed: true }
      : "several";

/**
 * LLVM puts all local objects of a function into one variable of this name, and computes the address of each object
 * that is indexed as that of the variable plus a constant, in a register of its own. Members of a structure come from
 * the address of the structure.
 */
const isDepot = ({ name }: FrameVariable): boolean => name.startsWith("__local_depot");

const known = new WeakMap<IrFunction, ReadonlySet<Instruction>>();

/**
 * The loads of a function that read elements of arrays in its frame: at a computed index, from a variable, or an
 * object of a compiler's depot, that is only accessed in elements of one size. It has no padding, whatever of it is
 * unwritten.
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
  /** Objects whose addresses go where they are not followed, by their variables; null: all of them. */
  readonly #escaped = new Map<number, Set<number | null>>();
  /** By depot, the places whose addresses registers hold: there its objects begin. */
  readonly #objects = new Map<number, Set<number>>();
  /** Expressions share parts: each part is visited once, as long as the registers stay the same. */
  readonly #seen = new Map<Expr, Within | null>();

  constructor(ir: IrFunction) {
    this.#ir = ir;
    if (ir.frame.length > 0) this.#follow();
  }

  arrayLoads(): ReadonlySet<Instruction> {
    /** The sizes of elements, by variable and object; null: the object is not known. */
    const sizes = new Map<number, Map<number | null, Set<number>>>();
    const loads: (readonly [Instruction, Within])[] = [];
    for (const instruction of this.#ir.instructions) {
      const accesses = accessesOf(instruction.op);
      for (const access of accesses) {
        const place = addressOf(access);
        const within = place === null ? null : this.#within(place);
        if (within === null) continue;
        const objects = sizes.get(within.variable) ?? new Map<number | null, Set<number>>();
        const object = this.#objectOf(within);
        sizes.set(within.variable, objects.set(object, (objects.get(object) ?? new Set()).add(access.access.bits)));
        if (access.effect === "load" && within.isIndexed) loads.push([instruction, within]);
      }
      this.#noteEscapes(instruction, accesses);
    }
    const isArray = (load: Within): boolean => {
      const object = this.#objectOf(load);
      const own = [...sizes.get(load.variable)!].filter(([other]) => mayBeSame(object, other));
      return new Set(own.flatMap(([, bits]) => [...bits])).size === 1 && !this.#hasEscaped(load.variable, object);
    };
    return new Set(loads.flatMap(([instruction, within]) => (isArray(within) ? [instruction] : [])));
  }

  /** Where the object of an access begins; null if it may be any. */
  #objectOf({ variable, object, isIndexed }: Within): number | null {
    if (object === null && isIndexed) return null;
    const begins = [...(this.#objects.get(variable) ?? [])].filter((begin) => begin <= (object ?? 0));
    return Math.max(0, ...begins);
  }

  #escape({ variable, object }: Within): void {
    const escaped = this.#escaped.get(variable) ?? new Set();
    this.#escaped.set(variable, escaped.add(object));
  }

  #hasEscaped(variable: number, object: number | null): boolean {
    const escaped = [...(this.#escaped.get(variable) ?? [])];
    return escaped.some(
      (begin) => begin === null || mayBeSame(object, this.#objectOf({ variable, object: begin, isIndexed: false })),
    );
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
            this.#escape(found);
            this.#escape(before!);
            return;
          }
          if (found.object !== null && isDepot(this.#ir.frame[found.variable]!)) this.#noteObject(found);
          // A pointer that is moved along has been written more than once.
          const isIndexed = found.isIndexed || before?.isIndexed === true || (writes.get(to) ?? 0) > 1;
          if (before !== null && before.isIndexed === isIndexed) return;
          this.#seen.clear();
          this.#registers.set(to, { ...after, isIndexed });
          changes = true;
        });
      }
    }
  }

  #noteObject({ variable, object }: Within): void {
    const begins = this.#objects.get(variable) ?? new Set();
    this.#objects.set(variable, begins.add(object ?? 0));
  }

  /** The object in which an address lies, if it is one. */
  #within(expr: Expr): Within | null {
    let within = this.#seen.get(expr);
    if (within === undefined) this.#seen.set(expr, (within = this.#lookAt(expr)));
    return within;
  }

  #lookAt(expr: Expr): Within | null {
    switch (expr.kind) {
      case "frame":
        return {
          variable: expr.variable,
          object: isDepot(this.#ir.frame[expr.variable]!) ? null : 0,
          isIndexed: false,
        };
      case "reg":
        return this.#registers.get(expr.reg) ?? null;
      case "prim": {
        const found = expr.args.map((arg) => this.#within(arg));
        let all: Within | null = null;
        for (const one of found) {
          const next = joined(all, one);
          if (next === "several") {
            for (const each of found) if (each !== null) this.#escape(each);
            return null;
          }
          all = next;
        }
        if (all === null) return null;
        const isIndexed = all.isIndexed || expr.args.some((arg, i) => found[i] === null && !isConstant(arg));
        return { ...all, object: all.object ?? (isIndexed ? null : constantSum(expr)), isIndexed };
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
      if (within !== null) this.#escape(within);
    }
  }
}

/** Whether two objects of a variable may be one; null is any. */
const mayBeSame = (a: number | null, b: number | null): boolean => a === null || b === null || a === b;

const addressOf = ({ place }: MemoryAccess): Expr | null => (place.kind === "address" ? place.address : null);

/** What a sum adds to an address; null for what is no sum with a constant. */
function constantSum(expr: Extract<Expr, { kind: "prim" }>): number | null {
  if (!expr.prim.endsWith(".add")) return null;
  const added = expr.args.find((arg) => arg.kind === "const");
  return added?.kind === "const" ? Number(added.value) : null;
}

/** Whether an expression is the same in all executions: what takes an address from one space to another is. */
const isConstant = (expr: Expr): boolean =>
  expr.kind === "const" ||
  expr.kind === "symbol" ||
  (expr.kind === "special" && expr.name === "window") ||
  (expr.kind === "prim" && expr.args.every(isConstant));
