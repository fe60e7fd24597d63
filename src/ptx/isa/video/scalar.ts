import type { Expr, Kit } from "../../../semantics/index.ts";
import { form, type Instruction, instruction, type OperandAccess } from "../define.ts";
import { conclude, destination, merge, secondary, secondaryOperations } from "./secondary.ts";
import { extractPart, part } from "./selector.ts";

const types = ["u32", "s32"] as const;
const gate = { since: "2.0", target: "sm_20" } as const;
const selectors = { a: part, b: part };
const mergeSelectors = { ...selectors, d: part };
const operands = { d: "dtype", a: "atype", b: "btype" } as const;
const threeOperands = { ...operands, c: "dtype" } as const;

type Sources = Readonly<Record<"a" | "b", Expr>>;
type Types = { readonly dtype: string; readonly atype: string; readonly btype: string };

/** The operation of a scalar video instruction on two 33-bit values (`i64`). */
type Operation = (k: Kit, a: Expr, b: Expr) => Expr;

const apply = (k: Kit, operation: Operation, { a, b }: Sources, { atype, btype }: Types, ops: OperandAccess): Expr =>
  operation(k, extractPart(k, a, ops.selector("a"), atype), extractPart(k, b, ops.selector("b"), btype));

/** Section 9.7.18.1.1. */
function arithmetic(
  name: "vadd" | "vsub" | "vabsdiff" | "vmin" | "vmax",
  summary: string,
  operation: Operation,
): Instruction {
  const where = { dtype: types, atype: types, btype: types } as const;
  return instruction(name, {
    summary,
    section: "9.7.18.1.1",
    forms: [
      form(`${name}.dtype.atype.btype{.sat} d, a, b`, {
        where,
        operands,
        selectors,
        ...gate,
        sem: (k, src, m, ops) => conclude(k, apply(k, operation, src, m, ops), m.dtype, m.sat, destination(ops)),
      }),
      form(`${name}.dtype.atype.btype{.sat}.op2 d, a, b, c`, {
        where: { ...where, op2: secondaryOperations },
        operands: threeOperands,
        selectors,
        ...gate,
        sem: (k, src, m, ops) => {
          const value = conclude(k, apply(k, operation, src, m, ops), m.dtype, m.sat, destination(ops));
          return secondary(k, m.op2, value, src.c, m.dtype);
        },
      }),
      form(`${name}.dtype.atype.btype{.sat} d, a, b, c`, {
        where,
        operands: threeOperands,
        selectors: mergeSelectors,
        ...gate,
        sem: (k, src, m, ops) => {
          const value = conclude(k, apply(k, operation, src, m, ops), m.dtype, m.sat, destination(ops));
          return merge(k, value, src.c, ops);
        },
      }),
    ],
  });
}

export const vadd = arithmetic("vadd", "adds bytes, half words or words", (k, a, b) => k.add(a, b));
export const vsub = arithmetic("vsub", "subtracts bytes, half words or words", (k, a, b) => k.sub(a, b));
export const vabsdiff = arithmetic(
  "vabsdiff",
  "computes the absolute difference of bytes, half words or words",
  (k, a, b) => k.abs(k.sub(a, b)),
);
export const vmin = arithmetic("vmin", "returns the smaller of two bytes, half words or words", (k, a, b) =>
  k.min(a, b, true),
);
export const vmax = arithmetic("vmax", "returns the larger of two bytes, half words or words", (k, a, b) =>
  k.max(a, b, true),
);

/** Truncates an intermediate result to its 34 bits: bits that a left shift moves further are lost before saturation. */
const keep34 = (k: Kit, value: Expr): Expr => k.shr(k.shl(value, k.i32(30)), k.i32(30), true);

