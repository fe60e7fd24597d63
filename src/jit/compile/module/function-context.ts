import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import type { ContextLayout, HeaderWord } from "../../abi/context-layout.ts";
import type { ModuleUnit } from "./module-unit.ts";

/** What accesses to memory need to know of the function and of the module around it. */
export interface FunctionContext {
  /** The local that holds the beginning of the context. */
  readonly context: number;
  /** The one that holds the activation's entry in the shadow stack. */
  readonly entry: number;
  /** Whether anything lies in the lanes' stacks, where one generic address is another byte of memory for each lane. */
  readonly hasStacks: boolean;
  /** Whether other threads of the host run blocks of the same launch in the same memory. */
  readonly isShared: boolean;
  readonly layout: ContextLayout;
  readonly unit: ModuleUnit;
  /** The number under which the launcher knows an element of an instruction's, and the record that it keeps for it. */
  readonly siteOf: (instruction: number, record: number | null, element?: number) => number;
}

/** Tells the launcher, before it is asked, which activation asks. */
export function tellEntry(w: FunctionWriter, at: FunctionContext): void {
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
