import { type Expr, onceForEach } from "../../../semantics/index.ts";
import { type FunctionWriter, type ValueOp, type Wasm, wasm } from "../../../wasm/index.ts";
import { canonicalNan } from "../lanes/canonical-nan.ts";
import type { Mask } from "../lanes/mask.ts";
import { applyScalar, type Value } from "../lanes/value.ts";

/** An associative and commutative operation on 32-bit integers. */
interface Associative {
  readonly op: ValueOp;
  /** The neutral element. */
  readonly identity: number;
}

const associative: Readonly<Partial<Record<string, Associative>>> = {
  "i32.add": { op: "i32x4.add", identity: 0 },
  "i32.and": { op: "v128.and", identity: -1 },
  "i32.or": { op: "v128.or", identity: 0 },
  "i32.xor": { op: "v128.xor", identity: 0 },
  min_s: { op: "i32x4.min_s", identity: 0x7fff_ffff },
  max_s: { op: "i32x4.max_s", identity: -0x8000_0000 },
  min_u: { op: "i32x4.min_u", identity: -1 },
  max_u: { op: "i32x4.max_u", identity: 0 },
};

/** Whether operands are the values of two lanes, starting with the `first`. */
function isPair([a, b]: readonly Expr[], first: 0 | 1): boolean {
  return a?.kind === "old" && b?.kind === "old" && a.index === first && b.index === 1 - first;
}

/** Recognizes an associative and commutative operation in `combine`, an expression over `old` leaves. */
function associativeOf(combine: Expr): Associative | null {
  if (combine.kind !== "prim") return null;
  if (isPair(combine.args, 0)) return associative[combine.prim] ?? null;
  const [p, ...chosen] = combine.args;
  if (combine.prim !== "i32.select" || p?.kind !== "prim" || !isPair(p.args, 0)) return null;
  const less = /^i32\.lt_([su])$/.exec(p.prim);
  if (less === null) return null;
  if (isPair(chosen, 0)) return associative[`min_${less[1]}`]!;
  return isPair(chosen, 1) ? associative[`max_${less[1]}`]! : null;
}

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
    const rest = wasm.i32x4(found.identity);
    const values = lanes === null ? operand : operand.map((part, q) => wasm.blend(lanes[q]!, part, rest));
    writer.assign([{ local: total, value: tree(found.op, values) }]);
  }
}

function tree(op: ValueOp, quads: readonly Wasm[]): Wasm {
  const four = quads.reduce((a, b) => wasm.op(op, a, b));
  const two = wasm.op(op, four, wasm.shuffle32(four, four, [2, 3, 2, 3]));
  return wasm.lane("i32x4.extract_lane", 0, wasm.op(op, two, wasm.shuffle32(two, two, [1, 1, 1, 1])));
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
