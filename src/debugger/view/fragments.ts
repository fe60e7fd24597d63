import {
  type Arrangement,
  type ElementFormat,
  type FragmentMap,
  fragmentOf,
  type Instruction,
  type IrFunction,
  type MatrixName,
  type MatrixProduct,
  productOperands,
  registersOfC,
} from "../../ir/index.ts";
import { tensorValue, type TensorFormat } from "../../numeric/tensor.ts";
import { stepsAt } from "./steps.ts";
import type { Activation } from "../../machine/state/launch-state.ts";
import { type Expr, fold } from "../../semantics/index.ts";
import { patternOf } from "../../semantics/pattern.ts";

/** How an element of a matrix is shown: as a number of its format, or its bits in hexadecimal digits. */
export type CellFormat = ElementFormat | "b32" | "b16" | "b8";

/** The bits of an element of each format that may be asked for. */
export const cellFormats: Readonly<Record<string, { readonly format: CellFormat; readonly bits: number }>> =
  Object.fromEntries(
    (
      [
        ...[
          ["f16", 16],
          ["bf16", 16],
          ["b16", 16],
        ],
        ...[
          ["e4m3", 8],
          ["e5m2", 8],
          ["s8", 8],
          ["u8", 8],
          ["b8", 8],
        ],
        ...[
          ["f32", 32],
          ["tf32", 32],
          ["s32", 32],
          ["b32", 32],
        ],
      ] as const
    ).map(([format, bits]) => [format, { format, bits }] as const),
  );

/** A matrix in registers of the warp in focus, as an instruction takes it or leaves it. */
export interface MatrixView {
  /** "A", "B", "C" or "D"; of movements "matrix 0" and so on. */
  readonly name: string;
  /** The format of its elements: "f16", "s8"; "b16" and "b8" are bits. */
  readonly format: string;
  /** The registers that hold it, in order. */
  readonly registers: readonly string[];
  readonly rows: number;
  readonly columns: number;
  /** Row after row; where a warp has several matrices, one after the other. */
  readonly cells: readonly string[];
  /** How many matrices there are: 1, or 4 of an `mma` by quarters of the warp. */
  readonly count: number;
}

/** Registers of a matrix in an instruction, before they are read. */
interface Fragment {
  readonly name: string;
  readonly format: CellFormat;
  readonly map: FragmentMap;
  readonly registers: readonly Expr[];
}

const LANES = 32;

/**
 * Returns the matrices in registers of an instruction, with the values that the registers have now; empty: it has none.
 * `as`: a name of `cellFormats` for elements that have as many bits.
 */
export function matricesAt(activation: Activation, index: number, as: string | null = null): readonly MatrixView[] {
  const { ir } = activation.code;
  const steps = stepsAt(ir, index);
  const stores = steps.some(({ op }) => op.kind === "store");
  const parts = steps.map((step) => fragmentsOf(ir, step, stores)).filter((fragments) => fragments.length > 0);
  return parts.flatMap((fragments, i) =>
    fragments.map((fragment) => {
      const other = as === null ? undefined : cellFormats[as];
      const format = other?.bits === fragment.map.bits ? other.format : fragment.format;
      const view = read(activation, ir, { ...fragment, format });
      return parts.length === 1 ? view : { ...view, name: `${view.name}, part ${i + 1} of ${parts.length}` };
    }),
  );
}

const registersWritten = (ir: IrFunction, { dst }: Instruction): readonly Expr[] =>
  dst.flatMap((d) => {
    if (typeof d !== "number") return [];
    const { class: kind } = ir.registers[d]!;
    return [{ kind: "reg", ty: kind === "b64" ? "i64" : "i32", reg: d } as const];
  });

