import { windows } from "../../../../ir/address-map.ts";
import { registersRead, writersIn, writesOf } from "../../../../ir/flow/accesses.ts";
import { propagateConstants } from "../../../../ir/flow/constants.ts";
import { flowGraphOf } from "../../../../ir/flow/flow-graph.ts";
import { livenessOf } from "../../../../ir/flow/liveness.ts";
import type { Instruction, IrFunction } from "../../../../ir/index.ts";
import { accessesOf } from "../../../../ir/op-traits.ts";
import { kit, registersOf } from "../../../../semantics/index.ts";
import type { GivenParameter, KnownParameter } from "../../../abi/known-parameter.ts";
import { isBarrier } from "../code/source-code.ts";

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
export const addressParameters = (ir: IrFunction): readonly KnownParameter[] =>
  parametersOf(ir, new Set(ir.instructions.flatMap((i) => addressRegisters(i))));

const addressRegisters = ({ op }: Instruction, space?: string): readonly number[] =>
  accessesOf(op).flatMap(({ access, place }) =>
    place.kind === "address" && (space ?? access.space) === access.space ? registersOf(place.address) : [],
  );

/**
 * The integers among the parameters that say how often loops around barriers repeat, who takes part in them, and where
 * in shared memory these threads access something.
 */
export function roundParameters(ir: IrFunction): readonly KnownParameter[] {
  const { instructions } = ir;
  const inLoops = new Uint8Array(instructions.length);
  instructions.forEach(({ op }, i) => {
    if (op.kind === "branch" && instructions.slice(op.target, i).some(isBarrier)) inLoops.fill(1, op.target, i + 1);
  });
  const used = instructions.flatMap((instruction, i) => {
    if (inLoops[i] === 0) return [];
    const { guard } = instruction;
    return [...(guard === null ? [] : [guard.register]), ...addressRegisters(instruction, "shared")];
  });
  return parametersOf(ir, new Set(used));
}

/** The integers among the parameters from which registers are computed, which are added to these. */
function parametersOf({ instructions }: IrFunction, used: Set<number>): readonly KnownParameter[] {
  const writers = writersIn(instructions);
  const found = new Map<string, KnownParameter>();
  for (const r of used) {
    for (const writer of writers.get(r) ?? []) {
      const parameter = parameterOf(writer);
      if (parameter !== null) found.set(partOf(parameter), parameter);
      if (writer.op.kind === "pure") for (const from of registersRead(writer)) used.add(from);
    }
  }
  return [...found.values()];
}

/** Tells a parameter from others, and from another part of it. */
const partOf = ({ offset, bits, isSigned }: KnownParameter): string => `${offset} ${bits} ${isSigned}`;

/** A kernel with some of its parameters as launches give them, and what follows from that. */
export function withParameters(ir: IrFunction, known: readonly GivenParameter[]): IrFunction {
  const values = new Map(known.map((parameter) => [partOf(parameter), parameter.value]));
  const isWord = (to: Instruction["dst"][number] | undefined): boolean =>
    typeof to === "number" && ir.registers[to]!.bits <= 32;
  const given = ir.instructions.map((instruction): Instruction => {
    const parameter = parameterOf(instruction);
    const value = parameter === null ? undefined : values.get(partOf(parameter));
    if (value === undefined || !isWord(instruction.dst[0])) return instruction;
    return { ...instruction, op: { kind: "pure", values: [kit.i32(value)] } };
  });
  const writes = new Uint32Array(ir.registers.length);
  for (const instruction of given) writesOf(instruction, (r) => writes[r]!++);
  const atStart = livenessOf({ ...ir, instructions: given }, flowGraphOf(given), []).liveIn(0);
  const once = (r: number): boolean => writes[r] === 1 && !atStart.has(r);
  return { ...ir, instructions: propagateConstants(ir.registers, given, {}, once).instructions };
}
