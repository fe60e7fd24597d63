import { type Expr, kit as k, type PrimName } from "../../semantics/index.ts";
import { isFloat, typeBytes } from "../types.ts";
import { comparable, type FloatFormat } from "./float-arithmetic.ts";
import { type LowerSpecial, pure, readOperands } from "./channel-operands.ts";
import { choiceOf } from "../instruction-operands.ts";
import { formatOf, type ModifiedSource, promote, promotedFloat } from "./promotion.ts";

/** `cmp`: into a predicate, or into elements of all ones or all zeros. */
export const compare: LowerSpecial = (context, instruction) => {
  const { dst, sources, undefinedCases } = readOperands(context, instruction);
  const relation = choiceOf(instruction, "relation") as Relation;
  const [a, b] = sources;
  if (a === undefined || b === undefined || isFloat(a.type) !== isFloat(b.type)) return null;
  const format = formatOf([a.type, b.type]);
  const holds = format === null ? integerRelation(relation, a, b) : floatRelation(relation, a, b, format);
  if (dst.type === "bool") return pure(holds, dst, undefinedCases);
  const ones = typeBytes(dst.type) === 8 ? k.i64(-1n) : k.i32(-1);
  return pure(k.select(holds, ones, k.int(ones, 0)), dst, undefinedCases);
};

type Relation = "eq" | "ne" | "gt" | "ge" | "lt" | "le";

/** Only `ne` holds if an operand is NaN. */
const floatRelations = { eq: "eq", ne: "neu", gt: "gt", ge: "ge", lt: "lt", le: "le" } as const;

function floatRelation(relation: Relation, a: ModifiedSource, b: ModifiedSource, format: FloatFormat): Expr {
  const ty = format === "f64" ? "f64" : "f32";
  const [x, y] = [a, b].map((s) => comparable(format, promotedFloat(s, format)));
  return k.op(`${ty}.cmp_${floatRelations[relation]}` satisfies PrimName, x!, y!);
}

function integerRelation(relation: Relation, a: ModifiedSource, b: ModifiedSource): Expr {
  const { sources, ty, signed } = promote([a, b], "order", null, false);
  const [x, y] = sources as [Expr, Expr];
  const unsignedA = ty === "i64" && isUnsignedLong(a);
  const unsignedB = ty === "i64" && isUnsignedLong(b);
  const order = signed && unsignedA !== unsignedB ? mixedOrder(x, y, unsignedA) : sameOrder(x, y, signed);
  switch (relation) {
    case "eq":
      return order.equal;
    case "ne":
      return k.not(order.equal);
    case "lt":
      return order.less;
    case "ge":
      return k.not(order.less);
    case "gt":
      return order.greater;
    default:
      return k.not(order.greater);
  }
}

interface Order {
  readonly equal: Expr;
  readonly less: Expr;
  readonly greater: Expr;
}

const sameOrder = (x: Expr, y: Expr, signed: boolean): Order => ({
  equal: k.eq(x, y),
  less: k.lt(x, y, signed),
  greater: k.lt(y, x, signed),
});

const isUnsignedLong = ({ type, modifier }: ModifiedSource): boolean =>
  type === "uq" && (modifier === null || modifier === "abs");

/** The order of a signed and an unsigned 64-bit number: a negative one is less than any unsigned one. */
function mixedOrder(x: Expr, y: Expr, unsignedX: boolean): Order {
  const negative = k.lt(unsignedX ? y : x, k.i64(0n), true);
  const unsigned = sameOrder(x, y, false);
  const [lessIfNegative, greaterIfNegative] = unsignedX ? [false, true] : [true, false];
  return {
    equal: k.op("pred.and", unsigned.equal, k.not(negative)),
    less: k.select(negative, k.pred(lessIfNegative), unsigned.less),
    greater: k.select(negative, k.pred(greaterIfNegative), unsigned.greater),
  };
}
