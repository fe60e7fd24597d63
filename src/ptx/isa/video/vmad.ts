import type { Expr, Kit } from "../../../semantics/index.ts";
import { form, instruction, type OperandAccess } from "../define.ts";
import { isSigned } from "../integer/integer-type.ts";
import { clamp } from "./secondary.ts";
import { extractPart, part } from "./selector.ts";

const types = ["u32", "s32"] as const;
const where = { dtype: types, atype: types, btype: types, scale: ["shr7", "shr15"] } as const;
const operands = { d: "dtype", a: "atype", b: "btype", c: "dtype" } as const;
const gate = { since: "2.0", target: "sm_20", selectors: { a: part, b: part } } as const;

interface Chosen {
  readonly atype: string;
  readonly btype: string;
  readonly sat: boolean;
  readonly scale: "shr7" | "shr15" | undefined;
}

/** What is negated, the product or the addend, or whether one is added. */
type Mode = "plain" | "product" | "addend" | "plus-one";

function multiplyAdd(
  k: Kit,
  src: Readonly<Record<"a" | "b" | "c", Expr>>,
  { atype, btype, sat, scale }: Chosen,
  mode: Mode,
  ops: OperandAccess,
): Expr {
  const signed = isSigned(atype) || isSigned(btype) || mode === "product" || mode === "addend";
  const a = extractPart(k, src.a, ops.selector("a"), atype);
  const factor = mode === "product" ? k.neg(a) : a;
  const b = extractPart(k, src.b, ops.selector("b"), btype);
  const c = k.widen(mode === "addend" ? k.not(src.c) : src.c, signed);
  const addend = mode === "addend" || mode === "plus-one" ? k.add(c, k.i64(1n)) : c;
  const n = k.i32(scale === undefined ? 0 : Number(scale.slice(3)));
  if (sat) return k.wrap(clamp(k, k.op("i64.mul_add_shr_sat", factor, b, addend, n), 32, signed));
  // 64 bits are enough for the low 32 bits after a shift by at most 15.
  return k.wrap(k.shr(k.add(k.mul(factor, b), addend), n, true));
}

/** Section 9.7.18.1.3. */
export const vmad = instruction("vmad", {
  summary: "multiplies and adds bytes, half words or words",
  section: "9.7.18.1.3",
  forms: [
    form("vmad.dtype.atype.btype{.sat}{.scale} d, {-}a, {-}b, {-}c", {
      where,
      operands,
      ...gate,
      note: "`-a` or `-b` negates the product; the product and `c` cannot both be negated",
      sem: (k, src, m, ops) => {
        const product = ops.negated("a") !== ops.negated("b");
        return multiplyAdd(k, src, m, product ? "product" : ops.negated("c") ? "addend" : "plain", ops);
      },
    }),
    form("vmad.dtype.atype.btype.po{.sat}{.scale} d, a, b, c", {
      where,
      operands,
      ...gate,
      sem: (k, src, m, ops) => multiplyAdd(k, src, m, "plus-one", ops),
    }),
  ],
});
