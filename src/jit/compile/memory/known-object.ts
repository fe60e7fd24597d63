import type { Wasm } from "../../../wasm/index.ts";

/** The extent of a variable or allocation: accesses within it need no lookup. */
export interface KnownObject {
  /** Its first address (i64), and its size in bytes (i64). */
  readonly from: Wasm;
  readonly bytes: Wasm;
  /** Added to the low half of an address to get the byte of memory (i32). */
  readonly delta: Wasm;
  /** In the lanes' stacks: the bytes from one lane's copy to the next. */
  readonly lane?: number;
  /** A power of two of which `from` is known to be a multiple. */
  readonly align?: number;
  /** Makes a value that depends on the object alone invariant: computed once, where the function begins. */
  readonly once?: (value: Wasm) => Wasm;
}
