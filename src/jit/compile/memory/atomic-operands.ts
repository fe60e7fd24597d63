import { type Expr, onceForEach } from "../../../semantics/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { Chunk } from "../emit/chunk.ts";
import { canonicalNan } from "../lanes/canonical-nan.ts";
import {
  applyScalar,
  applyVector,
  laneOf,
  scalarIn,
  type Value,
  type Vector,
  vectorIn,
  vectorOf,
} from "../lanes/value.ts";
import { hasOld } from "./read-modify-write.ts";

type Prim = Extract<Expr, { kind: "prim" }>;

/** What atomic operations compute of operands that do not depend on memory, and of old elements. */
export class AtomicOperands {
  /** By expression that does not depend on memory: uniform, or in locals. */
  readonly values: ReadonlyMap<Expr, Value>;
  /** The locals in which they are, which are to be released. */
  readonly locals: readonly number[];
  readonly #quads: number;

  /** Computes the operands of expressions over old elements, once for all lanes. */
  constructor(chunk: Chunk, over: readonly Expr[]) {
    const values = new Map<Expr, Value>();
    this.values = values;
    this.#quads = chunk.quads;
    this.locals = over.flatMap((expr) => keep(chunk, expr, values));
  }

  /** The bits that a lane stores, or learns. `olds`: the locals with the old elements. */
  fresh(expr: Expr, lane: number, olds: readonly number[]): Wasm {
    return this.#combined(expr, olds, (operand) =>
      operand.kind === "uniform" ? operand.scalar : laneOf(operand as Vector, lane),
    );
  }

  /** The bits that lanes store together: `operand` stands for what theirs are. */
  together(expr: Expr, operand: Wasm, olds: readonly number[]): Wasm {
    return this.#combined(expr, olds, () => operand);
  }

  #combined(expr: Expr, olds: readonly number[], bitsOf: (operand: Value) => Wasm): Wasm {
    const scalarOf = onceForEach<Wasm>((e, scalarOf) => {
      const operand = this.values.get(e);
      if (operand !== undefined) return bitsOf(operand);
      if (e.kind === "prim") return applyScalar(e.prim, e.args.map(scalarOf));
      if (e.kind !== "old") throw new Error(`an expression of kind ${e.kind} is no operand`);
      const old = olds[e.index]!;
      return scalarIn(e.ty, old);
    });
    const value = canonicalNan({ kind: "uniform", ty: expr.ty, scalar: scalarOf(expr) });
    if (value.kind !== "uniform") throw new Error("one lane has one value");
    return value.scalar;
  }

  /** What all lanes learn of old elements that are the same for all. */
  learned(expr: Expr, olds: readonly number[]): Vector {
    const valuesOf = onceForEach<Value>((e, valuesOf) => {
      const operand = this.values.get(e);
      if (operand !== undefined) return operand;
      if (e.kind === "old") return { kind: "uniform", ty: e.ty, scalar: scalarIn(e.ty, olds[e.index]!) };
      if (e.kind !== "prim") throw new Error(`an expression of kind ${e.kind} is no operand`);
      const args = e.args.map(valuesOf);
      const scalars = args.flatMap((a) => (a.kind === "uniform" ? [a.scalar] : []));
      if (scalars.length === args.length) return { kind: "uniform", ty: e.ty, scalar: applyScalar(e.prim, scalars) };
      const vectors = args.map((a) => vectorOf(a, this.#quads));
      return applyVector(e.prim, vectors, this.#quads);
    });
    return vectorOf(valuesOf(expr), this.#quads);
  }
}

/** Computes what does not depend on memory; returns the locals that hold it. */
function keep(chunk: Chunk, expr: Expr, values: Map<Expr, Value>): number[] {
  if (expr.kind === "old" || values.has(expr)) return [];
  if (hasOld(expr)) return (expr as Prim).args.flatMap((arg) => keep(chunk, arg, values));
  const { writer, quads } = chunk;
  const value = chunk.value(expr);
  if (value.kind === "uniform" && value.scalar.kind === "const") {
    values.set(expr, value);
    return [];
  }
  if (value.kind === "uniform") {
    const local = writer.local(value.scalar.ty);
    writer.assign([{ local, value: value.scalar }]);
    values.set(expr, { kind: "uniform", ty: value.ty, scalar: wasm.local(value.scalar.ty, local) });
    return [local];
  }
  const parts = vectorOf(value, quads).quads.flat();
  const locals = parts.map(() => writer.local("v128"));
  writer.assign(parts.map((part, i) => ({ local: locals[i]!, value: part })));
  values.set(expr, vectorIn(expr.ty, locals));
  return locals;
}
