import { type Expr, onceForEach } from "../../../semantics/index.ts";
import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import { canonicalNan } from "../lanes/canonical-nan.ts";
import { associativeOf, folded } from "../lanes/lane-fold.ts";
import type { Mask } from "../lanes/mask.ts";
import { applyScalar, type Value } from "../lanes/value.ts";

/** The space in memory where the values of single lanes can be read. */
export interface Shown {
  /** Stores them. */
  readonly show: () => void;
  /** The local with the address of the context, and the offset in it of the values. */
  readonly context: number;
  readonly at: number;
  /** The lanes that take part, as bits. */
  readonly present: Wasm;
}

/**
 * Folds `combine` over the values of the lanes of a mask (null: all lanes), lowest first, into the local `total` (i32).
 */
export function reduce(
  writer: FunctionWriter,
  combine: Expr,
  operand: readonly Wasm[],
  lanes: Mask,
  total: number,
  shown: Shown,
): void {
  const found = associativeOf(combine);
  if (found === null) foldInOrder(writer, combine, total, shown);
  else {
    writer.assign([{ local: total, value: folded(found, operand, lanes) }]);
  }
}

function foldInOrder(
  writer: FunctionWriter,
  combine: Expr,
  total: number,
  { show, present, context, at }: Shown,
): void {
  const [rest, next] = [writer.local("i32"), writer.local("i32")];
  const local = (l: number): Wasm => wasm.local("i32", l);
  const take = (): void => {
    const lowest = wasm.op("i32.shl", wasm.op("i32.ctz", local(rest)), wasm.i32(2));
    writer.value(wasm.op("i32.add", local(context), lowest));
    writer.memory("i32.load", 4, at);
    writer.set(next);
    writer.assign([
      { local: rest, value: wasm.op("i32.and", local(rest), wasm.op("i32.sub", local(rest), wasm.i32(1))) },
    ]);
  };
  show();
  writer.assign([{ local: rest, value: present }]);
  take();
  writer.assign([{ local: total, value: local(next) }]);
  const done = writer.begin("block");
  writer.loop((again) => {
    writer.value(wasm.op("i32.eqz", local(rest)));
    writer.brIf(done);
    take();
    writer.assign([{ local: total, value: combined(combine, [local(total), local(next)]) }]);
    writer.br(again);
  });
  writer.end();
  writer.release(rest);
  writer.release(next);
}

/** The value of `combine` for two lanes' values, as bits. */
function combined(combine: Expr, old: readonly Wasm[]): Wasm {
  const scalarOf = onceForEach<Wasm>((expr, scalarOf) => {
    switch (expr.kind) {
      case "old": {
        const bits = old[expr.index]!;
        return expr.ty === "f32" ? wasm.op("f32.reinterpret_i32", bits) : bits;
      }
      case "const":
        if (expr.ty === "f32") return wasm.f32(expr.value as number);
        return wasm.i32(Number(expr.value));
      case "prim":
        return applyScalar(expr.prim, expr.args.map(scalarOf));
      default:
        throw new Error(`${expr.kind} in a reduction over lanes`);
    }
  });
  const value: Value = { kind: "uniform", ty: combine.ty, scalar: scalarOf(combine) };
  const bits = canonicalNan(value);
  if (bits.kind !== "uniform") throw new Error("a reduction over lanes has one value");
  return bits.scalar;
}
