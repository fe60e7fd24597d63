import type { Expr, Kit } from "../../../semantics/index.ts";
import { form, instruction, type OperandAccess } from "../define.ts";

/** `x ? whenSet : whenClear` for each bit, simplified if these are constants. */
function choose(k: Kit, x: Expr, whenSet: Expr, whenClear: Expr): Expr {
  if (whenSet === whenClear) return whenSet;
  if (isConstant(whenSet, -1)) return isConstant(whenClear, 0) ? x : k.or(x, whenClear);
  if (isConstant(whenSet, 0)) return isConstant(whenClear, -1) ? k.not(x) : k.and(k.not(x), whenClear);
  if (isConstant(whenClear, 0)) return k.and(x, whenSet);
  if (isConstant(whenClear, -1)) return k.or(k.not(x), whenSet);
  return k.xor(whenClear, k.and(x, k.xor(whenSet, whenClear)));
}

const isConstant = (e: Expr, value: number): boolean => e.kind === "const" && e.value === value;

/**
 * The bitwise function of three operands whose value for the bits a, b, c is bit `abc` of the table. Each operand in
 * turn selects half of the table.
 */
function lookUp(k: Kit, operands: readonly [Expr, Expr, Expr], table: number): Expr {
  const zeros = k.i32(0);
  const ones = k.i32(-1);
  const [a, b, c] = operands;
  // The four functions of `c` alone. Each is built once, so that equal halves are the same object.
  const ofC = [zeros, k.not(c), c, ones];
  const ofB = (nibble: number) => choose(k, b, ofC[nibble >> 2]!, ofC[nibble & 3]!);
  const high = (table >> 4) & 15;
  const low = table & 15;
  const whenSet = ofB(high);
  return choose(k, a, whenSet, high === low ? whenSet : ofB(low));
}

const logic = (k: Kit, src: Readonly<Record<"a" | "b" | "c", Expr>>, ops: OperandAccess): Expr =>
  lookUp(k, [src.a, src.b, src.c], Number(ops.constant("immLut") ?? 0));

/** Section 9.7.8.6. The manual calls the predicate source `q`, which is a destination elsewhere. */
export const lop3 = instruction("lop3", {
  summary: "applies an arbitrary bitwise operation to three values",
  section: "9.7.8.6",
  forms: [
    form("lop3.b32 d, a, b, c, immLut", {
      operands: { immLut: "imm u32 0..255" },
      since: "4.3",
      target: "sm_50",
      sem: (k, src, _m, ops) => logic(k, src, ops),
    }),
    form("lop3.BoolOp.b32 d|p, a, b, c, immLut, {!}r", {
      where: { BoolOp: ["or", "and"] },
      operands: { immLut: "imm u32 0..255", p: "pred", r: "pred" },
      since: "8.2",
      target: "sm_70",
      sem: (k, src, { BoolOp }, ops) => {
        const d = logic(k, src, ops);
        return { d, p: k.op(`pred.${BoolOp}`, k.ne(d, k.i32(0)), src.r) };
      },
    }),
  ],
});
