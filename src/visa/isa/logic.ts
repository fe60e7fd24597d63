import type { DataType } from "../types.ts";
import type { Execution } from "./execution.ts";
import { anySize } from "./flow.ts";
import { type Gate, type OperandSpec, type Row, row, type VectorForm } from "./row.ts";
import { dst, integers, src } from "./vector-operands.ts";

const later: Execution = { kind: "none", reason: "its semantics is not modelled yet" };

const withPredicates: readonly VectorForm[] = ["general", "indirect", "immediate", "predicate"];

/** On data, or on predicates as a whole. */
const bitwise = (opcode: number, mnemonic: string, title: string, sources: number): Row => {
  const names = Array.from({ length: sources }, (_, i) => `src${i}`);
  return row({
    opcode,
    name: mnemonic.toUpperCase(),
    mnemonic,
    title,
    page: mnemonic.toUpperCase(),
    text: ["(P)", mnemonic, "E dst", ...names].join(" "),
    file: ["exec pred dst", ...names].join(" "),
    operands: {
      dst: dst(integers, ["general", "indirect", "predicate"]),
      ...Object.fromEntries(names.map((name) => [name, src(integers, "logic", withPredicates)])),
    },
    sizes: anySize,
    execution: later,
  });
};

interface Shape extends Gate {
  readonly opcode: number;
  readonly mnemonic: string;
  readonly title: string;
  readonly dst: readonly DataType[];
  readonly sources: readonly OperandSpec[];
  readonly saturates?: boolean;
  readonly sizes?: readonly number[];
}

const bits = ({ opcode, mnemonic, title, dst: types, sources, saturates = false, ...rest }: Shape): Row => {
  const names = sources.map((_, i) => `src${i}`);
  return row({
    opcode,
    name: mnemonic.toUpperCase(),
    mnemonic,
    title,
    page: mnemonic.toUpperCase(),
    text: ["(P)", `${mnemonic}${saturates ? "{.sat}" : ""}`, "E dst", ...names].join(" "),
    file: ["exec pred dst", ...names].join(" "),
    operands: { dst: dst(types), ...Object.fromEntries(sources.map((source, i) => [`src${i}`, source])) },
    sizes: anySize,
    execution: later,
    ...rest,
  });
};

const doublewords = ["ud", "d"] as const;
const rotated = ["ud", "d", "uw", "w", "uq", "q"] as const;
const wordsAndDoublewords = ["ud", "d", "uw", "w"] as const;
/** The manual excludes 2 channels. */
const fieldSizes = anySize.filter((size) => size !== 2);

/** As the reference prints a truth table (`x1e`), and with a leading zero. */
const truthTables: Readonly<Record<string, number>> = Object.fromEntries([
  ...Array.from({ length: 256 }, (_, table) => [`x${table.toString(16)}`, table]),
  ...Array.from({ length: 16 }, (_, table) => [`x0${table.toString(16)}`, table]),
]);

/** Operations on bits. */
export const logicRows: readonly Row[] = [
  bitwise(0x20, "and", "bitwise and", 2),
  bitwise(0x21, "or", "bitwise or", 2),
  bitwise(0x22, "xor", "bitwise exclusive or", 2),
  bitwise(0x23, "not", "bitwise not", 1),
  bits({
    opcode: 0x24,
    mnemonic: "shl",
    title: "shift to the left",
    saturates: true,
    dst: integers,
    sources: [src(integers), src(integers)],
  }),
  bits({
    opcode: 0x25,
    mnemonic: "shr",
    title: "logical shift to the right",
    saturates: true,
    // The manual has unsigned types only, and IGC writes signed ones as well.
    dst: integers,
    sources: [src(integers), src(integers)],
  }),
  bits({
    opcode: 0x26,
    mnemonic: "asr",
    title: "arithmetic shift to the right",
    saturates: true,
    // The manual has signed types only, and IGC writes unsigned ones as well.
    dst: integers,
    sources: [src(integers), src(integers)],
  }),
  bits({
    opcode: 0x1f,
    mnemonic: "lzd",
    title: "number of leading zeros",
    saturates: true,
    dst: ["ud"],
    sources: [src(["ud"], "none")],
  }),
  bits({
    opcode: 0x27,
    mnemonic: "cbit",
    title: "number of set bits",
    dst: ["ud"],
    sources: [src(["ud", "uw", "ub"], "none")],
  }),
  bits({
    opcode: 0x2e,
    mnemonic: "fbl",
    title: "first set bit from the right",
    dst: ["ud"],
    sources: [src(["ud", "uw", "ub"], "none")],
  }),
  bits({
    opcode: 0x2f,
    mnemonic: "fbh",
    title: "first significant bit from the left",
    dst: ["ud"],
    sources: [src(doublewords, "none")],
  }),
  bits({
    opcode: 0x46,
    mnemonic: "bfe",
    title: "extraction of a bit field: width, offset, value",
    sizes: fieldSizes,
    dst: doublewords,
    sources: [src(doublewords, "none"), src(doublewords, "none"), src(doublewords, "none")],
  }),
  bits({
    opcode: 0x47,
    mnemonic: "bfi",
    title: "insertion of a bit field: width, offset, value, into",
    sizes: fieldSizes,
    dst: doublewords,
    sources: [src(doublewords, "none"), src(doublewords, "none"), src(doublewords, "none"), src(doublewords, "none")],
  }),
  bits({
    opcode: 0x48,
    mnemonic: "bfrev",
    title: "bits in reverse order",
    dst: doublewords,
    sources: [src(doublewords, "none")],
  }),
  bits({
    opcode: 0x80,
    mnemonic: "rol",
    title: "rotation to the left",
    from: "icllp",
    dst: rotated,
    sources: [src(rotated, "none"), src(rotated, "none")],
  }),
  bits({
    opcode: 0x81,
    mnemonic: "ror",
    title: "rotation to the right",
    from: "icllp",
    dst: rotated,
    sources: [src(rotated, "none"), src(rotated, "none")],
  }),
  row({
    opcode: 0x85,
    name: "BFN",
    mnemonic: "bfn",
    title: "any function of three bits, by its truth table",
    page: "BFN",
    text: "(P) bfn.{table}{.sat} E dst src0 src1 src2",
    file: "exec pred dst src0 src1 src2 table",
    operands: {
      table: { class: "option", choices: truthTables },
      dst: dst(wordsAndDoublewords),
      src0: src(wordsAndDoublewords, "none"),
      src1: src(wordsAndDoublewords, "none"),
      src2: src(wordsAndDoublewords, "none"),
    },
    sizes: anySize,
    execution: later,
  }),
  row({
    opcode: 0x98,
    name: "LFSR",
    mnemonic: "lfsr",
    title: "step of a linear-feedback shift register",
    page: null,
    only: [],
    text: "(P) lfsr.{shape} E dst src0 src1",
    file: null,
    operands: {
      shape: { class: "option", choices: { b32: 0, b16v2: 1, b8v4: 2 } },
      dst: dst(["ud"], ["general"]),
      src0: src(["ud"], "none", ["general"]),
      src1: src(["ud"], "none", ["general", "immediate"]),
    },
    sizes: anySize,
    execution: { kind: "none", reason: "its step is not documented" },
  }),
];
