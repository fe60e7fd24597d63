import type { Expr } from "../../../semantics/index.ts";
import { type ValueOp, type Wasm, wasm } from "../../../wasm/index.ts";
import type { Mask } from "./mask.ts";

/** An associative and commutative operation on 32-bit integers. */
export interface Associative {
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

/** Whether an expression is the value of the lane with a number. */
const isLane = (expr: Expr | undefined, lane: number): boolean => expr?.kind === "old" && expr.index === lane;

/** Recognizes an associative and commutative operation in an expression over the values of two lanes. */
export function associativeOf(combine: Expr): Associative | null {
  return operationOf(
    combine,
    (expr) => isLane(expr, 0),
    (expr) => isLane(expr, 1),
  );
}

/** Recognizes one whose operands, in this order, are known by `isFirst` and `isSecond`. */
export function operationOf(
  combine: Expr,
  isFirst: (expr: Expr) => boolean,
  isSecond: (expr: Expr) => boolean,
): Associative | null {
  const isPair = ([a, b]: readonly Expr[]): boolean => isFirst(a!) && isSecond(b!);
  if (combine.kind !== "prim") return null;
  if (combine.args.length === 2 && isPair(combine.args)) return associative[combine.prim] ?? null;
  const [p, ...chosen] = combine.args;
  if (combine.prim !== "i32.select" || p?.kind !== "prim" || p.args.length !== 2 || !isPair(p.args)) return null;
  const less = /^i32\.lt_([su])$/.exec(p.prim);
  if (less === null) return null;
  if (isPair(chosen)) return associative[`min_${less[1]}`]!;
  return isPair([...chosen].reverse()) ? associative[`max_${less[1]}`]! : null;
}

/** An operation over the words of the lanes of a mask (null: all lanes); its neutral element where there are none. */
export function folded({ op, identity }: Associative, words: readonly Wasm[], lanes: Mask): Wasm {
  const rest = wasm.i32x4(identity);
  const values = lanes === null ? words : words.map((word, q) => wasm.blend(lanes[q]!, word, rest));
  const four = values.reduce((a, b) => wasm.op(op, a, b));
  const two = wasm.op(op, four, wasm.shuffle32(four, four, [2, 3, 2, 3]));
  return wasm.lane("i32x4.extract_lane", 0, wasm.op(op, two, wasm.shuffle32(two, two, [1, 1, 1, 1])));
}
