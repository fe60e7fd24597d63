import type { ByteWriter } from "./bytes.ts";
import type { CodeEvents } from "./code-events.ts";
import type { FunctionSize } from "./merge-count.ts";
import type { WasmTy } from "./operation.ts";

/** A function's code before the functions of its module are numbered. Positions are in `code`. */
export interface FunctionBody {
  readonly params: readonly WasmTy[];
  readonly results: readonly WasmTy[];
  readonly code: ByteWriter;
  /** Its locals without the parameters. */
  readonly locals: readonly WasmTy[];
  /** Where the index of a called function has to be inserted, in order. */
  readonly calls: readonly { readonly at: number; readonly callee: string }[];
  /** Branches with a likely outcome, in order. */
  readonly hints: readonly { readonly at: number; readonly expected: boolean }[];
  /** How much there is for a host to do that optimizes the function. */
  readonly merges: FunctionSize["merges"];
}

/** What is known of a function that has just been written. */
export interface WrittenBody extends FunctionBody {
  readonly events: CodeEvents;
  /** The ranges of code that are hardly ever executed. They may be nested. */
  readonly rare: readonly RareCode[];
}

/** Bytes of a function's code that are hardly ever executed. They use nothing, and leave nothing, on the stack. */
export interface RareCode {
  readonly from: number;
  readonly to: number;
}
