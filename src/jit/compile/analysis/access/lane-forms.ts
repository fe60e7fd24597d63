import type { Expr } from "../../../../semantics/index.ts";
import { areInRow, lanesOf, type LaunchShape } from "../../../abi/launch-shape.ts";
import type { Invariants } from "../values/invariant-code.ts";
import { soleValuesOf } from "../values/single-values.ts";
import type { UniformityAnalysis } from "../values/uniformity.ts";
import type { LanePattern } from "./lane-patterns.ts";

/**
 * An integer in each lane, modulo 2^32, as a sum of products of values that are the same in all lanes. By product, its
 * factor in each lane; the empty one is for the constant.
 */
type Form = ReadonlyMap<string, readonly number[]>;

const maxTerms = 8;

/** The numbers of a thread, its block and the grid. As a factor, `tid.x` is that of a chunk's first lane. */
const isInGrid = /^(tid|ntid|ctaid|nctaid)\.[xyz]$/;

/** A form as the sum of what all lanes share, `whole`, and a number of each lane, from 0 on: `parts`. */
interface Split {
  readonly whole: Form;
  readonly parts: readonly number[];
  /** A power of two of which `whole` is a multiple, and that is greater than all of `parts`. */
  readonly unit: number;
}

/**
 * Lane forms: how addresses in global memory lie to each other where lanes of a chunk are threads of several rows, as
 * in `(ctaid.y * 4 + tid.y) * n + tid.x`. Rows are wherever `n` says; within a row, words follow each other. So it is
 * where a row's threads are numbers divided by its length, as in `i / 8 * n + i % 8`.
 */
export class LaneForms {
  readonly #analysis: UniformityAnalysis;
  readonly #invariants: Invariants;
  readonly #lanes: number;
  /** See `areInRow`. */
  readonly #areInRow: boolean;
  /** By register that is written in one place, before it is read, its value. */
  readonly #written: ReadonlyMap<number, Expr>;
  readonly #forms = new Map<number, Form | null>();
  /** By factor, a power of two of which it is a multiple; others are of 1. */
  readonly #multiples = new Map<string, number>();
  /** The factors that stand for results of shifts and masks, by their operands. */
  readonly #made = new Map<string, string>();

  constructor(analysis: UniformityAnalysis, invariants: Invariants, shape: LaunchShape) {
    this.#analysis = analysis;
    this.#invariants = invariants;
    this.#lanes = lanesOf(shape);
    this.#areInRow = areInRow(shape);
    this.#written = this.#hasLanes() ? soleValuesOf(analysis.code) : new Map();
    if (this.#areInRow) for (const name of ["tid.x", "ntid.x"]) this.#multiples.set(name, this.#lanes);
  }

  /** Whether anything is known of the lanes' numbers. */
  #hasLanes(): boolean {
    return this.#areInRow || this.#invariants.known.numbers.size > 0;
  }

