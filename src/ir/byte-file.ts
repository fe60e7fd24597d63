import type { Span } from "../source/index.ts";

/**
 * The register file of a vISA function's activation: bytes that all lanes share. The bytes before `argAt` belong to the
 * hardware thread: a call copies them to the callee, and the return copies them back. %arg and %retval follow, then the
 * variables.
 */
export interface ByteFile {
  readonly bytes: number;
  /** Bytes of a register on the platform: the unit of `argSize` and `retvalSize`. */
  readonly grfBytes: 32 | 64;
  /** The declared sizes, in registers; null if the function declares none. */
  readonly argSize: number | null;
  readonly retvalSize: number | null;
  /** In ascending order of place, with gaps. Aliases are not among them. */
  readonly variables: readonly FileVariable[];
  /** Other names and types for parts of the variables. */
  readonly aliases?: readonly FileVariable[];
}

/** A variable of a byte file, or an alias for a part of one. */
export interface FileVariable {
  readonly name: string;
  /** The byte of the file at which it begins. */
  readonly at: number;
  readonly bytes: number;
  /** The declared type of its elements, as the instruction set writes it. */
  readonly type?: string;
  readonly span: Span;
}

/** Offsets and sizes of the predefined variables, in bytes: the same in every file. */
export const fileLayout = {
  null: { at: 0, bytes: 64 },
  sp: { at: 64, bytes: 8 },
  fp: { at: 72, bytes: 8 },
  hw_id: { at: 80, bytes: 4 },
  thread_x: { at: 84, bytes: 4 },
  thread_y: { at: 88, bytes: 4 },
  group_id_x: { at: 92, bytes: 4 },
  group_id_y: { at: 96, bytes: 4 },
  group_id_z: { at: 100, bytes: 4 },
  color: { at: 104, bytes: 4 },
  ce0: { at: 108, bytes: 4 },
  sr0: { at: 112, bytes: 16 },
  cr0: { at: 128, bytes: 16 },
  dbg0: { at: 144, bytes: 8 },
  impl_arg_buf_ptr: { at: 152, bytes: 8 },
  local_id_buf_ptr: { at: 160, bytes: 8 },
  scratchloc: { at: 168, bytes: 8 },
  msg0: { at: 176, bytes: 16 },
  tsc: { at: 192, bytes: 32 },
  /** Surface variables T0 to T5 (the slots hold indices into the launch's surfaces). */
  surfaces: { at: 224, bytes: 32 },
  r0: { at: 256, bytes: 64 },
} as const;

/** The byte at which %arg begins. All before it belongs to the hardware thread rather than to the activation. */
export const argAt = 320;

/** The size of %arg, in registers. */
export const argRegisters = 32;
/** The size of %retval, in registers. */
export const retvalRegisters = 12;

/** The byte at which %retval begins. */
export const retvalAt = (grfBytes: number): number => argAt + argRegisters * grfBytes;
/** The byte at which the variables of a routine begin. */
export const variablesAt = (grfBytes: number): number => retvalAt(grfBytes) + retvalRegisters * grfBytes;

/** Indices of surfaces that are in no binding table. */
export const surfaceIndex = { slm: 0x1_0000, scratch: 0x1_0001, stateless: 0xff } as const;

/** The bits of an offset into shared local memory (vISA) that the hardware decodes; some kernels set others. */
export const slmBits = 0x00ff_ffff;
