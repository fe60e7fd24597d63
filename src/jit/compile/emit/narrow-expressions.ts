import type { Expr } from "../../../semantics/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { NarrowPlan, NarrowPlans, NarrowTest } from "../analysis/values/narrow-plan.ts";
import type { Extremum } from "../analysis/values/signed-ranges.ts";
import { shuffled } from "../lanes/interleave.ts";
import { type Narrow, narrow, narrowed, narrowedMask, narrowParts, resized, type NarrowBits } from "../lanes/narrow.ts";
import { type Value, vectorOf } from "../lanes/value.ts";

type Prim = Extract<Expr, { kind: "prim" }>;

/** Where narrow lanes come from. */
interface NarrowSources {
  readonly locals: (register: number) => readonly number[];
  readonly quads: () => number;
  /** The value of an expression in lanes of 32 bits. */
  readonly wide: (expr: Expr) => Value;
}

const lanesOf = (bits: NarrowBits): "i8x16" | "i16x8" => (bits === 8 ? "i8x16" : "i16x8");

/** Evaluates expressions in narrow lanes, as it is planned. */
export class NarrowExpressions {
  readonly #plans: NarrowPlans;
  readonly #sources: NarrowSources;
  readonly #values: Readonly<Record<NarrowBits, Map<Expr, Narrow>>> = { 8: new Map(), 16: new Map() };

  constructor(plans: NarrowPlans, sources: NarrowSources) {
    this.#plans = plans;
    this.#sources = sources;
  }

