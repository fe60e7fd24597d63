import type { MessageParameter, Op, SamplerMessage } from "../../ir/index.ts";
import { type Expr, kit as k } from "../../semantics/index.ts";
import { choiceOf, has, nameOf, once, rawOf, vectorOf } from "../instruction-operands.ts";
import { type Packing, packingOf, type SamplerParameter } from "../isa/sampler-parameters.ts";
import type { ExecSize, Instruction, RawOperand } from "../tree.ts";
import { isXe2 } from "../platforms.ts";
import { typeBytes } from "../types.ts";
import { lowerMediaBlock, lowerSampleBlock, lowerTypedBlock } from "./block.ts";
import { unsupported } from "./channel-operands.ts";
import type { LowerContext, Lowered, LowerInstruction } from "./context.ts";
import { isNull, rawSource, rawTarget } from "./raw-operand.ts";
import { channelNumbers, channelTargets, executionOf, indexOf } from "./texel-channels.ts";
import { atomicTyped, loadTyped, lowerLscTyped, lscOperandsOf, lowerLscTypedAtomic, storeTyped } from "./typed.ts";

/**
 * The level that a message samples. Derivatives of neighbours, which compute kernels do not have, are none: level 0.
 */
function levelOf(parameters: readonly SamplerParameter[]): SamplerMessage["level"] {
  const isLevel = (name: string | undefined): boolean => name === "lod" || name === "bias";
  if (parameters.some((p) => isLevel(p.split("_")[0]) || isLevel(packingOf(p)?.float))) return "level";
  return parameters.includes("dudx") ? "gradients" : "base";
}

/** Parameters that lie in one doubleword. */
function partsOf(
  { offsets, offsetBits, first, float, layer }: Packing,
  value: Expr,
): readonly (readonly [MessageParameter, Expr])[] {
  const low = k.and(value, k.i32(0xfff));
  return [
    ...(float === undefined ? [] : ([[float, k.and(value, k.i32(~0xfff))]] as const)),
    ...offsets.map((name, i) => [name, k.field(value, first + i * offsetBits, offsetBits, true)] as const),
    ...(layer === undefined
      ? []
      : ([[layer, k.bitcast(k.op("f32.from_f64_rn", k.op("f64.from_i32_u", low)), "i32")]] as const)),
  ];
}

/** The offsets in an immediate: four bits each, r lowest, as signed numbers. */
function offsetsOf(instruction: Instruction): readonly [number, number, number] | null {
  const operand = vectorOf(instruction, "offsets");
  if (operand.kind !== "immediate") return null;
  const nibble = (at: number): number => ((Number((operand.bits >> BigInt(at)) & 15n) + 8) % 16) - 8;
  return [nibble(8), nibble(4), nibble(0)];
}

/** How a parameter or a result lies in registers: 32 bits, a float of 16, or an integer of 16. */
function widthOf(context: LowerContext, raw: RawOperand): "word" | "half" | "short" {
  if (isNull(context, raw)) return "word";
  const { type } = context.variable(raw.variable);
  if (type === "hf") return "half";
  return typeBytes(type) === 2 ? "short" : "word";
}

/** A parameter as 32 bits: floats of 16 bits become floats of 32. */
function parameterOf(context: LowerContext, exec: ExecSize, raw: RawOperand): Expr {
  const width = widthOf(context, raw);
  if (width === "word") return rawSource(context, raw, { bits: 32, exec });
  const bits = rawSource(context, raw, { bits: 16, exec });
  if (width === "half") return k.bitcast(k.op("f32.from_f16", bits), "i32");
  return context.variable(raw.variable).type === "w" ? k.narrow(bits, 16, true) : bits;
}

