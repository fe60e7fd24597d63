import { operandsOf } from "../../../../ir/operands.ts";
import type { Instruction } from "../../../../ir/index.ts";
import type { Expr } from "../../../../semantics/index.ts";
import type { NarrowBits } from "../../lanes/narrow.ts";
import type { NarrowPlans } from "./narrow-plan.ts";

type Prim = Extract<Expr, { kind: "prim" }>;

/** How often registers are read in narrow lanes, and in wide ones. */
export class NarrowUses {
  readonly narrow: Uint32Array;
  readonly wide: Uint32Array;
  readonly #plans: NarrowPlans;

  constructor(plans: NarrowPlans, count: number) {
    this.#plans = plans;
    this.narrow = new Uint32Array(count);
    this.wide = new Uint32Array(count);
  }

  add({ op, dst }: Instruction): void {
    if (op.kind === "pure") {
      op.values.forEach((value, i) => {
        const to = dst[i];
        const form = typeof to === "number" ? this.#plans.form(to) : null;
        if (form !== null && value.ty === "i32") this.#inNarrow(value, form.bits);
        else this.#inWide(value);
      });
    } else if (op.kind === "store") {
      for (const expr of operandsOf({ ...op, values: [] })) this.#inWide(expr);
      const { bits } = op.access;
      for (const value of op.values) {
        if (value === null) continue;
        if (bits < 32) this.#inNarrow(value, bits as NarrowBits);
        else this.#inWide(value);
      }
    } else for (const expr of operandsOf(op)) this.#inWide(expr);
  }

  #inWide(expr: Expr): void {
    const bits = this.#plans.widthOf(expr);
    if (bits !== null) {
      if (expr.ty === "pred") this.#inTest(expr);
      else this.#inNarrow(expr, bits);
    } else if (expr.kind === "reg") this.wide[expr.reg]!++;
    else if (expr.kind === "prim") for (const arg of expr.args) this.#inWide(arg);
  }

  #inTest(expr: Expr): void {
    const test = this.#plans.testOf(expr);
    if (test === null) this.#inWide(expr);
    else if (test.kind === "compare") for (const arg of (expr as Prim).args) this.#inNarrow(arg, test.bits);
    else if (expr.kind === "prim") for (const arg of expr.args) this.#inTest(arg);
  }

  #inNarrow(expr: Expr, bits: NarrowBits): void {
    const plan = this.#plans.planOf(expr, bits);
    if (plan === null) this.#inWide(expr);
    else if (expr.kind === "reg") this.narrow[expr.reg]!++;
    else if (plan.kind === "same") this.#inNarrow(plan.as, bits);
    else if (plan.kind === "resized") this.#inNarrow(expr, plan.from);
    else if (plan.kind === "high") this.#inNarrow((expr as Prim).args[0]!, bits);
    else if (plan.kind === "middle") this.#inNarrow((expr as Prim).args[0]!, 16);
    else if (plan.kind === "magnitude") this.#inNarrow(plan.of, bits);
    else if (plan.kind === "extremum") for (const arg of plan.extremum.args) this.#inNarrow(arg, bits);
    else if (expr.kind === "prim") {
      for (const arg of expr.args) {
        if (arg.ty === "pred") this.#inTest(arg);
        else if (plan.kind !== "shift" || arg === expr.args[0]) this.#inNarrow(arg, bits);
      }
    }
  }
}
