import { writesOf } from "../../../../ir/flow/accesses.ts";
import { resultsOf } from "../../../../ir/flow/liveness.ts";
import type { Instruction } from "../../../../ir/index.ts";
import type { PreparedCode } from "../code/prepared-code.ts";
import type { Expr } from "../../../../semantics/index.ts";
import type { NarrowBits, NarrowForm } from "../../lanes/narrow.ts";
import { demandedBits } from "./demanded-bits.ts";
import type { Comparison, NarrowPlan, NarrowPlans, NarrowTest } from "./narrow-plan.ts";
import { NarrowUses } from "./narrow-uses.ts";
import { extremumOf, factorOf, halfFactor, keepsLow, magnitudeOf, SignedRanges, within } from "./signed-ranges.ts";

const narrowBits: readonly NarrowBits[] = [8, 16];

type Prim = Extract<Expr, { kind: "prim" }>;

/** Code of which is known how values vary over lanes: `UniformityAnalysis`, or less. */
interface AnalysedLanes {
  readonly code: Pick<PreparedCode, "ir" | "instructions" | "liveness">;
  readonly register: (register: number) => { readonly kind: string };
  readonly shape: (expr: Expr) => { readonly kind: string };
}

/** Kernels with more instructions are not examined. */
const large = 2000;

const binary = new Map(
  (["add", "sub", "mul", "and", "or", "xor"] as const).map((name) => [`i32.${name}` as string, name]),
);
const comparisons = new Map<string, readonly [Comparison, readonly boolean[]]>([
  ["i32.eq", ["eq", [false, true]]],
  ["i32.ne", ["ne", [false, true]]],
  ["i32.lt_s", ["lt", [true]]],
  ["i32.lt_u", ["lt", [false]]],
  ["i32.le_s", ["le", [true]]],
  ["i32.le_u", ["le", [false]]],
]);
const logic = new Map<string, "and" | "or" | "xor" | "not">([
  ["pred.and", "and"],
  ["pred.or", "or"],
  ["pred.xor", "xor"],
  ["pred.not", "not"],
]);

/**
 * The registers that are kept in lanes of 8 or 16 bits, and how expressions are evaluated in such lanes. A register is
 * kept so if its values fit, or if only their low bits matter, and if it is loaded from memory or computed from such
 * registers, and used more often with them than with words.
 */
export class NarrowRegisters implements NarrowPlans {
  readonly #analysis: AnalysedLanes;
  /** Whether anything is evaluated in narrow lanes. */
  readonly #isExamined: boolean;
  #foundRanges: SignedRanges | null = null;
  #forms: (NarrowForm | null)[] = [];
  readonly #plans: Readonly<Record<NarrowBits, Map<Expr, NarrowPlan | null>>> = { 8: new Map(), 16: new Map() };
  readonly #tests = new Map<Expr, NarrowTest | null>();
  /** By expression, whether it reads any narrow register. */
  readonly #mixed = new Map<Expr, boolean>();

