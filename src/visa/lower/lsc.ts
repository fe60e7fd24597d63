import { type Expr, kit as k } from "../../semantics/index.ts";
import { lscSizeOf, lscSlots, withoutLeadingGap } from "../access-slots.ts";
import type { MemoryAction } from "../isa/memory-action.ts";
import type { ExecSize, Instruction, LscAddress, LscData, VectorOperand } from "../tree.ts";
import { atomic } from "./atomic.ts";
import type { LowerContext, Lowered } from "./context.ts";
import { choiceOf, once } from "../instruction-operands.ts";
import { globalLocation, type MemoryLocation, slmLocation, surfaceLocation } from "./memory-location.ts";
import { channel } from "./element.ts";
import { source } from "./operands.ts";
import { isNull, rawSource, rawTarget } from "./raw-operand.ts";
import { load, store, type Transfer } from "./transfer.ts";
import { lscOperandsOf } from "./typed.ts";

type Action<Kind extends MemoryAction["kind"]> = Extract<MemoryAction, { kind: Kind }>;

/** Why an instruction that text can have is not modelled. */
type Reason = string;

const unsupported = ({ row }: Instruction, reason: Reason): readonly Lowered[] => [
  { op: { kind: "unsupported", what: row.mnemonic, reason }, dst: [] },
];

export function lowerLscAccess(
  context: LowerContext,
  instruction: Instruction,
  { access }: Action<"lsc-access">,
): readonly Lowered[] {
  const exec = instruction.exec ?? once;
  const { address, data } = lscOperandsOf(instruction);
  // A load to %null is a prefetch.
  if (access === "load" && isNull(context, data.register)) return [{ op: { kind: "nothing" }, dst: [] }];
  if (data.transposed && exec.size !== 1) return unsupported(instruction, "only one lane can access transposed data");
  const { skip, rest } = withoutLeadingGap(lscSlots(data, exec, context.routine.grfBytes));
  const location = locationOf(context, instruction, { address, data, exec, skip });
  if (typeof location === "string") return unsupported(instruction, location);
  const { bytes, within } = lscSizeOf(data);
  const transfer: Transfer = {
    ...rest,
    location,
    // IGC 1.0.12504 writes `d32` where its LLVM code has `align 2`, and `d64` at any multiple of 4 bytes in printf.
    align: data.transposed ? bytes : 1,
    registers: data.register,
    exec,
  };
  if (access === "store") return [store(context, transfer)];
  return within === 0 ? [load(context, transfer)] : [load(context, transfer), clearLowHalves(context, transfer)];
}

export function lowerLscAtomic(
  context: LowerContext,
  instruction: Instruction,
  { op, bfloat }: Action<"lsc-atomic">,
): readonly Lowered[] {
  const exec = instruction.exec ?? once;
  const { address, data } = lscOperandsOf(instruction);
  const { bytes, slot, within } = lscSizeOf(data);
  if (bytes === 1 || slot < 4 || within > 0 || data.vector !== 1 || data.channels !== null || data.transposed) {
    return unsupported(instruction, "atomic operations have one element of 32 or 64 bits, or of 16 in a dword");
  }
  const location = locationOf(context, instruction, { address, data, exec, skip: 0 });
  if (typeof location === "string") return unsupported(instruction, location);
  return atomic(context, instruction, location, op, { bits: (bytes * 8) as 16 | 32 | 64, bfloat }, data.register);
}

/** Clears the low halves of dwords whose high halves were loaded. */
function clearLowHalves(context: LowerContext, { slots, registers, exec }: Transfer): Lowered {
  const halves = slots.filter((slot) => slot !== null);
  return {
    op: { kind: "pure", values: halves.map(() => k.i32(0)) },
    dst: halves.map(({ at, stride }) =>
      rawTarget(context, registers, { bits: 16, exec, element: at / 2 - 1, stride: stride / 2 }),
    ),
  };
}

interface LscAccess {
  readonly address: LscAddress;
  readonly data: LscData;
  readonly exec: ExecSize;
  /** Bytes from the address to the first element that is accessed. */
  readonly skip: number;
}

function locationOf(
  context: LowerContext,
  instruction: Instruction,
  { address, data, exec, skip }: LscAccess,
): MemoryLocation | Reason {
  const { model, surface, surfaceOffset, extension } = address;
  const bytes = addressOf(context, instruction, address, data, exec);
  const at = skip === 0 ? bytes : k.add(bytes, k.int(bytes, skip));
  if (choiceOf(instruction, "sfid") === "slm") {
    return model === "flat" ? slmLocation(low(at)) : "shared local memory has no surfaces";
  }
  if ((surfaceOffset ?? 0) !== 0) return "indices into arrays of surface states are not modelled";
  switch (model) {
    case "flat":
      if (surface !== null && !isZero(surface)) return "a base address beside the addresses is not modelled";
      return globalLocation(at.ty === "i64" ? at : k.widen(at, extension === "s"));
    case "bti":
    case "bss":
    case "ss":
      if (surface === null) return "there is no surface";
      return surfaceLocation(low(source(context, surface, { ...once, offset: exec.offset }).expr), surfaceOffsetOf(at));
    default:
      return `the address model ${model} is not modelled`;
  }
}

const isZero = (operand: VectorOperand): boolean => operand.kind === "immediate" && operand.bits === 0n;

const low = (value: Expr): Expr => (value.ty === "i64" ? k.wrap(value) : value);

/**
 * An offset into a surface in 32 bits. Surfaces are smaller than 4 GiB, so an offset that needs more bits is beyond the
 * end of any surface.
 */
const surfaceOffsetOf = (at: Expr): Expr =>
  at.ty === "i64" ? k.select(k.eq(k.high(at), k.i32(0)), k.wrap(at), k.i32(-1)) : at;

/**
 * The address of each lane: `scale * base + offset`. In strided accesses all lanes have the same base, and each adds
 * its multiple of the pitch.
 */
function addressOf(
  context: LowerContext,
  instruction: Instruction,
  { base, scale, size }: LscAddress,
  data: LscData,
  exec: ExecSize,
): Expr {
  const strided = instruction.row.mnemonic.endsWith("_strided");
  const [first, second] = base;
  if (first?.operand.kind !== "raw") throw new Error(`${instruction.row.mnemonic} has no addresses`);
  const lanes = strided ? once : exec;
  const register = rawSource(context, first.operand, { bits: size ?? 64, exec: lanes, stride: strided ? 0 : 1 });
  const scaled = scale === 1 ? register : k.mul(register, k.int(register, scale));
  const address = first.offset === 0 ? scaled : k.add(scaled, k.int(scaled, first.offset));
  if (!strided) return address;
  const pitch =
    second === undefined
      ? k.i32(lscSizeOf(data).bytes * data.vector)
      : source(context, second.operand, { ...once, offset: exec.offset }).expr;
  const distance = k.mul(channel(exec), pitch);
  return k.add(address, address.ty === "i64" ? k.widen(distance, false) : distance);
}
