import type { AtomicFunction, Op } from "../../ir/index.ts";
import { type Expr, kit as k } from "../../semantics/index.ts";
import { lscSizeOf } from "../access-slots.ts";
import { choiceOf, has, nameOf, numberChoiceOf, once, rawOf } from "../instruction-operands.ts";
import type { ExecSize, Instruction, LscAddress, LscData, RawOperand } from "../tree.ts";
import { atomicFunctionOf } from "./atomic.ts";
import { unsupported } from "./channel-operands.ts";
import type { LowerContext, Lowered, LowerInstruction } from "./context.ts";
import { source } from "./operands.ts";
import { isNull, rawSource, rawTarget } from "./raw-operand.ts";
import { channelNumbers, channelSources, channelTargets, indexOf } from "./texel-channels.ts";

/** The surface and the coordinates of a typed access, as 32-bit integers. */
const placeIn = (context: LowerContext, instruction: Instruction): readonly Expr[] => [
  indexOf(context, nameOf(instruction, "surface")),
  ...["u", "v", "r", "lod"].map((name) =>
    rawSource(context, rawOf(instruction, name), { bits: 32, exec: instruction.exec ?? once }),
  ),
];

/** `gather4_typed`. */
export const loadTyped: LowerInstruction = (context, instruction) => {
  const channels = channelNumbers(choiceOf(instruction, "channels"));
  const operands = placeIn(context, instruction);
  const samples = false;
  const dst = channelTargets(context, instruction, rawOf(instruction, "dst"), channels.length);
  return [{ op: { kind: "unit", unit: { op: "typed-load", channels, samples }, operands }, dst }];
};

/** `scatter4_typed`. */
export const storeTyped: LowerInstruction = (context, instruction) => {
  const channels = channelNumbers(choiceOf(instruction, "channels"));
  const data = channelSources(context, instruction, rawOf(instruction, "src"), channels.length);
  const operands = [...placeIn(context, instruction), ...data];
  const samples = false;
  return [{ op: { kind: "unit", unit: { op: "typed-store", channels, samples }, operands }, dst: [] }];
};

/** An atomic operation on an element of `bits` bits. Elements of 16 bits lie in the low halves of dwords. */
interface TypedAtomic {
  readonly function: AtomicFunction;
  readonly bits: 16 | 32 | 64;
  readonly sources: readonly [RawOperand, RawOperand];
  readonly dst: RawOperand;
  /** The fourth parameter is the sample of a texel. */
  readonly samples: boolean;
}

function atomicOn(
  context: LowerContext,
  instruction: Instruction,
  place: readonly Expr[],
  { function: name, bits, sources, dst, samples }: TypedAtomic,
): readonly Lowered[] {
  const exec = instruction.exec ?? once;
  const stride = bits === 16 ? 2 : 1;
  const given = sources.map((raw) => rawSource(context, raw, { bits, exec, stride }));
  const op: Op = {
    kind: "unit",
    unit: { op: "typed-atomic", function: name, bits, samples },
    operands: [...place, ...given],
  };
  return [{ op, dst: [rawTarget(context, dst, { bits: bits === 64 ? 64 : 32, exec })] }];
}

/** `typed_atomic`. */
export const atomicTyped: LowerInstruction = (context, instruction) =>
  atomicOn(context, instruction, placeIn(context, instruction), {
    function: atomicFunctionOf(choiceOf(instruction, "op")),
    bits: numberChoiceOf(instruction, "width") as 16 | 32,
    sources: [rawOf(instruction, "src0"), rawOf(instruction, "src1")],
    dst: rawOf(instruction, "dst"),
    samples: false,
  });

/** The address and the data of an LSC message. */
export function lscOperandsOf({ row, operands }: Instruction): {
  readonly address: LscAddress;
  readonly data: LscData;
} {
  const { address, data } = operands;
  if (address?.kind !== "lsc-address" || data?.kind !== "lsc-data") throw new Error(`${row.mnemonic} has no address`);
  return { address, data };
}

/** The index of the surface of an LSC message; or why there is none. */
export function lscSurface(
  context: LowerContext,
  { model, surface, surfaceOffset }: LscAddress,
  exec: Pick<ExecSize, "offset">,
): Expr | string {
  if ((surfaceOffset ?? 0) !== 0) return "indices into arrays of surface states are not modelled";
  if (model !== "bti" && model !== "bss" && model !== "ss") return `the address model ${model} is not modelled`;
  if (surface === null) return "there is no surface";
  const index = source(context, surface, { ...once, offset: exec.offset }).expr;
  return index.ty === "i64" ? k.wrap(index) : index;
}

/** The surface and the coordinates of a typed LSC message; those that are left out are 0. */
function lscPlace(context: LowerContext, instruction: Instruction, address: LscAddress): readonly Expr[] | string {
  const exec = instruction.exec ?? once;
  const surface = lscSurface(context, address, exec);
  if (typeof surface === "string") return surface;
  const coordinates = [0, 1, 2, 3].map((n): Expr => {
    const operand = address.base[n]?.operand;
    if (operand?.kind !== "raw") return k.i32(0);
    const value = rawSource(context, operand, { bits: address.size ?? 32, exec });
    return value.ty === "i64" ? k.wrap(value) : value;
  });
  return [surface, ...coordinates];
}

const lscChannels = ({ channels }: LscData): number[] => [0, 1, 2, 3].filter((c) => (((channels ?? 1) >> c) & 1) === 1);

/** Typed `lsc_load_quad` and `lsc_store_quad`; with `_msrt` the fourth parameter is the sample of a texel. */
export const lowerLscTyped: LowerInstruction = (context, instruction) => {
  const { address, data } = lscOperandsOf(instruction);
  const { mnemonic } = instruction.row;
  const isLoad = mnemonic.startsWith("lsc_load");
  const samples = mnemonic.endsWith("_msrt");
  // A load to %null is a prefetch.
  if (isLoad && isNull(context, data.register)) return [{ op: { kind: "nothing" }, dst: [] }];
  const { bytes, within } = lscSizeOf(data);
  const place = lscPlace(context, instruction, address);
  if (typeof place === "string") return [unsupported(instruction, place)];
  if (bytes !== 4 || within !== 0) return [unsupported(instruction, "typed surfaces are accessed by channels of d32")];
  const channels = lscChannels(data);
  if (isLoad) {
    const dst = channelTargets(context, instruction, data.register, channels.length);
    return [{ op: { kind: "unit", unit: { op: "typed-load", channels, samples }, operands: place }, dst }];
  }
  const values = channelSources(context, instruction, data.register, channels.length);
  return [
    { op: { kind: "unit", unit: { op: "typed-store", channels, samples }, operands: [...place, ...values] }, dst: [] },
  ];
};

/** Typed `lsc_atomic_...`. */
export function lowerLscTypedAtomic(
  context: LowerContext,
  instruction: Instruction,
  name: AtomicFunction,
): readonly Lowered[] {
  const { address, data } = lscOperandsOf(instruction);
  const { bytes, slot, within } = lscSizeOf(data);
  if (bytes === 1 || slot < 4 || within > 0 || data.vector !== 1 || data.transposed) {
    return [unsupported(instruction, "atomic operations have one element of 32 or 64 bits, or of 16 in a dword")];
  }
  const place = lscPlace(context, instruction, address);
  if (typeof place === "string") return [unsupported(instruction, place)];
  return atomicOn(context, instruction, place, {
    function: name,
    bits: (bytes * 8) as TypedAtomic["bits"],
    sources: [rawOf(instruction, "src0"), rawOf(instruction, "src1")],
    dst: data.register,
    samples: has(instruction, "msaa"),
  });
}