  /** `isOrdinary`: whether a register is kept in locals, and read from there. */
  constructor(analysis: AnalysedLanes, isOrdinary: (register: number) => boolean) {
    this.#analysis = analysis;
    const { ir, instructions } = analysis.code;
    this.#isExamined = ir.file === undefined && instructions.length <= large && instructions.some(isNarrowAccess);
    if (!this.#isExamined) return;
    const others = writtenOtherwise(instructions);
    const candidates = ir.registers.map(
      (_, r) => isOrdinary(r) && !others.has(r) && analysis.register(r).kind === "vector",
    );
    // Predicates are narrow where what they compare is.
    if (!candidates.some((is, r) => is && ir.registers[r]!.class === "b32")) return;
    const demanded = demandedBits(instructions, ir.registers, resultsOf(ir));
    this.#forms = candidates.map((is, r) => (is ? this.#formFor(r, demanded[r]!) : null));
    while (this.#prune()) this.#forget();
    this.#forget();
  }

  /** Found when they are first asked for: most kernels have no register that would be narrow. */
  get #ranges(): SignedRanges {
    return (this.#foundRanges ??= new SignedRanges(this.#analysis.code));
  }

  /** Whether any register is. */
  get isUsed(): boolean {
    return this.#forms.some((form) => form !== null);
  }

  /** How a register is kept; null if in lanes of 32 bits or more. */
  form(register: number): NarrowForm | null {
    return this.#forms[register] ?? null;
  }

  #formFor(register: number, demanded: number): NarrowForm | null {
    const { class: c, bits: own } = this.#analysis.code.ir.registers[register]!;
    // Of predicates it depends on what they compare.
    if (c === "pred") return { bits: 8, signed: true, of: 32, isExact: true };
    if (c !== "b32") return null;
    const of = own === 16 ? 16 : 32;
    const range = this.#ranges.modulo({ kind: "reg", ty: "i32", reg: register }, own);
    for (const bits of narrowBits) {
      if (within(range, bits, false)) return { bits, signed: false, of, isExact: true };
      if (within(range, bits, true)) return { bits, signed: true, of, isExact: true };
      if (demanded <= bits || own <= bits) return { bits, signed: false, of, isExact: own <= bits };
    }
    return null;
  }

  #forget(): void {
    for (const plans of Object.values(this.#plans)) plans.clear();
    this.#tests.clear();
    this.#mixed.clear();
  }

  /** Gives up forms of registers that are written or used otherwise; false if there are none. */
  #prune(): boolean {
    const { instructions } = this.#analysis.code;
    const uses = new NarrowUses(this, this.#forms.length);
    const loaded = new Set<number>();
    const given = new Set<number>();
    for (const instruction of instructions) {
      const { op, dst } = instruction;
      writesOf(instruction, (r) => {
        const form = this.#forms[r];
        if (form == null) return;
        const value = op.kind === "pure" ? op.values[dst.indexOf(r)]! : null;
        if (op.kind === "load" && op.access.bits <= form.bits) loaded.add(r);
        else if (value === null || !this.#isNatural(form, value)) given.add(r);
      });
      uses.add(instruction);
    }
    this.#forms.forEach((form, r) => {
      if (form === null || this.#analysis.code.ir.registers[r]!.class === "pred") return;
      const [narrow, wide] = [uses.narrow[r]!, uses.wide[r]!];
      if (loaded.has(r) ? narrow === 0 : narrow < wide || narrow === 0) given.add(r);
    });
    for (const r of given) this.#forms[r] = null;
    return given.size > 0 || this.#widenPredicates();
  }

  #isNatural({ bits }: NarrowForm, value: Expr): boolean {
    if (value.ty === "pred") return this.testOf(value) !== null && this.#hasNarrow(value);
    return value.ty === "i32" && this.planOf(value, bits) !== null;
  }

  /** Gives predicates the widest form of what is written to them; false if they have it. */
  #widenPredicates(): boolean {
    let isChanged = false;
    for (const { op, dst } of this.#analysis.code.instructions) {
      if (op.kind !== "pure") continue;
      op.values.forEach((value, i) => {
        const to = dst[i];
        const form = typeof to === "number" ? this.#forms[to] : null;
        if (form == null || value.ty !== "pred") return;
        const { bits } = this.testOf(value)!;
        if (bits <= form.bits) return;
        this.#forms[to as number] = { ...form, bits };
        isChanged = true;
      });
    }
    return isChanged;
  }

