import type { DataType } from "../types.ts";
import { type Expr, kit as k } from "../../semantics/index.ts";
import { type Channelwise, channelwise } from "./channelwise.ts";
import { type IntegerSemantics, special } from "./execution.ts";
import { anySize } from "./flow.ts";
import { type Row, row, type VectorForm } from "./row.ts";
import { dst, integers, src } from "./vector-operands.ts";

const withPredicates: readonly VectorForm[] = ["general", "indirect", "immediate", "predicate"];

/** A bitwise operation on data or on predicates. */
const bitwise = (opcode: number, mnemonic: string, title: string, count: 1 | 2, sem: IntegerSemantics["sem"]): Row =>
  channelwise({
    opcode,
    mnemonic,
    title,
    dst: dst(integers, ["general", "indirect", "predicate"]),
    sources: Array.from({ length: count }, () => src(integers, "logic", withPredicates)),
    saturates: false,
    execution: { kind: "compute", integer: { domain: "low", sem } },
  });

interface BitRow extends Omit<Channelwise, "dst" | "saturates" | "execution"> {
  readonly dst: readonly DataType[];
  readonly saturates?: boolean;
  readonly integer: IntegerSemantics;
}

const bits = ({ dst: types, integer, ...rest }: BitRow): Row =>
  channelwise({ saturates: false, ...rest, dst: dst(types), execution: { kind: "compute", integer } });

const doublewords = ["ud", "d"] as const;
const rotated = ["ud", "d", "uw", "w", "uq", "q"] as const;
const wordsAndDoublewords = ["ud", "d", "uw", "w"] as const;
/** The execution sizes of bit-field instructions: the manual excludes 2. */
const fieldSizes = anySize.filter((size) => size !== 2);

/** Truth tables as the reference prints them (`x1e`), and also with a leading zero. */
const truthTables: Readonly<Record<string, number>> = Object.fromEntries([
  ...Array.from({ length: 256 }, (_, table) => [`x${table.toString(16)}`, table]),
  ...Array.from({ length: 16 }, (_, table) => [`x0${table.toString(16)}`, table]),
]);

const none = k.i32(-1);

/** The position of a bit, or all ones if no bit is set. */
const found = (a: Expr, position: Expr): Expr => k.select(k.eq(a, k.i32(0)), none, position);

const trailingZeros = (a: Expr): Expr => k.op("i32.popcnt", k.sub(k.and(a, k.neg(a)), k.i32(1)));

/** The first set bit from the left; in a negative number, the first bit that differs from the sign. */
function firstFromTheLeft(a: Expr, signed: boolean): Expr {
  const bits = signed ? k.xor(a, k.shr(a, k.i32(31), true)) : a;
  return found(bits, k.op("i32.clz", bits));
}

const lowFiveBits = k.i32(31);

function extract(value: Expr, offset: Expr, width: Expr, signed: boolean): Expr {
  const rest = k.sub(k.i32(32), k.and(width, lowFiveBits));
  return k.shr(k.shl(k.shr(value, k.and(offset, lowFiveBits), signed), rest), rest, signed);
}

function insert(into: Expr, value: Expr, offset: Expr, width: Expr): Expr {
  const start = k.and(offset, lowFiveBits);
  const mask = k.shl(k.sub(k.shl(k.i32(1), k.and(width, lowFiveBits)), k.i32(1)), start);
  return k.or(k.and(k.shl(value, start), mask), k.and(into, k.not(mask)));
}

/** Rotation within the low `bits`; the count is taken modulo `bits`. */
function rotateLeft(a: Expr, n: Expr, bits: number): Expr {
  const mask = k.i32(bits - 1);
  const value = bits < 32 ? k.narrow(a, bits, false) : a;
  return k.or(k.shl(value, k.and(n, mask)), k.shr(value, k.and(k.neg(n), mask), false));
}

