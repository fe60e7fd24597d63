import { special } from "./execution.ts";
import { anySize } from "./flow.ts";
import { type OperandSpec, type Row, row } from "./row.ts";
import { dst, src } from "./vector-operands.ts";

/** Types of the matrices' elements, with their codes in files. */
export const precisions = {
  u1: 1,
  s1: 2,
  u2: 3,
  s2: 4,
  u4: 5,
  s4: 6,
  u8: 7,
  s8: 8,
  bf: 9,
  hf: 10,
  bf8: 11,
  tf32: 12,
  hf8: 14,
  e2m1: 15,
} as const;
/** One of `precisions`. */
export type Precision = keyof typeof precisions;

const floatBits: Readonly<Record<string, number>> = { bf: 16, hf: 16, tf32: 32, bf8: 8, hf8: 8, e2m1: 4 };

/** Bits of an element of a matrix. */
export const precisionBits = (precision: Precision): number => floatBits[precision] ?? Number(precision.slice(1));

/** Elements that one step of a dot product multiplies in each channel. */
export function elementsPerStep(weights: Precision, activations: Precision): number {
  if (Object.hasOwn(floatBits, weights)) return 32 / precisionBits(weights);
  return precisionBits(weights) === 8 || precisionBits(activations) === 8 ? 4 : 8;
}

const precision: OperandSpec = { class: "option", choices: precisions };
const accumulator = ["d", "ud", "f", "hf", "bf", "df"] as const;
const packed = ["d", "ud", "df"] as const;

type Rest = Pick<Row, "from" | "until" | "execution">;

const systolic = (opcode: number, mnemonic: string, title: string, rest: Rest): Row =>
  row({
    opcode,
    name: mnemonic.toUpperCase(),
    mnemonic,
    title,
    page: mnemonic.toUpperCase(),
    ...rest,
    text: `${mnemonic}.{weights}.{activations}.{depth}.{count} E dst src0 src1 src2`,
    file: "exec dst src0 src1 src2 weights activations depth count",
    operands: {
      weights: precision,
      activations: precision,
      depth: { class: "option", choices: { 1: 1, 2: 2, 4: 4, 8: 8 } },
      count: { class: "number", from: 1, to: 8 },
      dst: { class: "raw", role: "dst", types: accumulator },
      src0: { class: "raw", role: "src", types: accumulator },
      src1: { class: "raw", role: "src", types: packed },
      src2: { ...src(packed, "none", ["general"]), plain: true },
    },
    sizes: [8, 16],
  });

/** Dot products of packed elements, and matrix products on the systolic array. */
export const systolicRows: readonly Row[] = [
  systolic(0x1c, "dpasw", "systolic dot product that shares src2 with the fused thread", {
    from: "xehp",
    until: "pvc",
    execution: special,
  }),
  row({
    opcode: 0x82,
    name: "DP4A",
    mnemonic: "dp4a",
    title: "dot product of four bytes, accumulated",
    page: "DP4A",
    from: "tgllp",
    text: "(P) dp4a{.sat} E dst src0 src1 src2",
    file: "exec pred dst src0 src1 src2",
    operands: {
      dst: dst(["d", "ud"]),
      src0: src(["d", "ud"], "none"),
      src1: src(["d", "ud"], "none"),
      src2: src(["d", "ud"], "none"),
    },
    sizes: anySize,
    execution: special,
  }),
  systolic(0x83, "dpas", "systolic dot product: a matrix product, accumulated", {
    from: "xehp",
    execution: special,
  }),
  row({
    opcode: 0x99,
    name: "BDPAS",
    mnemonic: "bdpas",
    title: "systolic dot product of blocks with scales",
    page: null,
    only: [],
    text: "(P) bdpas.{weights}.{activations}.{depth}.{count} E dst src0 src1 src2 scale1 scale2",
    file: null,
    operands: {
      weights: precision,
      activations: precision,
      depth: { class: "option", choices: { 8: 8 } },
      count: { class: "number", from: 8, to: 8 },
      dst: { class: "raw", role: "dst" },
      src0: { class: "raw", role: "src" },
      src1: { class: "raw", role: "src" },
      src2: { class: "raw", role: "src" },
      scale1: { ...src(["ub"], "none", ["general"]), plain: true },
      scale2: { ...src(["ub"], "none", ["general"]), plain: true },
    },
    sizes: [16],
    execution: { kind: "none", reason: "which elements its scales belong to is not documented" },
  }),
];
