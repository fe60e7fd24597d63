import type { Destination, Instruction, Register } from "../../../../ir/index.ts";
import type { Expr } from "../../../../semantics/index.ts";

/** What is not a sum: a value of which only its equality with others is known. */
interface Atom {
  readonly id: number;
  readonly prim: string;
  readonly args: readonly Sum[];
}

/**
 * A value as a sum of multiples of atoms and a constant, modulo 2^32 or 2^64; other values are an atom alone. Equal
 * values, as far as that is seen, are the same object.
 */
export interface Sum {
  readonly id: number;
  readonly bits: 32 | 64;
  readonly constant: bigint;
  readonly parts: ReadonlyMap<Atom, bigint>;
}

/** The values of registers at a place; those that it does not have are what they were at the first place. */
export type Values = Map<number, Sum>;

/** A load, as the instructions around it show it. */
export interface SymbolicLoad {
  readonly address: Sum;
  /** What it reads there, and how. */
  readonly what: string;
  /** Whether it is at an address of 64 bits, in global memory or any. */
  readonly isFar: boolean;
}

/** Values that differ each time they are read. */
const isChanging = /clock|timer|smid/;

/** Values of registers in terms of what they were somewhere, found by following instructions. */
export class SymbolicValues {
  /**
   * A sum of 32 bits, and a multiple of some number, of which it is known that adding the multiple does not overflow:
   * the sum's sign is that of the whole.
   */
  extendable: { readonly start: Sum; readonly rounds: Sum; readonly step: bigint } | null = null;
  readonly #registers: readonly Register[];
  readonly #atoms = new Map<string, Atom>();
  readonly #sums = new Map<string, Sum>();

  constructor(registers: readonly Register[]) {
    this.#registers = registers;
  }

  /** An unknown value. Values of the same name are equal. */
  named(name: string, bits: 32 | 64 = 32): Sum {
    return this.#single(this.#atom(name, []), bits);
  }

  /** What a register holds. */
  in(values: Values, register: number): Sum {
    return values.get(register) ?? this.named(`first:${register}`, this.widthOf(register));
  }

  widthOf(register: number): 32 | 64 {
    return this.#registers[register]!.bits === 64 ? 64 : 32;
  }

  constant(value: bigint, bits: 32 | 64): Sum {
    return this.#sum(bits, value, new Map());
  }

  plus(a: Sum, b: Sum, times = 1n): Sum {
    const parts = new Map(a.parts);
    for (const [atom, n] of b.parts) parts.set(atom, (parts.get(atom) ?? 0n) + n * times);
    return this.#sum(a.bits, a.constant + b.constant * times, parts);
  }

  minus(a: Sum, b: Sum): Sum {
    return this.plus(a, b, -1n);
  }

  /** The result of an operation on values. */
  prim(name: string, args: readonly Sum[], bits: 32 | 64): Sum {
    return this.#single(this.#atom(name, args), bits);
  }

  /** The greater of two numbers with signs. */
  max(a: Sum, b: Sum): Sum {
    return this.prim("max", a.id < b.id ? [a, b] : [b, a], 32);
  }

  /** The operation whose result a value is; null for sums. */
  madeBy({ constant, parts }: Sum): Atom | null {
    if (constant !== 0n || parts.size !== 1) return null;
    const [[atom, times]] = [...parts] as [[Atom, bigint]];
    return times === 1n ? atom : null;
  }

