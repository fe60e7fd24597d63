import type { Expr, Kit } from "../../../semantics/index.ts";
import type { FloatCompare } from "../../../semantics/prims/compare.ts";
import { typeInfo } from "../../types.ts";

const everyType = ["eq", "ne"] as const;
const ordering = ["lt", "le", "gt", "ge"] as const;
const unsignedOnly = ["lo", "ls", "hi", "hs"] as const;
const floatOnly = ["equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"] as const;

/** The comparison operators (9.3.1, tables 22 to 25). */
export const CmpOp = [...everyType, ...ordering, ...unsignedOnly, ...floatOnly] as const;
export type CmpOp = (typeof CmpOp)[number];
/** The operators of the half-precision forms (9.7.7). */
export const FloatCmpOp = [...everyType, ...ordering, ...floatOnly] as const satisfies readonly FloatCompare[];
/** The operators that combine a comparison with a predicate. */
export const BoolOp = ["and", "or", "xor"] as const;
export type BoolOp = (typeof BoolOp)[number];

const among = (list: readonly CmpOp[], op: CmpOp): boolean => list.includes(op);

const isFloat = (type: string): boolean => typeInfo(type)?.kind === "f" || type.startsWith("bf16");

/** Why an operator cannot compare operands of this type, or null. */
function operatorProblem(op: CmpOp, type: string): string | null {
  const kind = typeInfo(type)?.kind;
  if (among(floatOnly, op) && !isFloat(type)) return `'.${op}' compares floating-point values, not '.${type}'`;
  if (among(unsignedOnly, op) && kind !== "u") return `'.${op}' compares unsigned values, not '.${type}'`;
  if (among(ordering, op) && kind === "b" && !isFloat(type)) {
    return `'.${type}' values are untyped bits, which can only be compared with '.eq' and '.ne'`;
  }
  return null;
}

/** Why `.ftz` cannot be used with operands of this type, or null. */
const flushProblem = (type: string): string | null =>
  ["f32", "f16", "f16x2"].includes(type)
    ? null
    : `'.ftz' flushes subnormal operands of type '.f32' and '.f16', but these are '.${type}'`;

/** The modifiers of a comparison by `set` or `setp`. */
export interface Comparison {
  readonly CmpOp: CmpOp;
  readonly BoolOp?: BoolOp;
  readonly ftz?: boolean;
}

/** The operands of a comparison; `c` is the predicate that `BoolOp` combines the result with. */
export type Compared = Readonly<Record<"a" | "b", Expr>> & { readonly c?: Expr };

/** Why these modifiers cannot compare operands of this type, or null. */
export const comparisonProblem = ({ CmpOp, ftz }: Comparison, type: string): string | null =>
  operatorProblem(CmpOp, type) ?? (ftz ? flushProblem(type) : null);

const signed: Readonly<Partial<Record<CmpOp, CmpOp>>> = { lo: "lt", ls: "le", hi: "gt", hs: "ge" };

function compareIntegers(k: Kit, op: CmpOp, a: Expr, b: Expr, isSigned: boolean): Expr {
  switch (signed[op] ?? op) {
    case "eq":
      return k.eq(a, b);
    case "ne":
      return k.ne(a, b);
    case "lt":
      return k.lt(a, b, isSigned);
    case "le":
      return k.le(a, b, isSigned);
    case "gt":
      return k.lt(b, a, isSigned);
    default:
      return k.le(b, a, isSigned);
  }
}

/** An operand as a floating-point number to compare. f16 and bf16 are converted to binary32, which is exact. */
function comparable(k: Kit, a: Expr, type: string, flush: boolean): Expr {
  if (type === "f16") return k.op("f32.from_f16", flush ? k.op("i32.flush_f16", a) : a);
  if (type === "bf16") return k.op("f32.from_bf16", a);
  return flush ? k.op("f32.ftz", a) : a;
}

/** `a op b` for operands of a scalar type. */
export function compare(k: Kit, op: CmpOp, type: string, a: Expr, b: Expr, flush: boolean): Expr {
  if (!isFloat(type)) return compareIntegers(k, op, a, b, typeInfo(type)?.kind === "s");
  const prim = `${type === "f64" ? "f64" : "f32"}.cmp_${op as FloatCompare}` as const;
  return k.op(prim, comparable(k, a, type, flush), comparable(k, b, type, flush));
}

/** `BoolOp(t, c)`, or `t` if there is no operator. */
export const combine = (k: Kit, op: BoolOp | undefined, t: Expr, c: Expr | undefined): Expr =>
  op === undefined || c === undefined ? t : k[op](t, c);

/** The comparisons of the low and of the high elements of `f16x2` or `bf16x2` operands. */
export function compareHalves(
  k: Kit,
  op: CmpOp,
  type: string,
  a: Expr,
  b: Expr,
  flush: boolean,
): readonly [Expr, Expr] {
  const element = type === "f16x2" ? "f16" : "bf16";
  const half = (at: number) => compare(k, op, element, k.field(a, at, 16, false), k.field(b, at, 16, false), flush);
  return [half(0), half(16)];
}