  /** Drops all values: registers may have changed. */
  forget(): void {
    for (const values of Object.values(this.#values)) if (values.size > 0) values.clear();
  }

  /** The low bits of an expression, or the mask of a predicate. */
  of(expr: Expr, bits: NarrowBits): Narrow {
    const values = this.#values[bits];
    let value = values.get(expr);
    if (value === undefined) {
      value = expr.ty === "pred" ? this.#mask(expr, bits) : this.#number(expr, bits);
      values.set(expr, value);
    }
    return value;
  }

  #number(expr: Expr, bits: NarrowBits): Narrow {
    const plan = this.#plans.planOf(expr, bits);
    if (plan === null) {
      const { quads } = vectorOf(this.#sources.wide(expr), this.#sources.quads());
      return narrowed(
        quads.map(([q]) => q!),
        bits,
        null,
      );
    }
    switch (plan.kind) {
      case "constant":
        return this.#all(bits, bits === 8 ? bytes(plan.value) : wasm.i16x8(plan.value));
      case "uniform": {
        const value = this.#sources.wide(expr);
        if (value.kind !== "uniform") throw new Error("a uniform value is no scalar");
        return this.#all(bits, wasm.op(`${lanesOf(bits)}.splat`, value.scalar));
      }
      case "register": {
        const { form } = plan;
        const kept = this.#inLocals(expr, form.bits);
        return this.#resized(kept, bits, form.bits > bits ? null : form.signed ? "signed" : "unsigned");
      }
      case "same":
        return this.of(plan.as, bits);
      case "resized":
        return this.#resized(this.of(expr, plan.from), bits, !plan.fits ? null : plan.signed ? "signed" : "unsigned");
      default:
        return narrow(bits, this.#computed(expr as Prim, plan, bits));
    }
  }

  #resized(value: Narrow, bits: NarrowBits, fits: "signed" | "unsigned" | null): Narrow {
    return resized(value, bits, this.#sources.quads(), fits);
  }

  #all(bits: NarrowBits, part: Wasm): Narrow {
    return narrow(bits, new Array<Wasm>(narrowParts(bits, this.#sources.quads())).fill(part));
  }

  #inLocals(expr: Expr, bits: NarrowBits): Narrow {
    const locals = this.#sources.locals((expr as Extract<Expr, { kind: "reg" }>).reg);
    return narrow(
      bits,
      locals.map((local) => wasm.local("v128", local)),
    );
  }

  #computed(
    { args }: Prim,
    plan: Extract<NarrowPlan, { kind: "binary" | "shift" | "middle" | "high" | "magnitude" | "extremum" | "select" }>,
    bits: NarrowBits,
  ): readonly Wasm[] {
    const lanes = lanesOf(bits);
    const [a, b, c] = args as readonly [Expr, Expr, Expr];
    const parts = (expr: Expr): readonly Wasm[] => this.of(expr, bits).parts;
    switch (plan.kind) {
      case "binary": {
        const { name } = plan;
        if (name === "and" || name === "or" || name === "xor") return both(`v128.${name}`, parts(a), parts(b));
        if (name === "mul") return parts(a).map((part, i) => product(bits, part, parts(b)[i]!));
        return both(`${lanes}.${name}`, parts(a), parts(b));
      }
      case "shift":
        // Vectors of bytes are shifted in several steps.
        if (plan.name === "shl" && plan.count === 1) return both(`${lanes}.add`, parts(a), parts(a));
        return parts(a).map((part) => wasm.op(`${lanes}.${plan.name}`, part, wasm.i32(plan.count)));
      case "middle": {
        const { count } = plan;
        const halves = this.of(a, 16).parts.map((part) => wasm.op("i16x8.shr_u", part, wasm.i32(count)));
        return this.#resized(narrow(16, halves), 8, count === 8 ? "unsigned" : null).parts;
      }
      case "high":
        return parts(a).map((part) => highProduct(part, plan.factor));
      case "magnitude":
        return parts(plan.of).map((part) => wasm.op("i16x8.abs", part));
      case "extremum": {
        const [x, y] = plan.extremum.args;
        return both(extremumOp(plan.extremum, plan.signed, bits), parts(x), parts(y));
      }
      case "select": {
        const mask = this.of(a, bits).parts;
        const [x, y] = [parts(b), parts(c)];
        return mask.map((part, i) => wasm.blend(part, x[i]!, y[i]!));
      }
    }
  }

  #mask(expr: Expr, bits: NarrowBits): Narrow {
    const test = this.#plans.testOf(expr);
    if (test !== null) {
      const own = test.bits === bits ? this.#tested(expr, test) : this.of(expr, test.bits);
      return this.#resized(own, bits, "signed");
    }
    const value = this.#sources.wide(expr);
    if (value.kind === "uniform") {
      const all = wasm.op("i32.sub", wasm.i32(0), value.scalar);
      return this.#all(bits, wasm.op(`${lanesOf(bits)}.splat`, all));
    }
    const { quads } = vectorOf(value, this.#sources.quads());
    return narrowedMask(
      quads.map(([q]) => q!),
      bits,
    );
  }

  #tested(expr: Expr, test: NarrowTest): Narrow {
    const { bits } = test;
    if (test.kind === "register") return this.#inLocals(expr, bits);
    const args = (expr as Prim).args.map((arg) => this.of(arg, bits).parts);
    const [a, b] = args as [readonly Wasm[], readonly Wasm[]];
    if (test.kind === "compare") return narrow(bits, compared(test, a, b));
    if (test.name === "not") return narrow(bits, inverted(a));
    return narrow(bits, both(`v128.${test.name}`, a, b));
  }
}

/** Low bits of products. Those of bytes are made of products of halves: of even bytes, then of odd ones. */
function product(bits: NarrowBits, a: Wasm, b: Wasm): Wasm {
  if (bits === 16) return wasm.op("i16x8.mul", a, b);
  const even = wasm.op("v128.and", wasm.op("i16x8.mul", a, b), wasm.i16x8(0xff));
  const isSplat = b.kind === "const" && b.ty === "v128" && b.value.every((byte) => byte === b.value[0]);
  const odd = isSplat ? wasm.i16x8(b.value[0] as number) : wasm.op("i16x8.shr_u", b, wasm.i32(8));
  return wasm.op("v128.or", even, wasm.op("i16x8.mul", wasm.op("v128.and", a, wasm.i16x8(0xff00)), odd));
}

/** The high halves of products without signs. */
function highProduct(part: Wasm, factor: number): Wasm {
  const [low, high] = (["low", "high"] as const).map((half) =>
    wasm.op(`i32x4.extmul_${half}_i16x8_u`, part, wasm.i16x8(factor)),
  );
  return shuffled(low!, high!, 2, [1, 3, 5, 7, 9, 11, 13, 15]);
}

type Binary = Parameters<typeof wasm.op>[0];

const both = (op: Binary, a: readonly Wasm[], b: readonly Wasm[]): readonly Wasm[] =>
  a.map((part, i) => wasm.op(op, part, b[i]!));

const inverted = (parts: readonly Wasm[]): readonly Wasm[] => parts.map((part) => wasm.op("v128.not", part));

const extremumOp = ({ name }: Extremum, signed: boolean, bits: NarrowBits): Binary =>
  `${lanesOf(bits)}.${name}_${signed ? "s" : "u"}`;

function compared(
  { name, signed, bits }: Extract<NarrowTest, { kind: "compare" }>,
  a: readonly Wasm[],
  b: readonly Wasm[],
): readonly Wasm[] {
  const lanes = lanesOf(bits);
  if (name === "eq" || name === "ne") return both(`${lanes}.${name}`, a, b);
  if (signed) return name === "lt" ? both(`${lanes}.lt_s`, a, b) : inverted(both(`${lanes}.lt_s`, b, a));
  // Processors compare numbers without signs by their minimum.
  if (name === "le") return both(`${lanes}.eq`, both(`${lanes}.min_u`, a, b), a);
  return inverted(both(`${lanes}.eq`, both(`${lanes}.min_u`, b, a), b));
}

const bytes = (value: number): Wasm => wasm.i16x8((value & 0xff) * 0x101);
