import { writesOf } from "../../../../ir/flow/accesses.ts";
import type { IrFunction } from "../../../../ir/index.ts";
import type { Dim3 } from "../../../../machine/reports/report.ts";
import { bind, type Bindings } from "../../../../semantics/bind.ts";
import type { Expr } from "../../../../semantics/index.ts";
import { fold } from "../../../../semantics/fold.ts";
import { primOf } from "../../../../semantics/prims/index.ts";
import { singleValuesOf } from "./single-values.ts";

type Value = ReturnType<typeof fold>;

/** The value of an expression in each thread. */
type Column = readonly Value[];

const axes = ["x", "y", "z"] as const;

/** The first threads of a block, and those of their numbers that count as known. */
export interface SomeThreads {
  readonly count: number;
  readonly isKnown: (special: string) => boolean;
  /** Whether they lie in a row, in which `tid.x` of the first may be any multiple of their number. */
  readonly areInRow: boolean;
}

/**
 * Of which number of lanes a mask keeps the number of a lane, where an expression is `laneid & mask` and that number is
 * a power of two; null for all others.
 */
export function lanesKept({ prim, args: [number, mask] }: Prim): number | null {
  if (prim !== "i32.and" || number?.kind !== "special" || number.name !== "laneid") return null;
  return countOf(mask);
}

/** The power of two of which a constant is one less; null for other values. */
function countOf(mask: Expr | undefined): number | null {
  const count = mask?.kind === "const" ? (mask.value as number) + 1 : 0;
  return count > 0 && (count & (count - 1)) === 0 ? count : null;
}

type Prim = Extract<Expr, { kind: "prim" }>;

const integerOf = (value: Value): number =>
  typeof value === "bigint" ? Number(BigInt.asUintN(64, value)) : Number(value) >>> 0;

const isNumber = (special: string): boolean => /^n?tid\.[xyz]$/.test(special);

/** Warps have 32 threads of a block, in their order; vISA's hardware threads may have fewer. */
const isNumberInWarps = (special: string): boolean => isNumber(special) || special === "laneid";

/** The values of expressions in each thread of a block, as far as they follow from the thread's numbers alone. */
export class ThreadValues {
  readonly #block: Dim3;
  readonly #isKnownSpecial: (special: string) => boolean;
  readonly #some: SomeThreads | null;
  readonly #bindings: Bindings;
  /** By register that is written in one place, before it is read, its value. */
  readonly #written: ReadonlyMap<number, Expr>;
  readonly #registers: IrFunction["registers"];
  readonly #known = new Map<number, boolean>();
  readonly #columns = new Map<Expr, Column>();
  /** Columns with one value in all threads. */
  readonly #uniform = new Set<Column>();
  readonly #integers = new Map<Column, readonly number[]>();
  readonly threads: number;

  /** `isSet`: whether a register is always written before it is read. `some`: null for all threads. */
  constructor(
    ir: Pick<IrFunction, "registers" | "instructions" | "file">,
    block: Dim3,
    bindings: Bindings,
    isSet: (register: number) => boolean,
    some: SomeThreads | null = null,
  ) {
    this.#block = block;
    this.#bindings = bindings;
    this.#registers = ir.registers;
    this.#isKnownSpecial = some?.isKnown ?? (ir.file === undefined ? isNumberInWarps : isNumber);
    this.#some = some;
    this.threads = some?.count ?? block[0] * block[1] * block[2];
    const writes = new Uint32Array(ir.registers.length);
    for (const instruction of ir.instructions) writesOf(instruction, (r) => writes[r]!++);
    this.#written = singleValuesOf(ir.instructions, (r) => writes[r] === 1 && isSet(r));
  }

