import type { FunctionWriter } from "../wasm/index.ts";
import type { ContextLayout } from "./context-layout.ts";
import type { Reaches } from "./reaches.ts";
import type { Unit } from "./unit.ts";

/** What accesses to memory need to know of the function and of the module around it. */
export interface MemoryContext {
  /** The local that holds the beginning of the context. */
  readonly context: number;
  /** The one that holds the activation's entry in the shadow stack. */
  readonly entry: number;
  /** Whether anything lies in the lanes' stacks, where one generic address is another byte of memory for each lane. */
  readonly hasStacks: boolean;
  /** Whether other threads of the host run blocks of the same launch in the same memory. */
  readonly isShared: boolean;
  readonly layout: ContextLayout;
  readonly unit: Unit;
  readonly reaches: Reaches;
  /** The number under which the launcher knows an element of an instruction's, and the record that it keeps for it. */
  readonly siteOf: (instruction: number, record: number | null, element?: number) => number;
}

/** Tells the launcher, before it is asked, which activation asks. */
export function tellEntry(w: FunctionWriter, { context, entry, layout }: MemoryContext): void {
  w.get(context);
  w.get(entry);
  w.memory("i32.store", 4, layout.words.entry);
}