  /** In what lanes an expression with any narrow register is better evaluated, whoever uses it; null: wide ones. */
  widthOf(expr: Expr): NarrowBits | null {
    if (!this.#isExamined || expr.kind !== "prim") return null;
    if (expr.ty === "pred") return this.#hasNarrow(expr) ? (this.testOf(expr)?.bits ?? null) : null;
    if (expr.ty !== "i32" || !this.#hasNarrow(expr)) return null;
    const range = this.#ranges.of(expr);
    for (const bits of narrowBits) {
      if (!within(range, bits, false) && !within(range, bits, true)) continue;
      if (this.planOf(expr, bits) !== null) return bits;
    }
    return null;
  }

  /** Whether the words of an expression that fits are its narrow lanes with their signs extended, or zeros. */
  isSigned(expr: Expr, bits: NarrowBits): boolean {
    return expr.ty === "pred" || !within(this.#ranges.of(expr), bits, false);
  }

  #hasNarrow(expr: Expr): boolean {
    if (expr.kind === "reg") return this.form(expr.reg) !== null;
    if (expr.kind !== "prim") return false;
    let found = this.#mixed.get(expr);
    if (found === undefined) this.#mixed.set(expr, (found = expr.args.some((arg) => this.#hasNarrow(arg))));
    return found;
  }

  /** How an expression of type i32 is evaluated in lanes of some width; null if in wider ones. */
  planOf(expr: Expr, bits: NarrowBits): NarrowPlan | null {
    if (!this.#isExamined || expr.ty !== "i32") return null;
    const plans = this.#plans[bits];
    let plan = plans.get(expr);
    if (plan === undefined) plans.set(expr, (plan = this.#plan(expr, bits)));
    return plan;
  }

  #plan(expr: Expr, bits: NarrowBits): NarrowPlan | null {
    if (expr.kind === "const") return { kind: "constant", value: expr.value as number };
    if (this.#analysis.shape(expr).kind === "uniform") return { kind: "uniform" };
    if (expr.kind === "reg") {
      const form = this.form(expr.reg);
      return form === null || (form.bits < bits && !form.isExact) ? null : { kind: "register", form };
    }
    if (expr.kind !== "prim") return null;
    const { min, max } = this.#ranges.of(expr);
    if (min === max) return { kind: "constant", value: min };
    return this.#resized(expr, bits) ?? this.#atWidth(expr, bits);
  }

  /** Evaluated in narrower lanes, where it fits, or in wider ones, where it is not possible otherwise. */
  #resized(expr: Prim, bits: NarrowBits): NarrowPlan | null {
    const range = this.#ranges.of(expr);
    const isSigned = !within(range, 8, false);
    const fits = !isSigned || within(range, 8, true);
    const from = bits === 16 ? 8 : 16;
    if (bits === 16 ? !fits : this.#atWidth(expr, 8) !== null) return null;
    const can = bits === 16 ? this.#atWidth(expr, 8) : this.planOf(expr, 16);
    return can && { kind: "resized", from, signed: isSigned, fits };
  }

  #atWidth(expr: Prim, bits: NarrowBits): NarrowPlan | null {
    const { prim, args } = expr;
    const can = (arg: Expr): boolean => this.planOf(arg, bits) !== null;
    const extremum = extremumOf(expr);
    const agreed = extremum && this.#agree(extremum.args, bits, extremum.signed);
    if (extremum !== null && agreed !== null) return { kind: "extremum", extremum, signed: agreed };
    const magnitude = bits === 16 ? magnitudeOf(expr) : null;
    if (magnitude !== null && within(this.#ranges.of(magnitude), 16, true) && can(magnitude))
      return { kind: "magnitude", of: magnitude };
    const [a, b] = args as readonly [Expr, Expr];
    const constant = b?.kind === "const" && b.ty === "i32" ? (b.value as number) >>> 0 : null;
    const name = binary.get(prim);
    if (name !== undefined) {
      if (name === "and" && keepsLow(constant, bits)) return can(a) ? { kind: "same", as: a } : null;
      return can(a) && can(b) ? { kind: "binary", name } : null;
    }
    switch (prim) {
      case "i32.extend8_s":
        return bits === 8 && can(a) ? { kind: "same", as: a } : null;
      case "i32.extend16_s":
        return can(a) ? { kind: "same", as: a } : null;
      case "i32.select":
        return can(args[1]!) && can(args[2]!) ? { kind: "select" } : null;
      case "i32.mul_high_u":
      case "i32.mul_high_s":
        return bits === 16 && can(a) ? this.#high(prim, a, b) : null;
      case "i32.shl":
        return constant !== null && constant < bits && can(a) ? { kind: "shift", name: "shl", count: constant } : null;
      case "i32.shr_s":
      case "i32.shr_u":
        return constant === null ? null : this.#shift(prim, a, constant, bits);
      default:
        return null;
    }
  }

  #shift(prim: "i32.shr_s" | "i32.shr_u", a: Expr, count: number, bits: NarrowBits): NarrowPlan | null {
    const range = this.#ranges.of(a);
    if (count < bits && this.planOf(a, bits) !== null) {
      if (within(range, bits, false)) return { kind: "shift", name: "shr_u", count };
      if (prim === "i32.shr_s" && within(range, bits, true)) return { kind: "shift", name: "shr_s", count };
    }
    return bits === 8 && count <= 8 && this.planOf(a, 16) !== null ? { kind: "middle", count } : null;
  }

  #high(prim: "i32.mul_high_u" | "i32.mul_high_s", a: Expr, b: Expr): NarrowPlan | null {
    const range = this.#ranges.of(a);
    const by = factorOf(prim, b);
    const factor = by !== null && within(range, 16, false) ? halfFactor(by, range.max) : null;
    return factor === null ? null : { kind: "high", factor };
  }

  /** How a predicate is evaluated as a narrow mask; null if as a wide one. */
  testOf(expr: Expr): NarrowTest | null {
    if (!this.#isExamined || expr.ty !== "pred") return null;
    let test = this.#tests.get(expr);
    if (test === undefined) this.#tests.set(expr, (test = this.#test(expr)));
    return test;
  }

  #test(expr: Expr): NarrowTest | null {
    if (expr.kind === "reg") {
      const form = this.form(expr.reg);
      return form && { kind: "register", bits: form.bits };
    }
    if (expr.kind !== "prim" || this.#analysis.shape(expr).kind === "uniform") return null;
    const name = logic.get(expr.prim);
    if (name !== undefined) {
      const tests = expr.args.map((arg) => this.testOf(arg));
      if (tests.includes(null)) return null;
      return { kind: "logic", name, bits: Math.max(...tests.map((test) => test!.bits)) as NarrowBits };
    }
    const comparison = comparisons.get(expr.prim);
    if (comparison === undefined) return null;
    for (const bits of narrowBits) {
      for (const asked of comparison[1]) {
        const agreed = this.#agree(expr.args as readonly [Expr, Expr], bits, asked);
        if (agreed !== null) return { kind: "compare", bits, name: comparison[0], signed: agreed };
      }
    }
    return null;
  }

  /**
   * Whether two numbers are compared with their signs in lanes of some width, so that the result is that of words;
   * null if there is no such way.
   */
  #agree(args: readonly [Expr, Expr], bits: NarrowBits, isSigned: boolean): boolean | null {
    if (args.some((arg) => this.planOf(arg, bits) === null)) return null;
    const ranges = args.map((arg) => this.#ranges.of(arg));
    // Numbers that are not negative are in the same order either way.
    if (ranges.every((range) => within(range, bits, false))) return false;
    return isSigned && ranges.every((range) => within(range, bits, true)) ? true : null;
  }
}

/** Registers that something else writes than arithmetic or a narrow load. */
function writtenOtherwise(instructions: readonly Instruction[]): ReadonlySet<number> {
  const found = new Set<number>();
  for (const instruction of instructions) {
    const { kind } = instruction.op;
    if (kind !== "pure" && !(kind === "load" && isNarrowAccess(instruction)))
      writesOf(instruction, (r) => found.add(r));
  }
  return found;
}

const isNarrowAccess = ({ op }: Instruction): boolean =>
  (op.kind === "load" || op.kind === "store") && op.access.bits < 32;