  /** The pattern of addresses where the lanes of each quad are `bytes` apart from each other; else null. */
  runsOf(address: Expr, bytes: number): LanePattern | null {
    if (!this.#hasLanes()) return null;
    const form = this.#of(address);
    if (form === null) return null;
    for (const [product, factors] of form) {
      const step = product === "" ? bytes : 0;
      const follows = (lane: number): boolean => ((factors[lane]! - factors[lane - 1]!) | 0) === step;
      if (!factors.every((_, lane) => (lane & 3) === 0 || follows(lane))) return null;
    }
    if (!form.has("")) return null;
    const all = Array.from({ length: this.#lanes }, (_, lane) => lane);
    return { anchors: all.map((lane) => lane & ~3), distances: all.map((lane) => bytes * (lane & 3)), places: null };
  }

  #of(expr: Expr): Form | null {
    switch (expr.kind) {
      case "const":
        return this.#constant(Number(BigInt.asIntN(32, BigInt(expr.value as number | bigint))));
      case "special": {
        const lanes = this.#invariants.known.numbers.get(expr.name);
        if (lanes !== undefined) return new Map([["", lanes]]);
        if (!this.#areInRow || !isInGrid.test(expr.name)) return null;
        // Lanes of a row differ in `tid.x` alone.
        const first = this.#factor(expr.name);
        return expr.name === "tid.x" ? this.#together(first, (lane) => lane) : first;
      }
      case "reg":
        return expr.ty === "i32" || expr.ty === "i64" ? this.#ofRegister(expr.reg, expr.ty) : null;
      case "prim":
        return this.#ofPrim(expr);
      default:
        return null;
    }
  }

  #ofRegister(register: number, ty: "i32" | "i64"): Form | null {
    const known = this.#invariants.known.values.get(register);
    if (known !== undefined) return ty === "i32" ? new Map([["", known]]) : null;
    if (this.#invariants.registers.has(register) && this.#analysis.register(register).kind === "uniform") {
      return this.#uniformForm(register);
    }
    const found = this.#forms.get(register);
    if (found !== undefined) return found;
    // One that is computed from itself has none.
    this.#forms.set(register, null);
    const value = this.#written.get(register);
    const { bits } = this.#analysis.code.ir.registers[register]!;
    const form = value === undefined || value.ty !== ty || bits < 32 ? null : this.#of(value);
    this.#forms.set(register, form);
    return form;
  }

  #ofPrim({ prim, args }: Extract<Expr, { kind: "prim" }>): Form | null {
    const [a, b] = args;
    switch (prim) {
      case "i32.add":
      case "i64.add":
        return this.#sum(this.#of(a!), this.#of(b!), 1);
      case "i32.sub":
      case "i64.sub":
        return this.#sum(this.#of(a!), this.#of(b!), -1);
      case "i32.mul":
      case "i64.mul":
        return this.#product(this.#of(a!), this.#of(b!));
      case "i32.shl":
      case "i64.shl": {
        const by = shiftCount(b!);
        return by === null ? null : this.#product(this.#of(a!), this.#constant(1 << by));
      }
      case "i32.shr_u":
      case "i32.shr_s": {
        const by = shiftCount(b!);
        return by === null ? null : this.#shifted(this.#of(a!), prim, by);
      }
      case "i32.or":
        return this.#joined(this.#of(a!), this.#of(b!)) ?? this.#joined(this.#of(b!), this.#of(a!));
      case "i32.and":
        return b!.kind === "const" ? this.#masked(this.#of(a!), Number(b!.value)) : null;
      // The low 32 bits are the same.
      case "i64.extend_i32_s":
      case "i64.extend_i32_u":
      case "i32.wrap_i64":
        return this.#of(a!);
      default:
        return null;
    }
  }

  /** The form of a register that all lanes share: what it holds, where that is simple; else a factor of its own. */
  #uniformForm(register: number): Form {
    const value = this.#written.get(register);
    const form = value?.ty === "i32" ? this.#of(value) : null;
    const name = `r${register}`;
    if (form !== null) {
      if (value!.kind === "special" || [...form.keys()].every((product) => product === "")) return form;
      this.#multiples.set(name, this.#unitOf(form));
    }
    return this.#factor(name);
  }

