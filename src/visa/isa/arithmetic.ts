import { type Expr, kit as k } from "../../semantics/index.ts";
import { type Channelwise, channelwise } from "./channelwise.ts";
import { type FloatArithmetic, special } from "./execution.ts";
import { anySize } from "./flow.ts";
import { type Row, row } from "./row.ts";
import { dst, factors, narrowIntegers, numbers, src } from "./vector-operands.ts";

/** A row of arithmetic, which can saturate unless the row says otherwise. */
const arithmetic = (shape: Omit<Channelwise, "saturates"> & { readonly saturates?: boolean }): Row =>
  channelwise({ saturates: true, ...shape });

const doublewords = ["ud", "d"] as const;
const wordsAndDoublewords = ["ud", "d", "uw", "w"] as const;
const bytes = ["ub", "b"] as const;
const words = ["uw", "w"] as const;
const fourOrMore: readonly number[] = [4, 8, 16, 32];

type Direction = Parameters<FloatArithmetic["integral"]>[0];

const rounding = (opcode: number, mnemonic: string, title: string, direction: Direction): Row =>
  arithmetic({
    opcode,
    mnemonic,
    title,
    dst: dst(["f"]),
    sources: [src(["f"])],
    execution: { kind: "compute", float: (f, a) => f.integral(direction, a) },
  });

const dotProduct = (opcode: number, mnemonic: string, title: string): Row =>
  arithmetic({
    opcode,
    mnemonic,
    title,
    page: null,
    sizes: fourOrMore,
    dst: dst(["f"]),
    sources: [src(["f"]), src(["f"])],
    execution: special,
  });

/** The high doubleword of a product of doublewords, which are 64-bit if one is signed and the other unsigned. */
const highHalf = (a: Expr, b: Expr, signed: boolean): Expr =>
  a.ty === "i64" ? k.shr(k.mul(a, b), k.i32(32), true) : k.mulHigh(a, b, signed);

const withCarry = (opcode: number, mnemonic: string, title: string, carry: string): Row =>
  row({
    opcode,
    name: mnemonic.toUpperCase(),
    mnemonic,
    title,
    page: mnemonic.toUpperCase(),
    text: `(P) ${mnemonic} E dst ${carry} src0 src1`,
    file: `exec pred dst ${carry} src0 src1`,
    operands: { dst: dst(["ud"]), [carry]: dst(["ud"]), src0: src(["ud"], "none"), src1: src(["ud"], "none") },
    sizes: anySize,
    execution: special,
  });

