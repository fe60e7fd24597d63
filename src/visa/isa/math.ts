import type { DataType } from "../types.ts";
import { type Channelwise, channelwise } from "./channelwise.ts";
import type { FloatSemantics } from "./execution.ts";
import { anySize } from "./flow.ts";
import { type Gate, type Row, row } from "./row.ts";
import { dst, src } from "./vector-operands.ts";

const approximate: readonly DataType[] = ["f", "hf"];

interface MathRow extends Omit<Channelwise, "dst" | "sources" | "saturates" | "execution"> {
  readonly types?: readonly DataType[];
  readonly float: FloatSemantics;
}

const mathRow = (count: 1 | 2, { types = approximate, float, ...rest }: MathRow): Row =>
  channelwise({
    ...rest,
    dst: dst(types),
    sources: Array.from({ length: count }, () => src(types)),
    saturates: true,
    execution: { kind: "compute", float },
  });
const unary = (shape: MathRow): Row => mathRow(1, shape);
const binary = (shape: MathRow): Row => mathRow(2, shape);

/** A platform newer than any known here (Xe3P). */
const future: Gate = { only: [] };

const macroReason = "its first approximation, and the precision of that, depend on the hardware and are not documented";

/** Functions of the extended math unit, and the macros that round correctly. */
export const mathRows: readonly Row[] = [
  unary({ opcode: 0x08, mnemonic: "exp", title: "power of 2", float: (f, a) => f.approximate("ex2", a) }),
  unary({ opcode: 0x0b, mnemonic: "log", title: "logarithm to base 2", float: (f, a) => f.approximate("lg2", a) }),
  binary({ opcode: 0x11, mnemonic: "pow", title: "power", float: (f, a, b) => f.approximate("pow", a, b) }),
  unary({ opcode: 0x17, mnemonic: "sin", title: "sine", float: (f, a) => f.approximate("sin", a) }),
  unary({ opcode: 0x18, mnemonic: "cos", title: "cosine", float: (f, a) => f.approximate("cos", a) }),
  unary({ opcode: 0x19, mnemonic: "sqrt", title: "square root", float: (f, a) => f.sqrt(a) }),
  unary({
    opcode: 0x1a,
    mnemonic: "rsqrt",
    title: "reciprocal of the square root",
    float: (f, a) => f.approximate("rsqrt", a),
  }),
  unary({
    opcode: 0x1b,
    mnemonic: "inv",
    title: "reciprocal",
    float: (f, a) => f.div(f.constant(1), a),
    types: ["f", "hf", "df"],
  }),
  unary({
    opcode: 0x7e,
    mnemonic: "sqrtm",
    title: "square root, correctly rounded",
    float: (f, a) => f.sqrt(a),
    types: ["df", "f"],
  }),
  binary({
    opcode: 0x7f,
    mnemonic: "divm",
    title: "quotient, correctly rounded",
    float: (f, a, b) => f.div(a, b),
    types: ["df", "f"],
  }),
  unary({
    opcode: 0x96,
    mnemonic: "tanh",
    title: "hyperbolic tangent",
    float: (f, a) => f.approximate("tanh", a),
    page: null,
    ...future,
  }),
  unary({
    opcode: 0x97,
    mnemonic: "sigm",
    title: "logistic sigmoid",
    float: (f, a) => f.approximate("sigmoid", a),
    page: null,
    ...future,
  }),
  row({
    opcode: 0x9b,
    name: "INVM",
    mnemonic: "invm",
    title: "first approximation of a quotient, and where it is final",
    page: "INVM",
    text: "(P) invm E dst early src0 src1",
    file: null,
    operands: {
      dst: dst(["df", "f"]),
      early: { class: "predicate", role: "dst" },
      src0: src(["df", "f"]),
      src1: src(["df", "f"]),
    },
    sizes: anySize,
    execution: { kind: "none", reason: macroReason },
  }),
  row({
    opcode: 0x9c,
    name: "RSQTM",
    mnemonic: "rsqtm",
    title: "first approximation of a reciprocal square root, and where it is final",
    page: "RSQTM",
    text: "(P) rsqtm E dst early src0",
    file: null,
    operands: { dst: dst(["df", "f"]), early: { class: "predicate", role: "dst" }, src0: src(["df", "f"]) },
    sizes: anySize,
    execution: { kind: "none", reason: macroReason },
  }),
];
