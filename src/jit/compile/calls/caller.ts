import type { Reconvergence } from "../control/reconvergence.ts";
import type { Chunk } from "../emit/chunk.ts";
import type { Faults } from "../emit/faults.ts";
import type { Frame } from "../memory/frame.ts";
import type { FunctionContext } from "../module/function-context.ts";
import type { ModuleUnit } from "../module/module-unit.ts";
import type { CompiledFunction } from "../plan/callables.ts";
import type { Suspension } from "../sync/suspension.ts";

/** What calls need to know of the function in which they stand. */
export interface CallContext {
  readonly unit: ModuleUnit;
  readonly callable: CompiledFunction;
  readonly frame: Frame;
  /** Of a function, where lanes may end in it: locals with those that have. */
  readonly ended: readonly number[] | null;
  readonly isFunction: boolean;
}

/** The same while the code of that function is written: what calls are written with. */
export interface Caller extends CallContext {
  readonly chunk: Chunk;
  readonly flow: Reconvergence;
  readonly memory: FunctionContext;
  readonly faults: Faults;
  /** Where there are pauses. */
  readonly suspension: Suspension | null;
}
