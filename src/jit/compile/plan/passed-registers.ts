import type { FileCallOp } from "../../../ir/calls.ts";
import { fileLeavesOf } from "../../../ir/flow/accesses.ts";
import { argAt, argRegisters, type Instruction, retvalAt, variablesAt } from "../../../ir/index.ts";
import { byteOf, type Lanes } from "../../../ir/region.ts";
import type { RegionLeaf } from "../../../semantics/index.ts";
import type { CallGraph } from "./call-graph.ts";
import type { CompiledFunction } from "./compiled-functions.ts";

/**
 * Which routines of vISA use the thread's part of the byte file, %arg and %retval where their callers have them,
 * instead of in copies of their own: those whose calls hand over exactly what they may see, and which access nothing at
 * places that are only known when they run.
 */
export class PassedRegisters {
  /** The bytes of %arg, from its beginning, that anything is ever written to. */
  readonly argBytes: number;
  readonly #inPlace: ReadonlySet<CompiledFunction>;
  /** By subroutine, the routine that it belongs to. */
  readonly #routines = new Map<CompiledFunction, CompiledFunction>();

  /** `width`: the lanes of a thread; null where there are no threads. */
  constructor(graph: CallGraph, width: number | null) {
    const { functions } = graph;
    const lanes = { first: 0, count: width ?? 0 };
    for (const f of functions) if (f.part?.number === null) this.#addParts(graph, f, f);
    const calls = functions.flatMap((f) =>
      f.ir.instructions.flatMap(({ op }) => (op.kind === "file-call" ? [op] : [])),
    );
    const routines = functions.filter((f) => f.part?.number === null && f !== functions[0]);
    const found = new Set(routines);
    for (const f of functions) if (!hasKnownPlaces(f, lanes)) found.delete(this.routineOf(f));
    const results = this.#resultBytes(functions, lanes);
    for (let changed = true; changed; ) {
      changed = false;
      for (const op of calls) {
        const targets = graph.targetsOf(op);
        if (targets.every((f) => found.has(f) && results.get(f)! <= retvalBytes(op, f))) continue;
        for (const f of targets) changed = found.delete(f) || changed;
      }
    }
    this.#inPlace = found;
    this.argBytes = argBytes(functions, calls, lanes);
  }

  /** The routine that a function of the module belongs to: itself, or that of which it is a subroutine. */
  routineOf(f: CompiledFunction): CompiledFunction {
    return this.#routines.get(f) ?? f;
  }

  /** Whether a routine, or that of a subroutine, uses its caller's registers. */
  isInPlace(f: CompiledFunction): boolean {
    return this.#inPlace.has(this.routineOf(f));
  }

  #addParts(graph: CallGraph, routine: CompiledFunction, part: CompiledFunction): void {
    for (const callee of graph.calleesOf(part)) {
      if (callee.part?.number === null || this.#routines.has(callee)) continue;
      this.#routines.set(callee, routine);
      this.#addParts(graph, routine, callee);
    }
  }

  /** By routine, the bytes of %retval that it may change, from its beginning: by itself, or by calls. */
  #resultBytes(functions: readonly CompiledFunction[], all: Lanes): ReadonlyMap<CompiledFunction, number> {
    const found = new Map<CompiledFunction, number>();
    for (const f of functions) {
      if (f.part === null) continue;
      const { grfBytes } = f.ir.file!;
      const [from, to] = [retvalAt(grfBytes), variablesAt(grfBytes)];
      let bytes = 0;
      for (const instruction of f.ir.instructions) {
        const { op } = instruction;
        if (op.kind === "file-call") bytes = Math.max(bytes, op.retvalSize * grfBytes);
        for (const { start, end } of writtenBy(instruction, all)) {
          if (start < to && end > from) bytes = Math.max(bytes, end - from);
        }
      }
      const routine = this.routineOf(f);
      found.set(routine, Math.max(bytes, found.get(routine) ?? 0));
    }
    return found;
  }
}

const retvalBytes = ({ retvalSize }: FileCallOp, { ir }: CompiledFunction): number => retvalSize * ir.file!.grfBytes;

/** Bytes of the file. */
interface Range {
  readonly start: number;
  readonly end: number;
}

function rangeOf({ region, bits }: Pick<RegionLeaf, "region" | "bits">, { first, count }: Lanes): Range {
  const places = Array.from({ length: count }, (_, i) => byteOf(region, bits, first + i));
  return { start: Math.min(...places), end: Math.max(...places) + bits / 8 };
}

/** The places of known bytes that an instruction writes. */
const writtenBy = ({ dst, lanes }: Instruction, all: Lanes): readonly Range[] =>
  dst.flatMap((to) =>
    to !== null && typeof to === "object" && to.kind === "region" ? [rangeOf(to, lanes ?? all)] : [],
  );

/** Whether no place is computed, and each lies either among what calls pass or among the variables. */
function hasKnownPlaces({ ir: { file, instructions } }: CompiledFunction, all: Lanes): boolean {
  if (file === undefined) return false;
  const border = variablesAt(file.grfBytes);
  return instructions.every((instruction) => {
    const leaves = fileLeavesOf(instruction);
    const isComputed =
      leaves.some(({ kind }) => kind === "indirect") ||
      instruction.dst.some((to) => to !== null && typeof to === "object" && to.kind === "indirect");
    if (isComputed) return false;
    const read = leaves.flatMap((leaf) => (leaf.kind === "region" ? [rangeOf(leaf, instruction.lanes ?? all)] : []));
    return [...read, ...writtenBy(instruction, all)].every(({ start, end }) => start >= border || end <= border);
  });
}

function argBytes(functions: readonly CompiledFunction[], calls: readonly FileCallOp[], all: Lanes): number {
  let bytes = 0;
  for (const { ir, part } of functions) {
    if (part === null) continue;
    const { grfBytes } = ir.file!;
    const most = argRegisters * grfBytes;
    for (const { argSize } of calls) bytes = Math.max(bytes, Math.min(most, argSize * grfBytes));
    for (const instruction of ir.instructions) {
      const isAnywhere = instruction.dst.some((to) => typeof to === "object" && to?.kind === "indirect");
      if (isAnywhere) bytes = Math.max(bytes, most);
      for (const { start, end } of writtenBy(instruction, all)) {
        if (start < argAt + most && end > argAt) bytes = Math.max(bytes, Math.min(most, end - argAt));
      }
    }
  }
  return Math.ceil(bytes / 16) * 16;
}