/** The mask after the results: a bit for each lane, of which none is on a page that is not there. */
function presence(context: LowerContext, instruction: Instruction, count: number, bits: 16 | 32): readonly Lowered[] {
  if (!has(instruction, "nullMask")) return [];
  const { size } = instruction.exec ?? once;
  const { grfBytes } = context.routine;
  const element = (count * Math.ceil((size * bits) / 8 / grfBytes) * grfBytes) / 4;
  const to = rawTarget(context, rawOf(instruction, "dst"), { bits: 32, exec: once, element, stride: 0 });
  const op: Op = { kind: "pure", values: [k.i32(size === 32 ? -1 : 2 ** size - 1)] };
  return [{ op, dst: [to], lanes: { first: 0, count: 1, noMask: true, uniform: false } }];
}

const kinds: Readonly<Record<string, SamplerMessage["kind"]>> = {
  "3D_SAMPLE": "sample",
  "3D_LOAD": "load",
  "3D_GATHER4": "gather",
  SAMPLE: "sample",
  LOAD: "load",
};

/** In the form with parameters of 16 bits, how samples are compressed takes four of them, not two. */
const shortSamples: readonly MessageParameter[] = [
  ...(["si", "none", "none", "none", "none", "u", "v", "r", "lod"] as const),
];

/** The parameters that an instruction gives: those at the end may be left out. */
function givenTo({ operands }: Instruction): readonly RawOperand[] | null {
  const list = operands["parameters"];
  const items = list === undefined ? ["u", "v", "r"].map((n) => operands[n]) : list.kind === "list" ? list.items : [];
  const given = items.filter((item): item is RawOperand => item?.kind === "raw");
  return given.length === items.length ? given : null;
}

/** The parameters in the order of the platform. */
function orderOf(
  context: LowerContext,
  { row: { execution } }: Instruction,
  given: readonly RawOperand[],
): readonly SamplerParameter[] {
  const { parameters = [], fromXe2 } = execution.kind === "image" ? execution : {};
  const width = given[0] === undefined ? "word" : widthOf(context, given[0]);
  if (parameters.includes("si") && given.some((raw) => widthOf(context, raw) === "short")) return shortSamples;
  const { platform } = context.routine;
  return fromXe2 !== undefined && width === "word" && isXe2(platform) ? fromXe2 : parameters;
}

interface Parameters {
  readonly names: readonly MessageParameter[];
  readonly values: readonly Expr[];
}

/** The parameters, each by itself; null if several lie in fewer than 32 bits, of which nothing is documented. */
function parametersOf(
  context: LowerContext,
  exec: ExecSize,
  order: readonly SamplerParameter[],
  given: readonly RawOperand[],
): Parameters | null {
  const parts = given.map((raw, i): readonly (readonly [MessageParameter, Expr])[] | null => {
    const name = order[i]!;
    const value = parameterOf(context, exec, raw);
    const packing = packingOf(name);
    if (packing === null) return [[name as MessageParameter, value]];
    return widthOf(context, raw) === "word" ? partsOf(packing, value) : null;
  });
  if (parts.some((part) => part === null)) return null;
  const all = parts.flatMap((part) => part ?? []);
  return { names: all.map(([name]) => name), values: all.map(([, value]) => value) };
}