/** The fragments of a step; `stores`: those of `arrange` go to memory. */
function fragmentsOf(ir: IrFunction, step: Instruction, stores: boolean): readonly Fragment[] {
  const { op } = step;
  const written = registersWritten(ir, step);
  if (op.kind === "unit" && op.unit.op === "multiply-warpgroup") {
    const { product } = op.unit;
    const isInRegisters = product.left.kind === "registers";
    const first = registersOfC(product);
    const a = isInRegisters
      ? [fragment("a", product.tile, op.operands.slice(productOperands.registersOfA, first))]
      : [];
    return [...a, fragment("d", product.tile, written)];
  }
  if (op.kind !== "warp") return [];
  if (op.warp.op === "arrange") return movedFragments(op.warp.arrangement, stores ? op.warp.operands : written);
  if (op.warp.op !== "multiply") return [];
  const { product, operands } = op.warp;
  let at = 0;
  const taken = (["a", "b", "c"] as const).map((name) => {
    const { registers } = fragmentOf(product, name);
    return fragment(name, product, operands.slice(at, (at += registers)));
  });
  return [...taken, fragment("d", product, written)];
}

const fragment = (name: MatrixName, product: MatrixProduct, registers: readonly Expr[]): Fragment => ({
  name: name.toUpperCase(),
  format: product[name],
  map: fragmentOf(product, name),
  registers,
});

/** Matrices of 8 by 8 elements of 16 bits, in one register each: what lane l holds is in row l / 4. */
const eightByEight: FragmentMap = {
  ...{ bits: 16, registerBits: 32, registers: 1, rows: 8, columns: 8, products: 1 },
  elements: Array.from({ length: 64 }, (_, i) => i),
};
/** Matrices of 8 rows of 16 bytes: what lane l holds is in row l / 4. */
const eightBySixteen: FragmentMap = {
  ...{ bits: 8, registerBits: 32, registers: 1, rows: 8, columns: 16, products: 1 },
  elements: Array.from({ length: 128 }, (_, i) => i),
};

/** The matrices that `ldmatrix` and `movmatrix` give, or that `stmatrix` takes: one in each register. */
function movedFragments({ bits }: Arrangement, registers: readonly Expr[]): readonly Fragment[] {
  return registers.map((register, i) => ({
    name: `matrix ${i}`,
    format: bits === 16 ? "b16" : "b8",
    map: bits === 16 ? eightByEight : eightBySixteen,
    registers: [register],
  }));
}

function read(activation: Activation, ir: IrFunction, { name, format, map, registers }: Fragment): MatrixView {
  const { bits, registerBits, elements, rows, columns, products } = map;
  const parts = registerBits / bits;
  const cells = Array<string>(rows * columns * products).fill("");
  const words = registers.map((register) =>
    Array.from({ length: LANES }, (_, lane) =>
      BigInt.asUintN(
        registerBits,
        BigInt(patternOf(register.ty, fold(register, activation.code.leafValue(activation, lane)))),
      ),
    ),
  );
  for (const [i, element] of elements.entries()) {
    const [register, lane, part] = [Math.floor(i / parts / LANES), Math.floor(i / parts) % LANES, i % parts];
    const word = words[register]?.[lane];
    if (word !== undefined) cells[element] = cellText(format, bits, BigInt.asUintN(bits, word >> BigInt(part * bits)));
  }
  const names = registers.map((register) => (register.kind === "reg" ? ir.registers[register.reg]!.name : "(a value)"));
  return { name, format, registers: names, rows, columns, cells, count: products };
}

const view = new DataView(new ArrayBuffer(8));

/** Shows an element: floats with up to five digits, as they are in columns. */
function cellText(format: CellFormat, bits: number, pattern: bigint): string {
  const word = Number(BigInt.asUintN(32, pattern));
  switch (format) {
    case "b32":
    case "b16":
    case "b8":
      return word.toString(16).padStart(bits / 4, "0");
    case "s32":
    case "s8":
    case "s4":
      return `${BigInt.asIntN(bits, pattern)}`;
    case "u8":
    case "u4":
    case "b1":
      return `${word}`;
    case "f64":
      view.setBigUint64(0, pattern);
      return floatText(view.getFloat64(0));
    case "f32":
      view.setUint32(0, word);
      return floatText(view.getFloat32(0));
    default:
      return floatText(tensorValue(format satisfies TensorFormat, format === "e2m1" && bits === 8 ? word >> 2 : word));
  }
}

const floatText = (value: number): string =>
  Object.is(value, -0) ? "-0" : Number.isFinite(value) ? `${Number(value.toPrecision(5))}` : `${value}`;
