import {
  type Instruction,
  layoutOf,
  type SharedMatrixLayout,
  type TensorKind,
  tensorInstruction,
  tensorLayoutOf,
  windows,
} from "../../ir/index.ts";
import type { Activation } from "../../machine/state/launch-state.ts";
import { fold } from "../../semantics/index.ts";
import { patternOf } from "../../semantics/pattern.ts";
import { stepsAt } from "./steps.ts";
import type { TensorMap } from "../../program/tensor/tensor-map.ts";

/** A descriptor or a tensor map in words: names and values. */
export type Fields = readonly (readonly [name: string, value: string])[];

const halves = (value: bigint): readonly [low: number, high: number] => [
  Number(BigInt.asIntN(32, value)),
  Number(BigInt.asIntN(32, value >> 32n)),
];

const hex = (value: number | bigint): string => `0x${value.toString(16)}`;

/** Returns what the descriptor of a matrix in shared memory says: of `wgmma`, or of `tcgen05`; or why it is none. */
export function matrixDescriptor(value: bigint, of: "wgmma" | "tcgen05"): Fields | string {
  const layout = of === "wgmma" ? layoutOf(...halves(value)) : tensorLayoutOf(...halves(value));
  return typeof layout === "string" ? layout : layoutFields(layout);
}

const layoutFields = ({ start, leading, stride, width, baseOffset, grain }: SharedMatrixLayout): Fields => [
  ["start", `${hex(windows.shared.start + start)} (shared + ${start})`],
  ["leading dimension offset", `${leading} bytes`],
  ["stride dimension offset", `${stride} bytes`],
  ["swizzle", width === 16 ? "none" : `${width} bytes${grain === 32 ? ", in units of 32" : ""}`],
  ["base offset", `${baseOffset}`],
];

/** Returns what an instruction descriptor of `tcgen05.mma` says, or why it is none. */
function instructionDescriptor(kind: TensorKind, word: number): Fields | string {
  const found = tensorInstruction(kind, word);
  if (typeof found === "string") return found;
  const { m, n, k, a, b, d, sparse, kMajorA, kMajorB, negateA, negateB, saturates } = found;
  const left = `${negateA ? "-" : ""}${a}, ${kMajorA ? "K" : "M"}-major${sparse ? ", sparse" : ""}`;
  return [
    ["kind", kind],
    ["shape", `m${m}n${n}k${k}`],
    ["A", left],
    ["B", `${negateB ? "-" : ""}${b}, ${kMajorB ? "K" : "N"}-major`],
    ["D", `${d}${saturates ? ", saturated" : ""}`],
  ];
}

/** A descriptor that an instruction takes. */
export interface DescriptorView {
  readonly name: string;
  readonly value: bigint;
  readonly fields: Fields | string;
}

/** Returns the descriptors that an instruction takes, with the values that a lane has; empty: it takes none. */
export const descriptorsAt = (x: Activation, index: number, lane: number): readonly DescriptorView[] =>
  stepsAt(x.code.ir, index).flatMap((step) => descriptorsOf(step, x, lane));

function descriptorsOf({ op }: Instruction, x: Activation, lane: number): readonly DescriptorView[] {
  if (op.kind !== "unit") return [];
  const value = (n: number): bigint => {
    const expr = op.operands[n]!;
    return BigInt.asUintN(64, BigInt(patternOf(expr.ty, fold(expr, x.code.leafValue(x, lane)))));
  };
  const matrix = (name: string, n: number, of: "wgmma" | "tcgen05"): DescriptorView => ({
    name,
    value: value(n),
    fields: matrixDescriptor(value(n), of),
  });
  const { unit } = op;
  switch (unit.op) {
    case "multiply-warpgroup": {
      const b = matrix("B", 0, "wgmma");
      return unit.product.left.kind === "shared" ? [matrix("A", 1, "wgmma"), b] : [b];
    }
    case "tensor-multiply": {
      const word = value(3);
      const fields = instructionDescriptor(unit.kind, Number(BigInt.asIntN(32, word)));
      const left = unit.fromTensorMemory ? [] : [matrix("A", 1, "tcgen05")];
      return [...left, matrix("B", 2, "tcgen05"), { name: "instruction", value: BigInt.asUintN(32, word), fields }];
    }
    case "tensor-copy":
      return [matrix("source", 1, "tcgen05")];
    default:
      return [];
  }
}

/** Returns what a tensor map says. */
export function tensorMapFields(map: TensorMap): Fields {
  const { box } = map;
  const list = (values: readonly number[]): string => values.join(" x ");
  const corners = (values: readonly number[]): string => `(${values.join(", ")})`;
  return [
    ["elements", map.type],
    ["address", hex(map.globalAddress)],
    ["dimensions", `${list(map.globalDim)}, the fastest first`],
    ["strides", map.globalStrides.length === 0 ? "none" : `${map.globalStrides.join(", ")} bytes`],
    ...(box.mode === "tiled"
      ? ([["box", list(box.size)]] as const)
      : ([
          ["mode", box.mode],
          ["pixel box", `from ${corners(box.lowerCorner)} to ${corners(box.upperCorner)}`],
          ["column", `${box.channels} channels of ${box.pixels} pixels`],
        ] as const)),
    ["element strides", list(map.elementStrides)],
    ["interleave", map.interleave],
    ["swizzle", map.swizzle],
    ["outside", map.oobFill === "nan" ? "NaN" : "zeros"],
  ];
}
