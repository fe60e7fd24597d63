import type { AtomicFunction } from "../../ir/index.ts";

/**
 * The effect of an instruction that accesses memory or orders accesses. The rest is in the row's operands, whose names
 * have the same meaning everywhere: `addresses`, `address`, or `surface` with `offset` and `offsets`, for where; `dst`
 * or `src`, which make the access a load or a store; `src0` and `src1` for the operands of atomic operations.
 */
export type MemoryAction =
  /** A block of `owords` times 16 bytes, whatever the execution mask. `unit`: bytes of the unit of `offset`. */
  | { readonly kind: "block"; readonly unit: 1 | 16 }
  /**
   * `count` elements per lane (1 if absent), each of `size` bytes, or of as many as the operand `bytes` says. `scaled`:
   * offsets count elements. `unaligned`: an element may begin at any byte.
   */
  | {
      readonly kind: "elements";
      readonly size: 8 | null;
      readonly scaled: boolean;
      readonly unaligned: boolean;
    }
  /** Some of four dwords per lane, as `channels` says. */
  | { readonly kind: "channels" }
  /** The atomic operation that the operand `op` says, on elements of `width` bits. */
  | { readonly kind: "atomic" }
  /** An LSC access, with the operands `sfid`, `address` and `data`. */
  | { readonly kind: "lsc-access"; readonly access: "load" | "store" }
  /** An LSC atomic operation with the same operands; `bfloat`: on bfloat16 numbers. */
  | { readonly kind: "lsc-atomic"; readonly op: AtomicFunction; readonly bfloat: boolean }
  /** An access to a block of a matrix, with the operands `address` and `data`. */
  | { readonly kind: "matrix-block"; readonly access: "load" | "store" }
  /** The barrier `id`, or the group's. */
  | { readonly kind: "barrier"; readonly phase: "sync" | "signal" | "wait" }
  /** A fence for the threads of a group, or for all of the device. */
  | { readonly kind: "fence"; readonly scope: "group" | "device" }
  /** An instruction without an effect that a program can see. */
  | { readonly kind: "nothing" };