  /** A value that all lanes share, by its name. */
  #factor(name: string): Form {
    return new Map([[name, new Array<number>(this.#lanes).fill(1)]]);
  }

  /** Sums of `whole` and `parts` have no carry from these to that: shifts and masks act on each alone. */
  #split(form: Form | null): Split | null {
    if (form === null) return null;
    const parts = form.get("") ?? new Array<number>(this.#lanes).fill(0);
    const whole = new Map([...form].filter(([product]) => product !== ""));
    const unit = this.#unitOf(whole);
    return parts.every((part) => part >= 0 && part < unit) ? { whole, parts, unit } : null;
  }

  /** A power of two of which a form is a multiple; 0 if it is not the same in all lanes. */
  #unitOf(form: Form): number {
    return Math.min(2 ** 31, ...[...form].map(([product, factors]) => this.#multipleOf(product, factors)));
  }

  /** A power of two of which a product with its factors is a multiple; 0 if lanes have other factors. */
  #multipleOf(product: string, factors: readonly number[]): number {
    const [first] = factors;
    if (!factors.every((factor) => factor === first)) return 0;
    const names = product.split(" ").map((name) => this.#multiples.get(name) ?? 1);
    return names.reduce(
      (all, multiple) => Math.min(2 ** 31, all * multiple),
      first === 0 ? 2 ** 31 : (first! & -first!) >>> 0,
    );
  }

  #shifted(form: Form | null, prim: string, by: number): Form | null {
    const split = this.#split(form);
    if (split === null) return null;
    const { whole, parts, unit } = split;
    const multiple = Math.max(1, unit / 2 ** by);
    return this.#together(this.#factorOf(whole, `${prim} ${by}`, multiple), (lane) => parts[lane]! >>> by);
  }

  #masked(form: Form | null, mask: number): Form | null {
    const split = this.#split(form);
    if (split === null) return null;
    const { whole, parts, unit } = split;
    const beyond = mask & -unit;
    const rest = beyond === 0 ? new Map() : beyond === (-unit | 0) ? whole : this.#factorOf(whole, `& ${beyond}`, unit);
    return this.#together(rest, (lane) => parts[lane]! & mask);
  }

  /** The sum of numbers that share no bit in any lane: `low` is below all multiples of which `high` is made. */
  #joined(high: Form | null, low: Form | null): Form | null {
    const [above, below] = [this.#split(high), this.#split(low)];
    if (above === null || below === null || below.whole.size > 0) return null;
    const bits = above.parts.reduce((all, part) => all | part, above.unit | 0);
    return below.parts.every((part) => part < (bits & -bits) >>> 0) ? this.#sum(high, low, 1) : null;
  }

  /** A form of what all lanes share, and a part of each lane. */
  #together(whole: Form, part: (lane: number) => number): Form {
    return new Map([...whole, ["", Array.from({ length: this.#lanes }, (_, lane) => part(lane))]]);
  }

  /** A factor of its own for what an operation makes of what all lanes share; nothing for what it makes of 0. */
  #factorOf(whole: Form, operation: string, multiple: number): Form {
    if (whole.size === 0) return whole;
    const terms = [...whole].map(([product, factors]) => `${factors[0]} ${product}`).sort();
    const key = `${terms.join(" + ")} ${operation}`;
    const name = this.#made.get(key) ?? `m${this.#made.size}`;
    this.#made.set(key, name);
    this.#multiples.set(name, multiple);
    return this.#factor(name);
  }

  #constant(value: number): Form {
    return new Map([["", new Array<number>(this.#lanes).fill(value)]]);
  }

  #sum(a: Form | null, b: Form | null, sign: 1 | -1): Form | null {
    if (a === null || b === null) return null;
    const sum = new Map(a);
    for (const [product, factors] of b) {
      const before = sum.get(product);
      const all = factors.map((factor, lane) => ((before?.[lane] ?? 0) + sign * factor) | 0);
      if (product === "" || all.some((factor) => factor !== 0)) sum.set(product, all);
      else sum.delete(product);
    }
    return sum.size > maxTerms ? null : sum;
  }

  #product(a: Form | null, b: Form | null): Form | null {
    if (a === null || b === null || a.size * b.size > maxTerms) return null;
    let product: Form | null = new Map();
    for (const [ofA, factorsA] of a) {
      for (const [ofB, factorsB] of b) {
        const name = [...ofA.split(" "), ...ofB.split(" ")].filter((of) => of !== "").sort();
        const factors = factorsA.map((factor, lane) => Math.imul(factor, factorsB[lane]!));
        product = this.#sum(product, new Map([[name.join(" "), factors]]), 1);
      }
    }
    return product;
  }
}

/** By how many bits a constant shifts a word; null for other operands. */
function shiftCount(by: Expr): number | null {
  const count = by.kind === "const" ? Number(by.value) : -1;
  return count < 0 || count > 31 ? null : count;
}
