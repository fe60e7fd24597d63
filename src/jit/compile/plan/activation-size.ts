import { variablesAt } from "../../../ir/index.ts";
import type { CompiledFunction } from "./compiled-functions.ts";
import type { KernelScope } from "./scope.ts";

/** Bytes of the host's stack that activations may take: engines have about a megabyte, and throw when it is full. */
export const hostStackBytes = 900 * 1024;

/** Bytes of a register that the parts of a routine share: as many as a vector of 64-bit lanes has. */
const sharedRegisterBytes = (quads: number): number => 32 * quads;

const aligned = (bytes: number): number => Math.ceil(bytes / 16) * 16;

/** Offset in a routine's byte file at which a register lies while another part of the routine runs. */
export const sharedRegisterAt = ({ ir }: CompiledFunction, register: number, quads: number): number =>
  aligned(ir.file!.bytes) + register * sharedRegisterBytes(quads);

/** Bytes of an activation of a routine of vISA: its byte file, and the registers that its parts share. */
export function activationBytes({ ir, part }: CompiledFunction, quads: number): number {
  if (ir.file === undefined) return 0;
  const shared = part?.isShared === true ? ir.registers.length * sharedRegisterBytes(quads) : 0;
  return aligned(ir.file.bytes) + shared;
}

/**
 * Bytes at the beginning of a routine's byte file that take no place, since it uses the registers of its caller: the
 * file begins so many bytes before its place.
 */
export const bytesInCaller = (f: CompiledFunction, { passed }: Pick<KernelScope, "passed">): number =>
  passed.isInPlace(f) ? variablesAt(f.ir.file!.grfBytes) : 0;

/** Bytes for the activations of routines, as many as can be open at once. */
export function calledBytes({ graph, passed }: Pick<KernelScope, "graph" | "passed">, quads: number): number {
  // A subroutine runs in the activation of its routine.
  const bytesOf = (f: CompiledFunction): number =>
    f.part === null || f.part.number !== null ? 0 : activationBytes(f, quads) - bytesInCaller(f, { passed });
  // Each takes at least as many bytes of the host's stack, which is limited.
  const { recursive, functions } = graph.order;
  if (graph.functions[0]!.part === null) return 0;
  if (recursive) return hostStackBytes + Math.max(...functions.map(bytesOf));
  const deepest = new Map<CompiledFunction, number>();
  for (const f of functions) {
    const callees = [...graph.calleesOf(f)];
    deepest.set(f, Math.max(0, ...callees.map((callee) => bytesOf(callee) + deepest.get(callee)!)));
  }
  return deepest.get(functions.at(-1)!)!;
}
