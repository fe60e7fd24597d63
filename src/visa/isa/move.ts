import { kit as k } from "../../semantics/index.ts";
import { type Execution, special } from "./execution.ts";
import { anySize } from "./flow.ts";
import { type OperandSpec, type Row, row } from "./row.ts";
import { dst, numbers, src } from "./vector-operands.ts";

const extremum = (mnemonic: string, title: string, code: number, execution: Execution): Row =>
  row({
    opcode: 0x45,
    name: "MIN_MAX",
    mnemonic,
    title,
    page: "MIN_MAX",
    text: `${mnemonic}{.sat} E dst src0 src1`,
    file: `exec #${code} dst src0 src1`,
    operands: { dst: dst(numbers), src0: src(numbers), src1: src(numbers) },
    sizes: anySize,
    execution,
  });

/**
 * The source of `movs`. The manual allows only `ud`, but IGC 2.40 also gives unbound surfaces numbers of type `d`, and
 * its verifier does not check types.
 */
const state: OperandSpec = {
  class: "vector",
  role: "src",
  forms: ["state", "general", "indirect", "immediate"],
  types: ["ud", "d"],
  modifiers: "none",
};

/** Moves, conversions and selections. */
export const moveRows: readonly Row[] = [
  row({
    opcode: 0x1d,
    name: "FCVT",
    mnemonic: "fcvt",
    title: "conversion from and to 8-bit floats and tf32",
    page: "FCVT",
    from: "pvc",
    text: "fcvt E dst src0",
    file: "exec dst src0",
    operands: {
      dst: dst(["ub", "b", "ud", "hf", "f"], ["general"]),
      src0: src(["ub", "b", "ud", "hf", "f"], "none", ["general", "immediate"]),
    },
    sizes: anySize,
    execution: special,
  }),
  row({
    opcode: 0x1e,
    name: "SRND",
    mnemonic: "srnd",
    title: "stochastic rounding: value, random bits",
    page: "SRND",
    from: "pvcxt",
    text: "srnd E dst src0 src1",
    file: "exec dst src0 src1",
    operands: {
      dst: dst(["ub", "b", "hf"], ["general"]),
      src0: src(["hf", "bf", "f"], "none", ["general"]),
      src1: src(["ub", "uw", "f", "hf"], "none", ["general", "immediate"]),
    },
    sizes: anySize,
    execution: special,
  }),
  row({
    opcode: 0x29,
    name: "MOV",
    mnemonic: "mov",
    title: "move with conversion",
    page: "MOV",
    text: "(P) mov{.sat} E dst src0",
    file: "exec pred dst src0",
    operands: {
      dst: dst(numbers, ["general", "indirect", "address"]),
      src0: src(numbers, "arithmetic", ["general", "indirect", "immediate", "address", "address-of", "predicate"]),
    },
    sizes: anySize,
    execution: special,
  }),
  row({
    opcode: 0x2a,
    name: "SEL",
    mnemonic: "sel",
    title: "src0 where the predicate is set, src1 elsewhere",
    page: "SEL",
    text: "(P) sel{.sat} E dst src0 src1",
    file: "exec pred dst src0 src1",
    operands: { dst: dst(numbers), src0: src(numbers), src1: src(numbers) },
    sizes: anySize,
    execution: special,
  }),
  row({
    opcode: 0x2b,
    name: "SETP",
    mnemonic: "setp",
    title: "predicate from the bits of a number",
    page: "SETP",
    text: "setp E dst src0",
    file: "exec dst src0",
    operands: { dst: { class: "predicate", role: "dst" }, src0: src(["ud", "uw", "ub", "d", "w", "b"], "none") },
    sizes: anySize,
    execution: special,
  }),
  row({
    opcode: 0x2d,
    name: "MOVS",
    mnemonic: "movs",
    title: "move of the handle of a surface or sampler",
    page: "MOVS",
    text: "movs E dst src0",
    file: "exec dst src0",
    operands: { dst: { ...dst(["ud"]), forms: ["state", "general"] }, src0: state },
    sizes: anySize,
    execution: special,
  }),
  extremum("min", "the smaller of two values", 0, {
    kind: "compute",
    integer: { domain: "order", sem: (t, a, b) => k.min(a, b, t.signed) },
    float: (f, a, b) => f.min(a, b),
  }),
  extremum("max", "the greater of two values", 1, {
    kind: "compute",
    integer: { domain: "order", sem: (t, a, b) => k.max(a, b, t.signed) },
    float: (f, a, b) => f.max(a, b),
  }),
  row({
    opcode: 0x95,
    name: "SHFL_IDX4",
    mnemonic: "shfl_idx4",
    title: "look-up of 4-bit indices",
    page: null,
    only: [],
    text: "(P) shfl_idx4 E dst src0 src1",
    file: null,
    operands: {
      dst: { class: "raw", role: "dst" },
      src0: src(["ud"], "none", ["general"]),
      src1: src(["ud", "uw", "ub"], "none", ["general"]),
    },
    sizes: anySize,
    execution: { kind: "none", reason: "the layout of its table is not documented" },
  }),
  row({
    opcode: 0x9a,
    name: "DNSCL",
    mnemonic: "dnscl",
    title: "conversion to 4 bits",
    page: null,
    only: [],
    text: "(P) dnscl.{conversion}.{mode}.{rounding} E dst src0 src1 src2",
    file: null,
    operands: {
      conversion: { class: "option", choices: { bftoe2m1: 1, bftoint4: 2, hftoe2m1: 4, hftoint4: 5 } },
      mode: { class: "option", choices: { mode0: 0, mode1: 1, mode2: 2, mode3: 3 } },
      rounding: { class: "option", choices: { srnd: 0, rne: 1 } },
      dst: { class: "raw", role: "dst" },
      src0: { class: "raw", role: "src" },
      src1: { class: "raw", role: "src" },
      src2: { class: "raw", role: "src" },
    },
    sizes: anySize,
    execution: { kind: "none", reason: "how its modes lay out the packed results is not documented" },
  }),
];
