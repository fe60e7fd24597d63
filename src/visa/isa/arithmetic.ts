import type { Execution } from "./execution.ts";
import { anySize } from "./flow.ts";
import { type OperandSpec, type Row, row } from "./row.ts";
import { dst, integers, narrowIntegers, numbers, src } from "./vector-operands.ts";

const later: Execution = { kind: "none", reason: "its semantics is not modelled yet" };

/** What most rows of arithmetic share: `(P) mnemonic{.sat} E dst src0 ...`. */
type Shape = Pick<Row, "opcode" | "title" | "execution"> &
  Partial<Pick<Row, "page" | "sizes" | "from" | "name">> & {
    readonly mnemonic: string;
    readonly dst: OperandSpec;
    readonly sources: readonly OperandSpec[];
    readonly saturates?: boolean;
  };

const arithmetic = ({ mnemonic, dst, sources, saturates = true, ...shape }: Shape): Row => {
  const names = sources.map((_, i) => `src${i}`);
  return row({
    name: mnemonic.toUpperCase(),
    page: mnemonic.toUpperCase(),
    sizes: anySize,
    mnemonic,
    text: ["(P)", `${mnemonic}${saturates ? "{.sat}" : ""}`, "E", "dst", ...names].join(" "),
    file: ["exec", "pred", "dst", ...names].join(" "),
    operands: { dst, ...Object.fromEntries(sources.map((source, i) => [`src${i}`, source])) },
    ...shape,
  });
};

const doublewords = ["ud", "d"] as const;
const wordsAndDoublewords = ["ud", "d", "uw", "w"] as const;
const bytes = ["ub", "b"] as const;
const words = ["uw", "w"] as const;
const fourOrMore: readonly number[] = [4, 8, 16, 32];

const rounding = (opcode: number, mnemonic: string, title: string): Row =>
  arithmetic({ opcode, mnemonic, title, dst: dst(["f"]), sources: [src(["f"])], execution: later });

const dotProduct = (opcode: number, mnemonic: string, title: string): Row =>
  arithmetic({
    opcode,
    mnemonic,
    title,
    page: null,
    sizes: fourOrMore,
    dst: dst(["f"]),
    sources: [src(["f"]), src(["f"])],
    execution: later,
  });

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
    execution: later,
  });

/** Integer and floating-point arithmetic. */
export const arithmeticRows: readonly Row[] = [
  arithmetic({
    opcode: 0x01,
    mnemonic: "add",
    title: "sum",
    dst: dst(numbers),
    sources: [src(numbers), src(numbers)],
    execution: later,
  }),
  arithmetic({
    opcode: 0x02,
    mnemonic: "avg",
    title: "integer average, rounded up",
    dst: dst(integers),
    sources: [src(integers), src(integers)],
    execution: later,
  }),
  arithmetic({
    opcode: 0x03,
    mnemonic: "div",
    title: "quotient",
    dst: dst(numbers),
    sources: [src(numbers), src(numbers)],
    execution: later,
  }),
  dotProduct(0x04, "dp2", "dot product of two components"),
  dotProduct(0x05, "dp3", "dot product of three components"),
  dotProduct(0x06, "dp4", "dot product of four components"),
  dotProduct(0x07, "dph", "homogeneous dot product: the fourth component of src0 counts as 1"),
  arithmetic({
    opcode: 0x09,
    mnemonic: "frc",
    title: "what is left over the integer below",
    saturates: false,
    dst: dst(["f"]),
    sources: [src(["f"])],
    execution: later,
  }),
  arithmetic({
    opcode: 0x0a,
    mnemonic: "line",
    title: "line equation: src0.0 * src1 + src0.3",
    page: null,
    sizes: fourOrMore,
    dst: dst(["f"]),
    sources: [src(["f"], "arithmetic", ["general"]), src(["f"])],
    execution: later,
  }),
  arithmetic({
    opcode: 0x0c,
    mnemonic: "mad",
    title: "src0 * src1 + src2, fused for floating point",
    dst: dst(numbers),
    sources: [src(numbers), src(numbers), src(numbers)],
    execution: later,
  }),
  arithmetic({
    opcode: 0x0d,
    mnemonic: "mulh",
    title: "high half of a product",
    saturates: false,
    dst: dst(doublewords),
    sources: [src(doublewords), src(doublewords)],
    execution: later,
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
    execution: later,
  }),
  arithmetic({
    opcode: 0x0f,
    mnemonic: "mod",
    title: "remainder",
    dst: dst(narrowIntegers),
    sources: [src(narrowIntegers), src(narrowIntegers)],
    execution: later,
  }),
  arithmetic({
    opcode: 0x10,
    mnemonic: "mul",
    title: "product",
    dst: dst(numbers),
    sources: [src(numbers), src(numbers)],
    execution: later,
  }),
  rounding(0x12, "rndd", "rounding down"),
  rounding(0x13, "rndu", "rounding up"),
  rounding(0x14, "rnde", "rounding to the nearest, ties to even"),
  rounding(0x15, "rndz", "rounding towards zero"),
  arithmetic({
    opcode: 0x16,
    mnemonic: "sad2",
    title: "sum of two absolute differences",
    dst: dst(words),
    sources: [src(bytes), src(bytes)],
    execution: later,
  }),
  withCarry(0x49, "addc", "sum and carry", "carry"),
  withCarry(0x4a, "subb", "difference and borrow", "borrow"),
  arithmetic({
    opcode: 0x6a,
    mnemonic: "sad2add",
    title: "sum of two absolute differences and a third operand",
    dst: dst(words),
    sources: [src(bytes), src(bytes), src(words)],
    execution: later,
  }),
  arithmetic({
    opcode: 0x6b,
    mnemonic: "plane",
    title: "plane equation: src0.0 * u + src0.1 * v + src0.3",
    page: "PLN",
    sizes: [8, 16],
    dst: dst(["f"]),
    sources: [src(["f"], "none", ["general", "indirect"]), src(["f"], "none", ["general", "indirect"])],
    execution: later,
  }),
  arithmetic({
    opcode: 0x84,
    mnemonic: "add3",
    title: "sum of three operands",
    dst: dst(wordsAndDoublewords),
    sources: [src(wordsAndDoublewords), src(wordsAndDoublewords), src(wordsAndDoublewords)],
    execution: later,
  }),
  arithmetic({
    opcode: 0x91,
    mnemonic: "madw",
    title: "src0 * src1 + src2 in 64 bits: low halves, then high halves",
    saturates: false,
    sizes: [1, 2, 4, 8, 16],
    dst: dst(doublewords),
    sources: [src(doublewords), src(doublewords), src(doublewords)],
    execution: later,
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
    execution: later,
  }),
];