/** Operations on bits. */
export const logicRows: readonly Row[] = [
  bitwise(0x20, "and", "bitwise and", 2, (_, a, b) => k.and(a, b)),
  bitwise(0x21, "or", "bitwise or", 2, (_, a, b) => k.or(a, b)),
  bitwise(0x22, "xor", "bitwise exclusive or", 2, (_, a, b) => k.xor(a, b)),
  bitwise(0x23, "not", "bitwise not", 1, (_, a) => k.not(a)),
  bits({
    opcode: 0x24,
    mnemonic: "shl",
    title: "shift to the left",
    saturates: true,
    dst: integers,
    sources: [src(integers), src(integers)],
    integer: { domain: "low", shifts: true, sem: (_, a, n) => k.shl(a, n) },
  }),
  bits({
    opcode: 0x25,
    mnemonic: "shr",
    title: "logical shift to the right",
    saturates: true,
    // The manual has only unsigned types, but IGC writes signed ones as well.
    dst: integers,
    sources: [src(integers), src(integers)],
    integer: { domain: "order", shifts: true, sem: (_, a, n) => k.shr(a, n, false) },
  }),
  bits({
    opcode: 0x26,
    mnemonic: "asr",
    title: "arithmetic shift to the right",
    saturates: true,
    // The manual has only signed types, but IGC writes unsigned ones as well.
    dst: integers,
    sources: [src(integers), src(integers)],
    integer: { domain: "order", shifts: true, sem: (t, a, n) => k.shr(a, n, t.signed) },
  }),
  bits({
    opcode: 0x1f,
    mnemonic: "lzd",
    title: "number of leading zeros",
    saturates: true,
    dst: ["ud"],
    sources: [src(["ud"], "none")],
    integer: { domain: "word", sem: (_, a) => k.op("i32.clz", a) },
  }),
  bits({
    opcode: 0x27,
    mnemonic: "cbit",
    title: "number of set bits",
    dst: ["ud"],
    sources: [src(["ud", "uw", "ub"], "none")],
    integer: { domain: "word", sem: (_, a) => k.op("i32.popcnt", a) },
  }),
  bits({
    opcode: 0x2e,
    mnemonic: "fbl",
    title: "first set bit from the right",
    dst: ["ud"],
    sources: [src(["ud", "uw", "ub"], "none")],
    integer: { domain: "word", sem: (_, a) => found(a, trailingZeros(a)) },
  }),
  bits({
    opcode: 0x2f,
    mnemonic: "fbh",
    title: "first significant bit from the left",
    dst: ["ud"],
    sources: [src(doublewords, "none")],
    integer: { domain: "word", sem: (t, a) => firstFromTheLeft(a, t.signed) },
  }),
  bits({
    opcode: 0x46,
    mnemonic: "bfe",
    title: "extraction of a bit field: width, offset, value",
    sizes: fieldSizes,
    dst: doublewords,
    sources: [src(doublewords, "none"), src(doublewords, "none"), src(doublewords, "none")],
    integer: { domain: "word", sem: (t, width, offset, value) => extract(value, offset, width, t.signedResult) },
  }),
  bits({
    opcode: 0x47,
    mnemonic: "bfi",
    title: "insertion of a bit field: width, offset, value, into",
    sizes: fieldSizes,
    dst: doublewords,
    sources: [src(doublewords, "none"), src(doublewords, "none"), src(doublewords, "none"), src(doublewords, "none")],
    integer: { domain: "word", sem: (_, width, offset, value, into) => insert(into, value, offset, width) },
  }),
  bits({
    opcode: 0x48,
    mnemonic: "bfrev",
    title: "bits in reverse order",
    dst: doublewords,
    sources: [src(doublewords, "none")],
    integer: { domain: "word", sem: (_, a) => k.op("i32.brev", a) },
  }),
  bits({
    opcode: 0x80,
    mnemonic: "rol",
    title: "rotation to the left",
    from: "icllp",
    dst: rotated,
    sources: [src(rotated, "none"), src(rotated, "none")],
    integer: { domain: "order", shifts: true, sem: (t, a, n) => rotateLeft(a, n, t.sourceBits) },
  }),
  bits({
    opcode: 0x81,
    mnemonic: "ror",
    title: "rotation to the right",
    from: "icllp",
    dst: rotated,
    sources: [src(rotated, "none"), src(rotated, "none")],
    integer: { domain: "order", shifts: true, sem: (t, a, n) => rotateLeft(a, k.neg(n), t.sourceBits) },
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
    execution: special,
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
