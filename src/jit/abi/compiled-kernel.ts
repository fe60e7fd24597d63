import type { ContextLayout } from "./context-layout.ts";
import type { LaunchShape } from "./launch-shape.ts";

/** A kernel as a WebAssembly module, and what the launcher must know to run it. */
export interface CompiledKernel {
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Bytes of the largest function of it. */
  readonly largestFunction: number;
  readonly lanes: number;
  readonly shape: LaunchShape;
  readonly layout: ContextLayout;
  /** Bytes from the stack of one lane to the next; 0 where there are none. */
  readonly stackStride: number;
  /** Bytes of the kernel's byte file (vISA). */
  readonly fileBytes: number;
  /** Bytes of what a chunk keeps that waits. */
  readonly stateBytes: number;
  /** Offsets of the parameters that are pointers whose allocation is looked up beforehand. */
  readonly roots: readonly number[];
  /** By number, the instructions that the module asks the launcher about. */
  readonly sites: readonly HostSite[];
  /** For each kind of indirect call a byte for each function of the program: 1 if it may go there. */
  readonly targets: Uint8Array;
  /** Whether blocks may wait for what other blocks do. */
  readonly waits: boolean;
  /** Whether the launch may have to be given up, and all of it be undone. */
  readonly mayGiveUp: boolean;
  /** Host functions that the module imports. */
  readonly imports: readonly string[];
}

/** An instruction that asks the launcher. */
export interface HostSite {
  /** The function's place among those of the program. */
  readonly function: number;
  readonly instruction: number;
  /** Where in the context it remembers what it accessed, or null. */
  readonly record: number | null;
  /** Of an access through a surface that must be looked at element by element, the number of the element. */
  readonly element?: number;
}
