import type { Expr, Kit } from "../../../semantics/index.ts";
import { form, type Instruction, instruction, type OperandAccess } from "../define.ts";
import { isSigned } from "../integer/integer-type.ts";
import { compare, comparisons } from "./scalar.ts";
import { byteMask, byteSelection, extractElements, halfMask, halfSelection, mergePart } from "./selector.ts";

const types = ["u32", "s32"] as const;
const gate = { since: "3.0", target: "sm_30" } as const;
const operands = { d: "dtype", a: "reg atype", b: "reg btype", c: "reg dtype" } as const;
const setOperands = { ...operands, d: "u32", c: "reg u32" } as const;

/** Instructions on two half words or four bytes: the size of an element and the default selectors. */
const ways = {
  2: { bits: 16, a: "h10", b: "h32", d: "h10", selectors: { d: halfMask, a: halfSelection, b: halfSelection } },
  4: { bits: 8, a: "b3210", b: "b7654", d: "b3210", selectors: { d: byteMask, a: byteSelection, b: byteSelection } },
} as const;
type Way = (typeof ways)[2 | 4];

type Sources = Readonly<Record<"a" | "b" | "c", Expr>>;
type Types = { readonly atype: string; readonly btype: string };
/** The operation on one pair of elements (`i32`). */
type ElementOperation = (k: Kit, a: Expr, b: Expr) => Expr;

/** The results of the elements in the mask of `d`, with their numbers, lowest first. */
function results(k: Kit, way: Way, f: ElementOperation, { a, b }: Sources, m: Types, ops: OperandAccess) {
  const as = extractElements(k, [a, b], ops.selector("a") ?? way.a, m.atype);
  const bs = extractElements(k, [a, b], ops.selector("b") ?? way.b, m.btype);
  const mask = ops.selector("d") ?? way.d;
  return [...mask.slice(1)].reverse().map((digit) => ({
    element: Number(digit),
    value: f(k, as[Number(digit)]!, bs[Number(digit)]!),
  }));
}

/** Merges the results into `c`, which provides the elements outside the mask. */
const mergeElements = (k: Kit, way: Way, c: Expr, parts: ReturnType<typeof results>): Expr =>
  parts.reduce((word, { element, value }) => mergePart(k, value, { at: element * way.bits, bits: way.bits }, word), c);

/** Adds the results to `c`. */
const accumulate = (k: Kit, c: Expr, parts: ReturnType<typeof results>): Expr =>
  parts.reduce((sum, { value }) => k.add(sum, value), c);

function clampElement(k: Kit, value: Expr, bits: number, signed: boolean): Expr {
  const low = signed ? -(2 ** (bits - 1)) : 0;
  return k.max(k.min(value, k.i32(low + 2 ** bits - 1), true), k.i32(low), true);
}

type Operation = "vadd" | "vsub" | "vavrg" | "vabsdiff" | "vmin" | "vmax";

const operations: Readonly<Record<Operation, { readonly verb: string; readonly f: ElementOperation }>> = {
  vadd: { verb: "adds", f: (k, a, b) => k.add(a, b) },
  vsub: { verb: "subtracts", f: (k, a, b) => k.sub(a, b) },
  vavrg: {
    verb: "averages",
    f: (k, a, b) => {
      const sum = k.add(a, b);
      // Halves round away from zero: add one unless the sum is negative.
      return k.shr(k.add(sum, k.add(k.shr(sum, k.i32(31), true), k.i32(1))), k.i32(1), true);
    },
  },
  vabsdiff: { verb: "computes the absolute differences of", f: (k, a, b) => k.abs(k.sub(a, b)) },
  vmin: { verb: "returns the smaller of", f: (k, a, b) => k.min(a, b, true) },
  vmax: { verb: "returns the larger of", f: (k, a, b) => k.max(a, b, true) },
};

const elementsOf = (count: 2 | 4): string => (count === 2 ? "two pairs of half words" : "four pairs of bytes");

/** Sections 9.7.18.2.1 and 9.7.18.2.3. */
function arithmetic<N extends Operation, C extends 2 | 4>(operation: N, count: C): Instruction<`${N}${C}`> {
  const name = `${operation}${count}` as const;
  const { verb, f } = operations[operation];
  const way: Way = ways[count];
  const where = { dtype: types, atype: types, btype: types } as const;
  const { selectors } = way;
  return instruction(name, {
    summary: `${verb} ${elementsOf(count)}`,
    section: count === 2 ? "9.7.18.2.1" : "9.7.18.2.3",
    forms: [
      form(`${name as `${Operation}${2 | 4}`}.dtype.atype.btype{.sat} d, a, b, c`, {
        where,
        operands,
        selectors,
        ...gate,
        sem: (k, src, m, ops) => {
          const limited: ElementOperation = (kit, x, y) =>
            m.sat ? clampElement(kit, f(kit, x, y), way.bits, isSigned(m.dtype)) : f(kit, x, y);
          return mergeElements(k, way, src.c, results(k, way, limited, src, m, ops));
        },
      }),
      form(`${name as `${Operation}${2 | 4}`}.dtype.atype.btype.add d, a, b, c`, {
        where,
        operands,
        selectors,
        ...gate,
        sem: (k, src, m, ops) => accumulate(k, src.c, results(k, way, f, src, m, ops)),
      }),
    ],
  });
}

/** Sections 9.7.18.2.2 and 9.7.18.2.4. */
function comparison(count: 2 | 4): Instruction {
  const name = `vset${count}` as const;
  const way: Way = ways[count];
  const where = { atype: types, btype: types, cmp: comparisons } as const;
  const { selectors } = way;
  return instruction(name, {
    summary: `compares ${elementsOf(count)}`,
    section: count === 2 ? "9.7.18.2.2" : "9.7.18.2.4",
    forms: [
      form(`${name}.atype.btype.cmp d, a, b, c`, {
        where,
        operands: setOperands,
        selectors,
        ...gate,
        sem: (k, src, m, ops) =>
          mergeElements(
            k,
            way,
            src.c,
            results(k, way, (kit, x, y) => compare(kit, m.cmp, x, y), src, m, ops),
          ),
      }),
      form(`${name}.atype.btype.cmp.add d, a, b, c`, {
        where,
        operands: setOperands,
        selectors,
        ...gate,
        sem: (k, src, m, ops) =>
          accumulate(
            k,
            src.c,
            results(k, way, (kit, x, y) => compare(kit, m.cmp, x, y), src, m, ops),
          ),
      }),
    ],
  });
}

const names = ["vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"] as const;

/** Section 9.7.18.2. */
export const simdVideoInstructions: readonly Instruction[] = ([2, 4] as const).flatMap((count) => [
  ...names.map((name) => arithmetic(name, count)),
  comparison(count),
]);
