import { windows } from "../../../../ir/address-map.ts";
import { registersRead, writersIn, writesOf } from "../../../../ir/flow/accesses.ts";
import { propagateConstants } from "../../../../ir/flow/constants.ts";
import { flowGraphOf } from "../../../../ir/flow/flow-graph.ts";
import { livenessOf } from "../../../../ir/flow/liveness.ts";
import type { Instruction, IrFunction } from "../../../../ir/index.ts";
import { accessesOf } from "../../../../ir/op-traits.ts";
import { kit, registersOf } from "../../../../semantics/index.ts";
import { type KnownParameter, valueIn } from "../../../abi/known-parameter.ts";

/** The parameter that an instruction loads, if it is an integer and no pointer; else null. */
function parameterOf({ op, guard, dst, lanes }: Instruction): KnownParameter | null {
  if (op.kind !== "load" || guard !== null || lanes !== undefined || dst.length !== 1) return null;
  const { access, place } = op;
  const { bits, signed, count } = access;
  if (access.space !== "kernel-param" || count !== 1 || place.kind !== "address") return null;
  if (bits !== 8 && bits !== 16 && bits !== 32) return null;
  const { address } = place;
  if (address.kind !== "const" || typeof address.value === "boolean") return null;
  // As wide as an address, it may be a pointer.
  if (bits === 32 && address.ty !== "i64") return null;
  return { offset: Number(address.value) - windows["kernel-param"].start, bits, isSigned: signed };
}

/** The integers among the parameters from which a kernel computes addresses. */
export function addressParameters({ instructions }: IrFunction): readonly KnownParameter[] {
  const writers = writersIn(instructions);
  const used = new Set(
    instructions.flatMap(({ op }) =>
      accessesOf(op).flatMap(({ place }) => (place.kind === "address" ? registersOf(place.address) : [])),
    ),
  );
  const found: KnownParameter[] = [];
  for (const r of used) {
    for (const writer of writers.get(r) ?? []) {
      const parameter = parameterOf(writer);
      if (parameter !== null) found.push(parameter);
      if (writer.op.kind === "pure") for (const from of registersRead(writer)) used.add(from);
    }
  }
  return found;
}

/** A kernel with some of its parameters as a launch gives them, and what follows from that. */
export function withParameters(ir: IrFunction, parameters: readonly KnownParameter[], params: Uint8Array): IrFunction {
  const offsets = new Set(parameters.map(({ offset }) => offset));
  const isWord = (to: Instruction["dst"][number] | undefined): boolean =>
    typeof to === "number" && ir.registers[to]!.bits <= 32;
  const given = ir.instructions.map((instruction): Instruction => {
    const parameter = parameterOf(instruction);
    if (parameter === null || !offsets.has(parameter.offset) || !isWord(instruction.dst[0])) return instruction;
    const value = valueIn(params, parameter);
    return value === null ? instruction : { ...instruction, op: { kind: "pure", values: [kit.i32(value)] } };
  });
  const writes = new Uint32Array(ir.registers.length);
  for (const instruction of given) writesOf(instruction, (r) => writes[r]!++);
  const atStart = livenessOf({ ...ir, instructions: given }, flowGraphOf(given), []).liveIn(0);
  const once = (r: number): boolean => writes[r] === 1 && !atStart.has(r);
  return { ...ir, instructions: propagateConstants(ir.registers, given, {}, once).instructions };
}
