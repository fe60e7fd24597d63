import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import type { ContextLayout, HeaderWord } from "../../abi/context-layout.ts";
import type { ModuleUnit } from "./module-unit.ts";

/** The function that is being written and the module around it, as far as code needs them that uses the context. */
export interface FunctionContext {
  /** The local with the byte of memory where the context begins. */
  readonly context: number;
  /** In a kernel, the local with the number in its block of the chunk's first thread. */
  readonly first: number | null;
  /** The local with that of the activation's entry in the shadow stack. */
  readonly entry: number;
  /**
   * Whether lanes have anything of their own in their stacks, where an address is a different byte for each of them.
   */
  readonly hasOwnStacks: boolean;
  /** Whether other threads of the host may run blocks of the launch in the same memory. */
  readonly isShared: boolean;
  readonly layout: ContextLayout;
  readonly unit: ModuleUnit;
  /**
   * A new number under which the launcher knows an instruction (or one element of its access), with the record that it
   * has.
   */
  readonly siteOf: (instruction: number, record: number | null, element?: number) => number;
}

/** Stores in the context, for the launcher that is about to be called, which activation calls it. */
export function storeEntry(w: FunctionWriter, at: FunctionContext): void {
  storeWord(w, at, "entry", wasm.local("i32", at.entry));
}

/** Where the context is, and what it looks like. */
type ContextPlace = Pick<FunctionContext, "context" | "layout">;

/** Leaves a word of the context on the stack. */
export function pushWord(w: FunctionWriter, { context, layout }: ContextPlace, name: HeaderWord): void {
  w.get(context);
  w.memory("i32.load", 4, layout.words[name]);
}

export function storeWord(w: FunctionWriter, { context, layout }: ContextPlace, name: HeaderWord, value: Wasm): void {
  w.get(context);
  w.value(value);
  w.memory("i32.store", 4, layout.words[name]);
}
