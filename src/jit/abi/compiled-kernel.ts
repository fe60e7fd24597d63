import type { Access } from "../../ir/index.ts";
import type { ContextLayout } from "./context-layout.ts";
import type { LaunchShape } from "./launch-shape.ts";

/** A kernel as a WebAssembly module. */
interface KernelModule {
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /**
   * A module with the functions that multiply matrices, which `bytes` then imports; empty if there is none. A host can
   * optimize it even if the kernel is too large.
   */
  readonly tiles: Uint8Array<ArrayBuffer>;
  /** About how many milliseconds V8 needs to optimize a function of the module; null: it must not. */
  readonly optimizingTime: number | null;
  /** Host functions that the module imports, in its order. */
  readonly imports: readonly string[];
}

/** The memory that a kernel needs besides the device's. */
interface KernelRoom {
  readonly layout: ContextLayout;
  /** Bytes from the stack of one lane to the next; 0 where there are none. */
  readonly stackStride: number;
  /** Bytes of the kernel's byte file (vISA). */
  readonly fileBytes: number;
  /** Bytes of a suspended chunk's state. */
  readonly stateBytes: number;
  /** Offsets of the pointers among the parameters whose allocations are looked up before a launch. */
  readonly roots: readonly number[];
}

/** A compiled kernel, with all that the launcher needs to run it. */
export interface CompiledKernel extends KernelModule, KernelRoom {
  readonly lanes: number;
  readonly shape: LaunchShape;
  /** The instructions for which the module calls the launcher, by number. */
  readonly sites: readonly HostSite[];
  /** For each kind of indirect call a byte for each function of the program: 1 if the call may go to it. */
  readonly targets: Uint8Array;
  /** Whether it looks at the map of allocated granules: see `granule`. */
  readonly readsGranules: boolean;
  /** Whether an instruction may stand for several, among which a fault is another one's: see `rerolled-loops.ts`. */
  readonly isRerolled: boolean;
  /** Whether blocks may wait for each other. */
  readonly waits: boolean;
  /** Whether a launch may have to be given up and undone. */
  readonly mayGiveUp: boolean;
}

/** An instruction for which compiled code calls the launcher. */
export interface HostSite {
  /** The function's number in the program. */
  readonly function: number;
  readonly instruction: number;
  /** The number of its record, which holds what it accessed last; null if it has none. */
  readonly record: number | null;
  /** With a record, where lanes have stacks: to which offset there the same variables exist whenever it is executed. */
  readonly lasting?: number;
  /** Of an access at an address within a surface, the index of the surface. */
  readonly surface?: number;
  /** Of an access through a surface that is looked up element by element, the element. */
  readonly element?: number;
  /** Where code makes one access of several, or a part of one: what it accesses. */
  readonly part?: { readonly effect: "load" | "store"; readonly access: Access };
}
