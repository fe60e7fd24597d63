import type { Lanes, Wasm } from "../../wasm/index.ts";
import { onDoubles, onSingles } from "../form.ts";
import { asSelect, type Prim, prim } from "../prim.ts";

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

const differ = (d: Lanes, a: Wasm, b: Wasm): Wasm => d.either(d.lt(a, b), d.gt(a, b));
const emitted: Readonly<Record<FloatCompare, (d: Lanes, a: Wasm, b: Wasm) => Wasm>> = {
  eq: (d, a, b) => d.eq(a, b),
  ne: differ,
  lt: (d, a, b) => d.lt(a, b),
  le: (d, a, b) => d.le(a, b),
  gt: (d, a, b) => d.gt(a, b),
  ge: (d, a, b) => d.ge(a, b),
  equ: (d, a, b) => d.not(differ(d, a, b)),
  neu: (d, a, b) => d.ne(a, b),
  ltu: (d, a, b) => d.not(d.ge(a, b)),
  leu: (d, a, b) => d.not(d.gt(a, b)),
  gtu: (d, a, b) => d.not(d.le(a, b)),
  geu: (d, a, b) => d.not(d.lt(a, b)),
  num: (d, a, b) => d.both(d.eq(a, a), d.eq(b, b)),
  nan: (d, a, b) => d.either(d.ne(a, a), d.ne(b, b)),
};

/** An ordered comparison with NaN is false, even `ne`; an unordered one is the negation of its ordered opposite. */
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
  const on = ty === "f32" ? onSingles : onDoubles;
  const named = Object.entries(rows).map(([name, evaluate]) => {
    const expand = emitted[name as FloatCompare];
    return [`${ty}.cmp_${name}`, prim([ty, ty], "pred", evaluate, on(expand))];
  });
  return Object.fromEntries(named) as ComparePrims<T>;
};

/**
 * Comparisons of binary32 and binary64 numbers; f16 and bf16 numbers are compared as the binary32 numbers that they
 * equal.
 */
export const comparePrims = {
  ...compareTable("f32"),
  ...compareTable("f64"),
  "f64.select": prim(["pred", "f64", "f64"], "f64", (p, a, b) => (p ? a : b), asSelect("half")),
} as const;