  /** Follows an instruction that computes or loads, and changes the values; false for any other. */
  follow({ op, guard, lanes, dst }: Instruction, values: Values, loads: SymbolicLoad[]): boolean {
    if (guard !== null || lanes !== undefined) return false;
    if (op.kind === "pure") {
      const results = op.values.map((value) => this.of(value, values));
      return dst.every((to, i) => this.#write(to, results[i] ?? null, typeOf(op.values[i]!), values));
    }
    if (op.kind !== "load" || op.place.kind !== "address" || op.place.surface !== undefined) return false;
    const { access, place } = op;
    const address = this.of(place.address, values);
    if (address === null || access.volatile || access.order !== "weak" || op.forwarded !== undefined) return false;
    const number = loads.length;
    const kinds = dst.map((to) => (typeof to === "number" ? this.#kindOf(to) : "none")).join();
    const isFar = address.bits === 64 && (access.space === "global" || access.space === "generic");
    loads.push({ address, what: JSON.stringify([access, kinds]), isFar });
    return dst.every((to, i) => {
      if (to === null) return true;
      if (typeof to !== "number") return false;
      values.set(to, this.named(`load:${number}:${i}`, this.widthOf(to)));
      return true;
    });
  }

  /** The value of an expression; null if nothing can be told of it. */
  of(expr: Expr, values: Values): Sum | null {
    const bits = expr.ty === "i64" || expr.ty === "f64" ? 64 : 32;
    switch (expr.kind) {
      case "reg": {
        const held = this.in(values, expr.reg);
        const isNumber = expr.ty === "i32" || expr.ty === "i64" || expr.ty === "pred";
        // Registers hold bits.
        return isNumber ? held : (this.#undone("bits", held) ?? this.prim("float", [held], bits));
      }
      case "const":
        return this.#constantOf(expr, bits);
      case "special":
        return isChanging.test(expr.name) ? null : this.named(`special:${expr.name}`, bits);
      case "symbol":
      case "frame":
        return this.named(JSON.stringify(expr), bits);
      case "prim": {
        const args: Sum[] = [];
        for (const arg of expr.args) {
          const value = this.of(arg, values);
          if (value === null) return null;
          args.push(value);
        }
        return this.#computed(expr.prim, args, bits);
      }
      case "old":
      case "region":
      case "indirect":
      case "lane-word":
        return null;
    }
  }

  #constantOf({ ty, value }: Extract<Expr, { kind: "const" }>, bits: 32 | 64): Sum {
    if (typeof value === "bigint") return this.constant(value, bits);
    if (ty === "i32" && typeof value === "number") return this.constant(BigInt(value), bits);
    // Zeros have signs; NaNs are not told apart, as two of them may have other bits.
    const isUnknown = typeof value === "number" && Number.isNaN(value);
    return this.named(isUnknown ? `nan:${this.#atoms.size}` : `${ty}:${Object.is(value, -0) ? "-0" : value}`, bits);
  }

  #computed(prim: string, args: readonly Sum[], bits: 32 | 64): Sum {
    const [a, b, c] = args as [Sum, Sum, Sum];
    const times = (x: Sum, by: bigint): Sum => this.plus(this.constant(0n, bits), x, by);
    switch (prim) {
      case "i32.add":
      case "i64.add":
        return this.plus(a, b);
      case "i32.sub":
      case "i64.sub":
        return this.minus(a, b);
      case "i32.mul":
      case "i64.mul":
        if (a.parts.size === 0) return times(b, a.constant);
        if (b.parts.size === 0) return times(a, b.constant);
        break;
      case "i32.shl":
      case "i64.shl":
        if (b.parts.size === 0 && b.constant < BigInt(bits)) return times(a, 1n << b.constant);
        break;
      case "i32.shr_u":
        if (b.parts.size === 0 && b.constant === 0n) return a;
        break;
      case "i32.xor":
      case "i64.xor":
        if (b.parts.size === 0 && b.constant === (1n << BigInt(bits)) - 1n) return times(this.#plusOne(a), -1n);
        break;
      case "i64.extend_i32_s":
        return this.#extended(a) ?? this.prim(prim, args, 64);
      case "i64.extend_i32_u":
        if (a.parts.size === 0) return this.constant(a.constant, 64);
        break;
      case "i32.select":
        if (a === this.prim("i32.lt_s", [c, b], 32)) return this.max(b, c);
        break;
      case "i32.gt_s":
      case "i32.gt_u":
        return this.prim(prim.replace("gt", "lt"), [b, a], 32);
    }
    return this.prim(prim, args, bits);
  }

  #plusOne(a: Sum): Sum {
    return this.plus(a, this.constant(1n, a.bits));
  }

  #extended(a: Sum): Sum | null {
    if (a.parts.size === 0) return this.constant(BigInt.asIntN(32, a.constant), 64);
    if (this.extendable === null) return null;
    const { start, rounds, step } = this.extendable;
    if (a !== this.plus(start, rounds, step)) return null;
    return this.plus(this.prim("i64.extend_i32_s", [start], 64), rounds, step);
  }

  #write(to: Destination | undefined, value: Sum | null, ty: Expr["ty"], values: Values): boolean {
    if (to === null) return true;
    if (typeof to !== "number" || value === null) return false;
    const { bits } = this.#registers[to]!;
    const isNumber = ty === "i32" || ty === "i64" || ty === "pred";
    const held = isNumber ? value : (this.#undone("float", value) ?? this.prim("bits", [value], value.bits));
    const isWhole = ty === "pred" || bits === held.bits;
    values.set(to, isWhole ? held : this.prim(`to ${bits}`, [held], this.widthOf(to)));
    return true;
  }

  /** What a value was made of by an operation that the next one undoes; null if it was made otherwise. */
  #undone(prim: string, value: Sum): Sum | null {
    const made = this.madeBy(value);
    return made?.prim === prim && made.args[0]!.bits === value.bits ? made.args[0]! : null;
  }

  #kindOf(register: number): string {
    const { class: c, bits } = this.#registers[register]!;
    return `${c}${bits}`;
  }

  #single(atom: Atom, bits: 32 | 64): Sum {
    return this.#sum(bits, 0n, new Map([[atom, 1n]]));
  }

  #sum(bits: 32 | 64, constant: bigint, all: ReadonlyMap<Atom, bigint>): Sum {
    const parts = [...all]
      .map(([atom, times]) => [atom, BigInt.asUintN(bits, times)] as const)
      .filter(([, times]) => times !== 0n)
      .sort(([a], [b]) => a.id - b.id);
    const least = BigInt.asUintN(bits, constant);
    const key = `${bits}:${least}:${parts.map(([{ id }, times]) => `${id}*${times}`).join()}`;
    let sum = this.#sums.get(key);
    if (sum === undefined) {
      sum = { id: this.#sums.size, bits, constant: least, parts: new Map(parts) };
      this.#sums.set(key, sum);
    }
    return sum;
  }

  #atom(prim: string, args: readonly Sum[]): Atom {
    const key = `${prim}(${args.map(({ id }) => id).join()})`;
    let atom = this.#atoms.get(key);
    if (atom === undefined) this.#atoms.set(key, (atom = { id: this.#atoms.size, prim, args }));
    return atom;
  }
}

const typeOf = ({ ty }: Expr): Expr["ty"] => ty;
