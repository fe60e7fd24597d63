import { type Prim, prim } from "../prim.ts";

/** A comparison of floating-point numbers (PTX 9.3.1.2): ordered, unordered (`u`), and the tests for NaN. */
export type FloatCompare =
  | "eq"
  | "ne"
  | "lt"
  | "le"
  | "gt"
  | "ge"
  | "equ"
  | "neu"
  | "ltu"
  | "leu"
  | "gtu"
  | "geu"
  | "num"
  | "nan";

type ComparePrims<T extends "f32" | "f64"> = { readonly [K in `${T}.cmp_${FloatCompare}`]: Prim };

/** An ordered comparison with NaN is false, also `ne`; an unordered one is the negation of its ordered opposite. */
const compareTable = <T extends "f32" | "f64">(ty: T): ComparePrims<T> => {
  const rows: Record<FloatCompare, (a: number, b: number) => boolean> = {
    eq: (a, b) => a === b,
    ne: (a, b) => a < b || a > b,
    lt: (a, b) => a < b,
    le: (a, b) => a <= b,
    gt: (a, b) => a > b,
    ge: (a, b) => a >= b,
    equ: (a, b) => !(a < b || a > b),
    neu: (a, b) => a !== b,
    ltu: (a, b) => !(a >= b),
    leu: (a, b) => !(a > b),
    gtu: (a, b) => !(a <= b),
    geu: (a, b) => !(a < b),
    num: (a, b) => a === a && b === b,
    nan: (a, b) => a !== a || b !== b,
  };
  const named = Object.entries(rows).map(([name, evaluate]) => [`${ty}.cmp_${name}`, prim([ty, ty], "pred", evaluate)]);
  return Object.fromEntries(named) as ComparePrims<T>;
};

/** Comparisons of binary32 and binary64 numbers; f16 and bf16 are compared as the binary32 numbers that they are. */
export const comparePrims = {
  ...compareTable("f32"),
  ...compareTable("f64"),
  "f64.select": prim(["pred", "f64", "f64"], "f64", (p, a, b) => (p ? a : b)),
} as const;
