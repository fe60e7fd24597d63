import { resultsOf } from "../../../ir/flow/liveness.ts";
import type { Expr } from "../../../semantics/index.ts";
import type { PreparedCode } from "../analysis/code/prepared-code.ts";
import { deferredNans } from "../analysis/values/deferred-nans.ts";
import { observedBits } from "../analysis/values/observed-bits.ts";
import type { Value } from "../lanes/value.ts";

/** Where the NaNs of a function's registers are made canonical. */
export class NanRegisters {
  readonly #code: PreparedCode;
  /** Registers whose bits are observed; computed when a value that may be a NaN is first written. */
  #observed: ReadonlySet<number> | null = null;
  /** Registers whose NaNs are made canonical only where they are stored, with their types. */
  readonly #deferred: ReadonlyMap<number, "f32" | "f64">;

  constructor(code: PreparedCode) {
    this.#code = code;
    this.#deferred = deferredNans(code.instructions, code.graph, resultsOf(code.ir));
  }

  /** Whether a NaN must be made canonical when it is written to a register. */
  needCanonical(register: number, { ty }: Value): boolean {
    if (ty !== "f32" && ty !== "f64") return false;
    this.#observed ??= observedBits(this.#code.instructions, resultsOf(this.#code.ir));
    return this.#observed.has(register) && !this.#deferred.has(register);
  }

  /** An expression that is stored to memory: as a float where NaNs were to be made canonical only then. */
  asStored(expr: Expr): Expr {
    const ty = expr.kind === "reg" ? this.#deferred.get(expr.reg) : undefined;
    return ty === undefined ? expr : { ...(expr as Extract<Expr, { kind: "reg" }>), ty };
  }
}
