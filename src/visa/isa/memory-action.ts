/** The read-modify-write operations, whatever their instruction calls them. `cas`: the operand to compare with comes first. */
export type AtomicFunction =
  | "load"
  | "exchange"
  | "add"
  | "sub"
  | "inc"
  | "dec"
  /** Returns what it has written. */
  | "predec"
  | "umin"
  | "umax"
  | "smin"
  | "smax"
  | "and"
  | "or"
  | "xor"
  | "cas"
  /** `cas` with the new value first. */
  | "swapped-cas"
  | FloatFunction;

export type FloatFunction = "fadd" | "fsub" | "fmin" | "fmax" | "fcas";

/**
 * What an instruction does that accesses memory or orders accesses. The rest is in the row's operands, whose names mean the
 * same everywhere: `addresses` or `address`, or `surface` with `offset` and `offsets`; `dst` or `src`, which say whether
 * the access is a load or a store; `src0` and `src1` of atomic operations.
 */
export type MemoryAction =
  /** `owords` times 16 bytes, whatever the execution mask; `unit`: bytes of the unit of `offset`. */
  | { readonly kind: "block"; readonly unit: 1 | 16 }
  /**
   * `count` (absent: 1) elements a lane, of `size` bytes, or of as many as the operand `bytes` says. `scaled`: these are the
   * units of offsets. `unaligned`: at any byte.
   */
  | {
      readonly kind: "elements";
      readonly size: 8 | null;
      readonly scaled: boolean;
      readonly unaligned: boolean;
    }
  /** Some of four dwords a lane, as `channels` says. */
  | { readonly kind: "channels" }
  /** As the operand `op` says, on elements of `width` bits. */
  | { readonly kind: "atomic" }
  /** LSC, with the operands `sfid`, `address` and `data`. */
  | { readonly kind: "lsc-access"; readonly access: "load" | "store" }
  | { readonly kind: "lsc-atomic"; readonly op: AtomicFunction; readonly bfloat: boolean }
  /** The barrier is `id`, or the group's. */
  | { readonly kind: "barrier"; readonly phase: "sync" | "signal" | "wait" }
  | { readonly kind: "fence"; readonly scope: "group" | "device" }
  /** Changes nothing that a program can see. */
  | { readonly kind: "nothing" };