/** Section 9.7.18.1.2. */
function shift(name: "vshl" | "vshr", summary: string, operation: (k: Kit, a: Expr, n: Expr) => Expr): Instruction {
  const where = { dtype: types, atype: types, mode: ["clamp", "wrap"] } as const;
  type Chosen = {
    readonly dtype: string;
    readonly atype: string;
    readonly mode: "clamp" | "wrap";
    readonly sat: boolean;
  };
  const shifted = (k: Kit, { a, b }: Sources, m: Chosen, ops: OperandAccess): Expr => {
    const count = k.wrap(extractPart(k, b, ops.selector("b"), "u32"));
    const n = m.mode === "clamp" ? k.min(count, k.i32(32), false) : k.and(count, k.i32(31));
    return conclude(
      k,
      operation(k, extractPart(k, a, ops.selector("a"), m.atype), n),
      m.dtype,
      m.sat,
      destination(ops),
    );
  };
  const shiftCount = { b: "u32" } as const;
  return instruction(name, {
    summary,
    section: "9.7.18.1.2",
    forms: [
      form(`${name}.dtype.atype.u32{.sat}.mode d, a, b`, {
        where,
        operands: { ...operands, ...shiftCount },
        selectors,
        ...gate,
        sem: (k, src, m, ops) => shifted(k, src, m, ops),
      }),
      form(`${name}.dtype.atype.u32{.sat}.mode.op2 d, a, b, c`, {
        where: { ...where, op2: secondaryOperations },
        operands: { ...threeOperands, ...shiftCount },
        selectors,
        ...gate,
        sem: (k, src, m, ops) => secondary(k, m.op2, shifted(k, src, m, ops), src.c, m.dtype),
      }),
      form(`${name}.dtype.atype.u32{.sat}.mode d, a, b, c`, {
        where,
        operands: { ...threeOperands, ...shiftCount },
        selectors: mergeSelectors,
        ...gate,
        sem: (k, src, m, ops) => merge(k, shifted(k, src, m, ops), src.c, ops),
      }),
    ],
  });
}

export const vshl = shift("vshl", "shifts a byte, half word or word left", (k, a, n) => keep34(k, k.shl(a, n)));
export const vshr = shift("vshr", "shifts a byte, half word or word right", (k, a, n) => k.shr(a, n, true));

export const comparisons = ["eq", "ne", "lt", "le", "gt", "ge"] as const;
export type Comparison = (typeof comparisons)[number];

/** 1 if the signed comparison holds, else 0 (`i32`). */
export function compare(k: Kit, cmp: Comparison, a: Expr, b: Expr): Expr {
  const holds = {
    eq: () => k.eq(a, b),
    ne: () => k.ne(a, b),
    lt: () => k.lt(a, b, true),
    le: () => k.le(a, b, true),
    gt: () => k.lt(b, a, true),
    ge: () => k.le(b, a, true),
  }[cmp]();
  return k.op("i32.from_pred", holds);
}

const setWhere = { atype: types, btype: types, cmp: comparisons } as const;
const setOperands = { d: "u32", a: "atype", b: "btype" } as const;
const threeSetOperands = { ...setOperands, c: "u32" } as const;
type SetChosen = { readonly atype: string; readonly btype: string; readonly cmp: Comparison };
const set = (k: Kit, { a, b }: Sources, { atype, btype, cmp }: SetChosen, ops: OperandAccess): Expr =>
  compare(k, cmp, extractPart(k, a, ops.selector("a"), atype), extractPart(k, b, ops.selector("b"), btype));

/** Section 9.7.18.1.4. */
export const vset = instruction("vset", {
  summary: "compares bytes, half words or words",
  section: "9.7.18.1.4",
  forms: [
    form("vset.atype.btype.cmp d, a, b", { where: setWhere, operands: setOperands, selectors, ...gate, sem: set }),
    form("vset.atype.btype.cmp.op2 d, a, b, c", {
      where: { ...setWhere, op2: secondaryOperations },
      operands: threeSetOperands,
      selectors,
      ...gate,
      sem: (k, src, m, ops) => secondary(k, m.op2, set(k, src, m, ops), src.c, "u32"),
    }),
    form("vset.atype.btype.cmp d, a, b, c", {
      where: setWhere,
      operands: threeSetOperands,
      selectors: mergeSelectors,
      ...gate,
      sem: (k, src, m, ops) => merge(k, set(k, src, m, ops), src.c, ops),
    }),
  ],
});