  /** By thread, the value of an integer; null where it depends on anything else. */
  of(expr: Expr): readonly number[] | null {
    if (!this.#isKnown(expr)) return null;
    const column = this.#columnOf(expr);
    let integers = this.#integers.get(column);
    if (integers === undefined) {
      integers = this.#uniform.has(column) ? this.#filled(integerOf(column[0]!)) : column.map(integerOf);
      this.#integers.set(column, integers);
    }
    return integers;
  }

  /** The same, as expressions compute it. */
  columnOf(expr: Expr): Column | null {
    return this.#isKnown(expr) ? this.#columnOf(expr) : null;
  }

  /** Whether the value of a register follows from thread numbers alone. */
  knows(register: number): boolean {
    return this.#isRegisterKnown(register);
  }

  #isKnown(expr: Expr): boolean {
    switch (expr.kind) {
      case "const":
      case "symbol":
        return true;
      case "special":
        return this.#isKnownSpecial(expr.name);
      case "prim":
        return this.#isLaneNumber(expr) || expr.args.every((arg) => this.#isKnown(arg));
      case "reg":
        return this.#isRegisterKnown(expr.reg) && this.#written.get(expr.reg)!.ty === expr.ty;
      default:
        return false;
    }
  }

  /** Whether an expression is the number of a lane among so many that chunks have a multiple of them. */
  #isLaneNumber(expr: Prim): boolean {
    const kept = this.#some === null ? null : (lanesKept(expr) ?? this.#keptInRow(expr, this.#some));
    return kept !== null && this.#some!.count % kept === 0;
  }

  /** The same as `lanesKept` for `tid.x & mask`, if threads are in a row. */
  #keptInRow({ prim, args: [number, mask] }: Prim, { areInRow }: SomeThreads): number | null {
    if (!areInRow || prim !== "i32.and") return null;
    const value = number?.kind === "reg" ? this.#written.get(number.reg) : number;
    return value?.kind === "special" && value.name === "tid.x" ? countOf(mask) : null;
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

  #columnOf(expr: Expr): Column {
    let column = this.#columns.get(expr);
    if (column === undefined) this.#columns.set(expr, (column = this.#evaluated(expr)));
    return column;
  }

  #evaluated(expr: Expr): Column {
    switch (expr.kind) {
      case "special":
        return this.#each((thread) => this.#special(expr.name, thread));
      case "reg":
        return this.#held(expr.reg);
      case "prim": {
        if (this.#isLaneNumber(expr)) return this.#each((t) => t & (expr.args[1] as { readonly value: number }).value);
        const evaluate = primOf(expr.prim).eval as (...args: Value[]) => Value;
        const args = expr.args.map((arg) => this.#columnOf(arg));
        const [a, b, c] = args;
        if (args.every((arg) => this.#uniform.has(arg))) return this.#same(evaluate(...args.map((arg) => arg[0]!)));
        if (args.length === 1) return this.#each((t) => evaluate(a![t]!));
        if (args.length === 2) return this.#each((t) => evaluate(a![t]!, b![t]!));
        if (args.length === 3) return this.#each((t) => evaluate(a![t]!, b![t]!, c![t]!));
        return this.#each((t) => evaluate(...args.map((arg) => arg[t]!)));
      }
      default: {
        const value = fold(bind(expr, this.#bindings), () => {
          throw new Error("a constant address has no leaves");
        });
        return this.#same(value);
      }
    }
  }

  /** What a register holds of the value that it is given: its low bits, if it has fewer than a word. */
  #held(register: number): Column {
    const value = this.#written.get(register)!;
    const column = this.#columnOf(value);
    const { bits } = this.#registers[register]!;
    if (value.ty !== "i32" || bits >= 32) return column;
    const low = (given: Value): number => (given as number) & (2 ** bits - 1);
    return this.#uniform.has(column) ? this.#same(low(column[0]!)) : this.#each((t) => low(column[t]!));
  }

  /** In a loop: there are a thousand threads, and most compilations ask for some hundred columns. */
  #each(of: (thread: number) => Value): Column {
    const column: Value[] = [];
    for (let t = 0; t < this.threads; t++) column.push(of(t));
    return column;
  }

  #same(value: Value): Column {
    const column = this.#filled(value);
    this.#uniform.add(column);
    return column;
  }

  #filled<T>(value: T): readonly T[] {
    return new Array<T>(this.threads).fill(value);
  }

  #special(name: string, thread: number): number {
    if (name === "laneid") return thread & 31;
    const [x, y] = this.#block;
    const axis = axes.findIndex((of) => name.endsWith(of));
    if (name.startsWith("n")) return this.#block[axis]!;
    return [thread % x, Math.floor(thread / x) % y, Math.floor(thread / (x * y))][axis]!;
  }
}
