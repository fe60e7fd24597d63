import type { FunctionWriter } from "../../../wasm/index.ts";
import type { Invariants } from "../analysis/values/invariant-code.ts";
import { specialsOf } from "../analysis/values/special-registers.ts";
import type { UniformityAnalysis } from "../analysis/values/uniformity.ts";
import { Routine } from "../calls/routine.ts";
import { ByteFileAccess } from "../emit/byte-file.ts";
import { Chunk } from "../emit/chunk.ts";
import { DeadRegisters } from "../emit/dead-registers.ts";
import type { RegisterMemory, Sharing } from "../emit/register-locals.ts";
import { stateHeaderBytes } from "../../abi/chunk-state.ts";
import { SpecialRegisters } from "../emit/special-registers.ts";
import { ExpectedObjects } from "../memory/expected-objects.ts";
import { Frame } from "../memory/frame.ts";
import type { FunctionContext } from "../module/function-context.ts";
import type { ModuleUnit } from "../module/module-unit.ts";
import type { CompiledFunction } from "../plan/compiled-functions.ts";
import type { MemoryRegisters } from "../plan/memory-registers.ts";
import type { SuspensionPoints } from "../plan/suspension-points.ts";
import { Suspension } from "../sync/suspension.ts";
import { Body } from "./body.ts";
import { HardwareThreads } from "./hardware-threads.ts";

/** A function as it has been planned, and the locals that it begins with. */
interface FunctionSpec {
  readonly compiled: CompiledFunction;
  readonly analysis: UniformityAnalysis;
  readonly points: SuspensionPoints;
  readonly canSuspend: boolean;
  /** Locals: where the context begins, and where the activation's entry in the shadow stack lies. */
  readonly context: number;
  readonly entry: number;
  /** Whether lanes may exit in the function, whose caller then has to know which. */
  readonly exitsLanes: boolean;
  /**
   * Of the kernel: what is computed once for many chunks, which registers share locals, and which lie in memory. Null:
   * a function that it calls.
   */
  readonly kernel: {
    readonly invariants: Invariants;
    readonly sharing: Sharing | null;
    readonly matrices: MemoryRegisters;
  } | null;
}

/** A function of the module while it is written: the parts that its code is made with. */
export interface FunctionScope {
  readonly unit: ModuleUnit;
  readonly compiled: CompiledFunction;
  readonly writer: FunctionWriter;
  readonly specials: SpecialRegisters;
  readonly frame: Frame;
  readonly chunk: Chunk;
  readonly dead: DeadRegisters;
  /** Of a kernel of vISA. */
  readonly hardwareThreads: HardwareThreads | null;
  /** Of a routine of vISA that is called, or one of its subroutines. */
  readonly routine: Routine | null;
  readonly objects: ExpectedObjects;
  readonly context: FunctionContext;
  /** Locals with the lanes that have exited in the function; null where the caller need not know. */
  readonly ended: readonly number[] | null;
  /** Null where lanes never suspend. */
  readonly suspension: Suspension | null;
  readonly body: Body;
}

/** Makes the parts that the code of a function is written with. */
export function openFunction(unit: ModuleUnit, writer: FunctionWriter, spec: FunctionSpec): FunctionScope {
  const { compiled, analysis, points, context: contextLocal, entry, kernel } = spec;
  const { layout, shape } = unit;
  const invariants = kernel?.invariants ?? null;
  const specials = new SpecialRegisters(writer, layout, contextLocal, shape, {
    used: specialsOf(analysis.code.instructions),
    known: invariants?.known.numbers ?? new Map(),
  });
  const frame = new Frame(unit, writer, compiled, kernel === null ? entry : null);
  const isVisa = compiled.part !== null;
  const state = writer.local("i32");
  const memory: RegisterMemory | null = kernel && {
    matrices: kernel.matrices,
    areas: {
      state: { base: state, offset: stateHeaderBytes },
      context: { base: contextLocal, offset: layout.matrixRegisters },
    },
  };
  const chunk = new Chunk({
    writer,
    analysis,
    shape,
    special: (leaf) => specials.value(leaf),
    frame: (leaf) => frame.address(leaf),
    sharing: kernel?.sharing ?? null,
    memory,
    invariants,
    byteFile: isVisa ? (c) => new ByteFileAccess(c, compiled.ir.file!) : null,
  });
  const dead = new DeadRegisters(writer, analysis, chunk.locals, kernel?.sharing?.apart ?? null);
  const at = { context: contextLocal, first: specials.first };
  const hardwareThreads = isVisa && kernel !== null ? new HardwareThreads(unit, chunk, compiled, at) : null;
  const routine = isVisa && kernel === null ? new Routine(chunk, compiled) : null;
  const objects = new ExpectedObjects(unit, writer, analysis, contextLocal, frame);
  const ended = spec.exitsLanes ? chunk.active.map(() => writer.local("v128")) : null;
  const context: FunctionContext = {
    context: contextLocal,
    first: kernel === null ? null : specials.first,
    entry,
    hasOwnStacks: unit.stacks.isUsed && compiled.ir.frameImage === undefined,
    isShared: shape.shared,
    layout,
    unit,
    siteOf: (instruction, record, element = 0) => {
      const { origins, instructions } = analysis.code;
      const origin = origins[instruction]!;
      const { op } = instructions[instruction]!;
      const isPart =
        (op.kind === "load" || op.kind === "store") && compiled.code.ir.instructions[origin]?.op.kind === "copy";
      const part = isPart ? { part: { effect: op.kind, access: op.access } } : {};
      const place = op.kind === "load" || op.kind === "store" || op.kind === "atomic" ? op.place : null;
      const within = place?.kind === "address" && place.surface !== undefined ? { surface: place.surface.index } : {};
      const { isUsed } = unit.stacks;
      const lasting = record !== null && isUsed ? { lasting: unit.stacks.lastingIn(compiled) } : {};
      const site = { function: compiled.number, instruction: origin, record, element, ...lasting, ...part, ...within };
      return unit.sites.push(site) - 1;
    },
  };
  const isFunction = kernel === null;
  const mode = { state, taken: kernel?.matrices.stateBytes ?? 0, isFunction, isLockstep: isVisa };
  const suspension = spec.canSuspend ? new Suspension(chunk, points, invariants?.registers ?? new Set(), mode) : null;
  const calls = { unit, compiled, frame, ended, isFunction };
  const body = new Body({ chunk, dead, context, objects, points, suspension, invariants, calls });
  const parts = { specials, frame, chunk, dead, hardwareThreads, routine, objects, ended, suspension, body };
  return { unit, compiled, writer, context, ...parts };
}