/** Integer and floating-point arithmetic. */
export const arithmeticRows: readonly Row[] = [
  arithmetic({
    opcode: 0x01,
    mnemonic: "add",
    title: "sum",
    dst: dst(numbers),
    sources: [src(numbers), src(numbers)],
    execution: {
      kind: "compute",
      integer: { domain: "low", sem: (t) => t.sum() },
      float: (f, a, b) => f.add(a, b),
    },
  }),
  arithmetic({
    opcode: 0x02,
    mnemonic: "avg",
    title: "integer average, rounded up",
    dst: dst(narrowIntegers),
    sources: [src(narrowIntegers), src(narrowIntegers)],
    execution: {
      kind: "compute",
      integer: { domain: "exact", sem: (_, a, b) => k.shr(k.add(k.add(a, b), k.int(a, 1)), k.i32(1), true) },
    },
  }),
  arithmetic({
    opcode: 0x03,
    mnemonic: "div",
    title: "quotient",
    dst: dst(numbers),
    sources: [src(factors), src(factors)],
    execution: {
      kind: "compute",
      integer: { domain: "order", sem: (t, a, b) => k.div(a, b, t.signed) },
      float: (f, a, b) => f.div(a, b),
    },
  }),
  dotProduct(0x04, "dp2", "dot product of two components"),
  dotProduct(0x05, "dp3", "dot product of three components"),
  dotProduct(0x06, "dp4", "dot product of four components"),
  dotProduct(0x07, "dph", "homogeneous dot product: the fourth component of src0 counts as 1"),
  arithmetic({
    opcode: 0x09,
    mnemonic: "frc",
    title: "fractional part: the distance to the integer below",
    saturates: false,
    dst: dst(["f"]),
    sources: [src(["f"])],
    execution: { kind: "compute", float: (f, a) => f.sub(a, f.integral("rmi", a)) },
  }),
  arithmetic({
    opcode: 0x0a,
    mnemonic: "line",
    title: "line equation: src0.0 * src1 + src0.3",
    page: null,
    sizes: fourOrMore,
    dst: dst(["f"]),
    sources: [{ ...src(["f"], "arithmetic", ["general"]), reach: () => 4 }, src(["f"])],
    execution: special,
  }),
  arithmetic({
    opcode: 0x0c,
    mnemonic: "mad",
    title: "src0 * src1 + src2, fused for floating point",
    dst: dst(numbers),
    sources: [src(numbers), src(numbers), src(numbers)],
    execution: {
      kind: "compute",
      integer: { domain: "low", sem: (t, a, b, c) => t.plus(t.product(a, b), c) },
      float: (f, a, b, c) => f.fma(a, b, c),
    },
  }),
  arithmetic({
    opcode: 0x0d,
    mnemonic: "mulh",
    title: "high half of a product",
    saturates: false,
    dst: dst(doublewords),
    sources: [src(doublewords), src(doublewords)],
    execution: { kind: "compute", integer: { domain: "order", sem: (t, a, b) => highHalf(a, b, t.signed) } },
  }),
  arithmetic({
    opcode: 0x0e,
    mnemonic: "lrp",
    title: "linear interpolation",
    dst: dst(["f"], ["general"]),
    sources: [
      src(["f"], "arithmetic", ["general", "immediate"]),
      src(["f"], "arithmetic", ["general", "immediate"]),
      src(["f"], "arithmetic", ["general", "immediate"]),
    ],
    execution: {
      kind: "compute",
      float: (f, a, b, c) => f.fma(b, a, f.mul(c, f.sub(f.constant(1), a))),
    },
  }),
  arithmetic({
    opcode: 0x0f,
    mnemonic: "mod",
    title: "remainder",
    dst: dst(narrowIntegers),
    sources: [src(narrowIntegers), src(narrowIntegers)],
    execution: { kind: "compute", integer: { domain: "order", sem: (t, a, b) => k.rem(a, b, t.signed) } },
  }),
  arithmetic({
    opcode: 0x10,
    mnemonic: "mul",
    title: "product",
    dst: dst(numbers),
    sources: [src(factors), src(factors)],
    execution: {
      kind: "compute",
      integer: { domain: "low", sem: (t, a, b) => t.product(a, b) },
      float: (f, a, b) => f.mul(a, b),
    },
  }),
  rounding(0x12, "rndd", "rounding down", "rmi"),
  rounding(0x13, "rndu", "rounding up", "rpi"),
  rounding(0x14, "rnde", "rounding to the nearest, ties to even", "rni"),
  rounding(0x15, "rndz", "rounding towards zero", "rzi"),
  arithmetic({
    opcode: 0x16,
    mnemonic: "sad2",
    title: "sum of two absolute differences",
    dst: dst(words),
    sources: [src(bytes), src(bytes)],
    execution: special,
  }),
  withCarry(0x49, "addc", "sum and carry", "carry"),
  withCarry(0x4a, "subb", "difference and borrow", "borrow"),
  arithmetic({
    opcode: 0x6a,
    mnemonic: "sad2add",
    title: "sum of two absolute differences and a third operand",
    dst: dst(words),
    sources: [src(bytes), src(bytes), src(words)],
    execution: special,
  }),
  arithmetic({
    opcode: 0x6b,
    mnemonic: "plane",
    title: "plane equation: src0.0 * u + src0.1 * v + src0.3",
    page: "PLN",
    sizes: [8, 16],
    dst: dst(["f"]),
    sources: [
      { ...src(["f"], "none", ["general", "indirect"]), reach: () => 4 },
      { ...src(["f"], "none", ["general", "indirect"]), reach: (channels) => 2 * channels },
    ],
    execution: special,
  }),
  arithmetic({
    opcode: 0x84,
    mnemonic: "add3",
    title: "sum of three operands",
    dst: dst(wordsAndDoublewords),
    sources: [src(wordsAndDoublewords), src(wordsAndDoublewords), src(wordsAndDoublewords)],
    execution: { kind: "compute", integer: { domain: "low", sem: (_, a, b, c) => k.add(k.add(a, b), c) } },
  }),
  arithmetic({
    opcode: 0x91,
    mnemonic: "madw",
    title: "src0 * src1 + src2 in 64 bits: low halves, then high halves",
    saturates: false,
    sizes: [1, 2, 4, 8, 16],
    dst: dst(doublewords),
    sources: [src(doublewords), src(doublewords), src(doublewords)],
    execution: special,
  }),
  // Its predicate is a result: whether the sum overflowed.
  arithmetic({
    opcode: 0x92,
    mnemonic: "add3.o",
    name: "ADD3O",
    page: "ADD3O",
    title: "sum of three operands, and whether it overflowed in the predicate",
    saturates: false,
    dst: dst(wordsAndDoublewords),
    sources: [src(wordsAndDoublewords), src(wordsAndDoublewords), src(wordsAndDoublewords)],
    execution: special,
  }),
];
