import type { Expr } from "../../../../semantics/index.ts";
import type { Invariants } from "../values/invariant-code.ts";
import { singleValuesOf } from "../values/single-values.ts";
import type { UniformityAnalysis } from "../values/uniformity.ts";
import type { LanePattern } from "./lane-patterns.ts";

/**
 * An integer in each lane, modulo 2^32, as a sum of products of values that are the same in all lanes. By product, its
 * factor in each lane; the empty one is for the constant.
 */
type Form = ReadonlyMap<string, readonly number[]>;

const maxTerms = 8;

/**
 * Lane forms: how addresses in global memory lie to each other where lanes of a chunk are threads of several rows, as
 * in `(ctaid.y * 4 + tid.y) * n + tid.x`. Rows are wherever `n` says; within a row, words follow each other.
 */
export class LaneForms {
  readonly #analysis: UniformityAnalysis;
  readonly #invariants: Invariants;
  readonly #lanes: number;
  /** By register that is written in one place, before it is read, its value. */
  readonly #written: ReadonlyMap<number, Expr>;
  readonly #forms = new Map<number, Form | null>();

  constructor(analysis: UniformityAnalysis, invariants: Invariants, lanes: number) {
    this.#analysis = analysis;
    this.#invariants = invariants;
    this.#lanes = lanes;
    const { instructions, liveness, writes } = analysis.code;
    const readFirst = liveness.liveIn(0);
    this.#written =
      invariants.known.numbers.size === 0
        ? new Map()
        : singleValuesOf(instructions, (r) => writes[r] === 1 && !readFirst.has(r));
  }

  /** The pattern of addresses where the lanes of each quad are `bytes` apart from each other; else null. */
  runsOf(address: Expr, bytes: number): LanePattern | null {
    if (this.#invariants.known.numbers.size === 0) return null;
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
        return lanes === undefined ? null : new Map([["", lanes]]);
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
      return new Map([[`r${register}`, new Array<number>(this.#lanes).fill(1)]]);
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
        const by = b!.kind === "const" ? Number(b!.value) : -1;
        return by < 0 || by > 31 ? null : this.#product(this.#of(a!), this.#constant(1 << by));
      }
      // The low 32 bits are the same.
      case "i64.extend_i32_s":
      case "i64.extend_i32_u":
      case "i32.wrap_i64":
        return this.#of(a!);
      default:
        return null;
    }
  }

  #constant(value: number): Form {
    return new Map([["", new Array<number>(this.#lanes).fill(value)]]);
  }

  #sum(a: Form | null, b: Form | null, sign: 1 | -1): Form | null {
    if (a === null || b === null) return null;
    const sum = new Map(a);
    for (const [product, factors] of b) {
      const before = sum.get(product);
      sum.set(
        product,
        factors.map((factor, lane) => ((before?.[lane] ?? 0) + sign * factor) | 0),
      );
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