/** A message to the sampler. The parameters at the end may be left out: they are 0. */
function sendToSampler(context: LowerContext, instruction: Instruction): readonly Lowered[] {
  const kind = kinds[instruction.row.name]!;
  const exec = executionOf(instruction);
  const given = givenTo(instruction);
  const order = orderOf(context, instruction, given ?? []);
  const offsets = has(instruction, "offsets") ? offsetsOf(instruction) : ([0, 0, 0] as const);
  const isKnown = given !== null && offsets !== null && given.length <= order.length;
  const parameters = isKnown ? parametersOf(context, exec, order, given) : null;
  if (!isKnown || parameters === null || exec.size > Math.max(context.routine.simd, instruction.exec?.size ?? 1)) {
    return [unsupported(instruction, "these parameters of a message to the sampler are not modelled")];
  }
  const dst = rawOf(instruction, "dst");
  const width = widthOf(context, dst);
  const bits = width === "word" ? 32 : 16;
  const names = has(instruction, "channels") ? channelNumbers(choiceOf(instruction, "channels")) : [0, 1, 2, 3];
  const component = has(instruction, "channel") ? "RGBA".indexOf(choiceOf(instruction, "channel")) : 0;
  const op: Op = {
    kind: "unit",
    unit: {
      op: "sampler-message",
      message: {
        ...{ kind, parameters: parameters.names, level: levelOf(order), offsets, channels: names },
        ...{ component: component as SamplerMessage["component"], half: width === "half" },
      },
    },
    operands: [
      indexOf(context, nameOf(instruction, "surface")),
      kind === "load" ? k.i32(0) : indexOf(context, nameOf(instruction, "sampler")),
      ...parameters.values,
    ],
  };
  const lanes =
    instruction.exec === null ? { lanes: { first: 0, count: exec.size, noMask: true, uniform: false } } : {};
  const lowered = { op, dst: channelTargets(context, instruction, dst, names.length, bits), ...lanes };
  return [lowered, ...presence(context, instruction, names.length, bits)];
}

/** `resinfo` and `sampleinfo`. */
const information: LowerInstruction = (context, instruction) => {
  const channels = channelNumbers(choiceOf(instruction, "channels"));
  const surface = indexOf(context, nameOf(instruction, "surface"));
  const dst = channelTargets(context, instruction, rawOf(instruction, "dst"), channels.length);
  if (!has(instruction, "lod")) {
    return [{ op: { kind: "unit", unit: { op: "sample-count", channels }, operands: [surface] }, dst }];
  }
  const level = rawSource(context, rawOf(instruction, "lod"), { bits: 32, exec: instruction.exec ?? once });
  return [{ op: { kind: "unit", unit: { op: "surface-size", channels }, operands: [surface, level] }, dst }];
};

/** How samples of a texel are compressed: here they are not. */
const compression: LowerInstruction = (context, instruction) => {
  const names = channelNumbers(choiceOf(instruction, "channels"));
  const dst = channelTargets(context, instruction, rawOf(instruction, "dst"), names.length);
  return [{ op: { kind: "pure", values: names.map(() => k.i32(0)) }, dst }];
};

/** Whether texels are resident: one doubleword for each lane. All of an image is. */
const residency: LowerInstruction = (context, instruction) => {
  const { register } = lscOperandsOf(instruction).data;
  return [{ op: { kind: "pure", values: [k.i32(1)] }, dst: channelTargets(context, instruction, register, 1) }];
};

const byName: Readonly<Record<string, LowerInstruction>> = {
  GATHER4_TYPED: loadTyped,
  SCATTER4_TYPED: storeTyped,
  "3D_TYPED_ATOMIC": atomicTyped,
  "3D_INFO": information,
  "3D_LOAD": compression,
  MEDIA_LD: lowerMediaBlock,
  MEDIA_ST: lowerMediaBlock,
  LSC_LOAD_QUAD: lowerLscTyped,
  LSC_STORE_QUAD: lowerLscTyped,
  LSC_LOAD_QUAD_MSRT: lowerLscTyped,
  LSC_STORE_QUAD_MSRT: lowerLscTyped,
  LSC_LOAD_QUAD_STATUS: residency,
  SAMPLE_UNORM: lowerSampleBlock,
  LSC_LOAD_BLOCK2D: lowerTypedBlock,
  LSC_STORE_BLOCK2D: lowerTypedBlock,
};

/** Lowers what reads or writes texels of an image. */
export const lowerImage: LowerInstruction = (context, instruction) => {
  const { execution, name } = instruction.row;
  if (execution.kind !== "image") throw new Error(`${name} is not about images`);
  const { parameters, atomic } = execution;
  if (parameters !== undefined) return sendToSampler(context, instruction);
  if (atomic !== undefined) return lowerLscTypedAtomic(context, instruction, atomic);
  return byName[name]!(context, instruction);
};
