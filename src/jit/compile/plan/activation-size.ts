import { fileLeavesOf } from "../../../ir/flow/accesses.ts";
import { variablesAt } from "../../../ir/index.ts";
import { byteOf } from "../../../ir/region.ts";
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
 * Bytes at the beginning of a routine's byte file that take no place: it uses the registers of its caller, and where
 * only direct calls lead to it, its file begins where its variables do.
 */
export function bytesInCaller(f: CompiledFunction, { graph, passed }: Pick<KernelScope, "graph" | "passed">): number {
  if (!passed.isInPlace(f)) return 0;
  if (graph.isCalledByAddress(f)) return variablesAt(f.ir.file!.grfBytes);
  // The kernel's file lies before those of the routines that it calls: no file begins before the context.
  const most = Math.min(variableBytes(f).start, graph.functions[0]!.ir.file!.bytes);
  return Math.floor(most / 16) * 16;
}

/** Bytes of memory that an activation takes. */
export function bytesTaken(f: CompiledFunction, scope: Pick<KernelScope, "graph" | "passed" | "shape">): number {
  const { quads } = scope.shape;
  if (!scope.passed.isInPlace(f) || f.part?.isShared === true)
    return activationBytes(f, quads) - bytesInCaller(f, scope);
  return Math.max(0, aligned(variableBytes(f).end) - bytesInCaller(f, scope));
}

/** The bytes of a routine's file that its variables may occupy: if it has no subroutines, those that are accessed. */
export function variableBytes({ ir, part }: CompiledFunction): { readonly start: number; readonly end: number } {
  const { file, instructions } = ir;
  const first = variablesAt(file!.grfBytes);
  const all = { start: first, end: file!.bytes };
  if (part?.isShared === true) return all;
  let [start, end] = [file!.bytes, first];
  for (const instruction of instructions) {
    const places = [
      ...fileLeavesOf(instruction),
      ...instruction.dst.filter((to) => to !== null && typeof to === "object"),
    ];
    for (const place of places) {
      if (place.kind === "indirect") return all;
      const { first: lane, count } = instruction.lanes ?? { first: 0, count: 32 };
      for (let l = lane; l < lane + count; l++) {
        const at = byteOf(place.region, place.bits, l);
        if (at < first) continue;
        start = Math.min(start, at);
        end = Math.max(end, Math.min(file!.bytes, at + place.bits / 8));
      }
    }
  }
  return { start, end };
}

/** Bytes for the activations of routines, as many as can be open at once. */
export function calledBytes(scope: Pick<KernelScope, "graph" | "passed" | "shape">): number {
  const { graph } = scope;
  // A subroutine runs in the activation of its routine.
  const bytesOf = (f: CompiledFunction): number =>
    f.part === null || f.part.number !== null ? 0 : bytesTaken(f, scope);
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
