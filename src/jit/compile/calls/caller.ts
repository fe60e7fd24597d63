import type { Reconvergence } from "../control/reconvergence.ts";
import type { Chunk } from "../emit/chunk.ts";
import type { Faults } from "../emit/faults.ts";
import type { Frame } from "../memory/frame.ts";
import type { FunctionContext } from "../module/function-context.ts";
import type { ModuleUnit } from "../module/module-unit.ts";
import type { CompiledFunction } from "../plan/compiled-functions.ts";
import type { Suspension } from "../sync/suspension.ts";

/** The properties of a function that the calls in it depend on. */
export interface CallContext {
  readonly unit: ModuleUnit;
  readonly compiled: CompiledFunction;
  readonly frame: Frame;
  /** Of a function in which lanes may exit: locals with the lanes that have; else null. */
  readonly ended: readonly number[] | null;
  readonly isFunction: boolean;
}

/** A function while its code is written: the parts that its calls are written with. */
export interface Caller extends CallContext {
  readonly chunk: Chunk;
  readonly flow: Reconvergence;
  readonly memory: FunctionContext;
  readonly faults: Faults;
  /** Null where lanes never suspend. */
  readonly suspension: Suspension | null;
}
