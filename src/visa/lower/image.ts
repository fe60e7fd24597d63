import type { MessageParameter, Op, SamplerMessage } from "../../ir/index.ts";
import { type Expr, kit as k } from "../../semantics/index.ts";
import { choiceOf, has, nameOf, once, rawOf, vectorOf } from "../instruction-operands.ts";
import type { Instruction, RawOperand } from "../tree.ts";
import { typeBytes } from "../types.ts";
import { unsupported } from "./channel-operands.ts";
import type { LowerContext, Lowered, LowerInstruction } from "./context.ts";
import { isNull, rawSource, rawTarget } from "./raw-operand.ts";

const channelNumbers = (channels: string): number[] => [..."RGBA"].flatMap((c, i) => (channels.includes(c) ? [i] : []));

/** The level that a message samples. Derivatives of neighbours, which compute kernels do not have, are none: level 0. */
function levelOf(parameters: readonly MessageParameter[]): SamplerMessage["level"] {
  if (parameters.includes("lod")) return "level";
  return parameters.includes("dudx") ? "gradients" : "base";
}

/** The offsets in an immediate: four bits each, r lowest, as signed numbers. */
function offsetsOf(instruction: Instruction): readonly [number, number, number] | null {
  const operand = vectorOf(instruction, "offsets");
  if (operand.kind !== "immediate") return null;
  const nibble = (at: number): number => ((Number((operand.bits >> BigInt(at)) & 15n) + 8) % 16) - 8;
  return [nibble(8), nibble(4), nibble(0)];
}

/** The index in the slot of a surface or sampler variable. */
function indexIn(context: LowerContext, instruction: Instruction, name: "surface" | "sampler"): Expr {
  const variable = context.variable(nameOf(instruction, name).name);
  const region = { at: context.offsetOf(variable), first: 0, vertical: 0, width: 1, horizontal: 0 };
  return { kind: "region", ty: "i32", bits: 32, signed: false, region };
}

/** Bytes from one channel to the next: each begins in a register of its own. */
const channelBytes = (context: LowerContext, instruction: Instruction, bits: number): number => {
  const { grfBytes } = context.routine;
  const bytes = ((instruction.exec ?? once).size * bits) / 8;
  return Math.ceil(bytes / grfBytes) * grfBytes;
};

/** The elements of a channel of a raw operand. */
const channelAt = (context: LowerContext, instruction: Instruction, i: number) =>
  ({
    bits: 32,
    exec: instruction.exec ?? once,
    element: (i * channelBytes(context, instruction, 32)) / 4,
  }) as const;

const results = (context: LowerContext, instruction: Instruction, channels: readonly number[]): Lowered["dst"] =>
  channels.map((_, i) => rawTarget(context, rawOf(instruction, "dst"), channelAt(context, instruction, i)));

/** Why a message needs elements of another width than 32 bits, or more than texels; null if it does not. */
function unknownOf(context: LowerContext, instruction: Instruction, parameters: readonly RawOperand[]): string | null {
  if (has(instruction, "nullMask")) return "masks of pixels on pages that are not there are not modelled";
  const isNarrow = (raw: RawOperand): boolean =>
    !isNull(context, raw) && typeBytes(context.variable(raw.variable).type) === 2;
  const narrow = [rawOf(instruction, "dst"), ...parameters].some(isNarrow);
  return narrow ? "parameters and results of 16 bits are not modelled" : null;
}

const kinds: Readonly<Record<string, SamplerMessage["kind"]>> = {
  "3D_SAMPLE": "sample",
  "3D_LOAD": "load",
  "3D_GATHER4": "gather",
};

/** A message to the sampler. The parameters at the end may be left out: they are 0. */
function sendToSampler(
  context: LowerContext,
  instruction: Instruction,
  known: readonly MessageParameter[],
): readonly Lowered[] {
  const kind = kinds[instruction.row.name]!;
  const list = instruction.operands["parameters"];
  const items = list?.kind === "list" ? list.items : [];
  const given = items.filter((item): item is RawOperand => item.kind === "raw");
  const offsets = offsetsOf(instruction);
  if (given.length < items.length || offsets === null || given.length > known.length) {
    return [unsupported(instruction, "these parameters of a message to the sampler are not modelled")];
  }
  const problem = unknownOf(context, instruction, given);
  if (problem !== null) return [unsupported(instruction, problem)];
  const exec = instruction.exec ?? once;
  const names = has(instruction, "channels") ? channelNumbers(choiceOf(instruction, "channels")) : [0, 1, 2, 3];
  const component = has(instruction, "channel") ? "RGBA".indexOf(choiceOf(instruction, "channel")) : 0;
  const op: Op = {
    kind: "unit",
    unit: {
      op: "sampler-message",
      message: {
        ...{ kind, parameters: known.slice(0, given.length), level: levelOf(known), offsets, channels: names },
        component: component as SamplerMessage["component"],
      },
    },
    operands: [
      indexIn(context, instruction, "surface"),
      kind === "load" ? k.i32(0) : indexIn(context, instruction, "sampler"),
      ...given.map((raw) => rawSource(context, raw, { bits: 32, exec })),
    ],
  };
  return [{ op, dst: results(context, instruction, names) }];
}

/** The surface and the coordinates of a typed access, as 32-bit integers. */
const placeIn = (context: LowerContext, instruction: Instruction): readonly Expr[] => [
  indexIn(context, instruction, "surface"),
  ...["u", "v", "r", "lod"].map((name) =>
    rawSource(context, rawOf(instruction, name), { bits: 32, exec: instruction.exec ?? once }),
  ),
];

/** `gather4_typed`. */
const loadTyped: LowerInstruction = (context, instruction) => {
  const channels = channelNumbers(choiceOf(instruction, "channels"));
  const operands = placeIn(context, instruction);
  const dst = results(context, instruction, channels);
  return [{ op: { kind: "unit", unit: { op: "typed-load", channels }, operands }, dst }];
};

/** `scatter4_typed`. */
const storeTyped: LowerInstruction = (context, instruction) => {
  const channels = channelNumbers(choiceOf(instruction, "channels"));
  const data = channels.map((_, i) =>
    rawSource(context, rawOf(instruction, "src"), channelAt(context, instruction, i)),
  );
  const operands = [...placeIn(context, instruction), ...data];
  return [{ op: { kind: "unit", unit: { op: "typed-store", channels }, operands }, dst: [] }];
};

/** `resinfo`. */
const imageSize: LowerInstruction = (context, instruction) => {
  const channels = channelNumbers(choiceOf(instruction, "channels"));
  const exec = instruction.exec ?? once;
  const operands = [
    indexIn(context, instruction, "surface"),
    rawSource(context, rawOf(instruction, "lod"), { bits: 32, exec }),
  ];
  const dst = results(context, instruction, channels);
  return [{ op: { kind: "unit", unit: { op: "surface-size", channels }, operands }, dst }];
};

const byName: Readonly<Record<string, LowerInstruction>> = {
  GATHER4_TYPED: loadTyped,
  SCATTER4_TYPED: storeTyped,
  "3D_INFO": imageSize,
};

/** Lowers what reads or writes texels of an image. */
export const lowerImage: LowerInstruction = (context, instruction) => {
  const { execution, name } = instruction.row;
  const parameters = execution.kind === "image" ? execution.parameters : undefined;
  return parameters === undefined
    ? byName[name]!(context, instruction)
    : sendToSampler(context, instruction, parameters);
};
