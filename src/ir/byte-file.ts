import type { Span } from "../source/index.ts";

/**
 * The register file of a vISA function's activation: bytes that all lanes share. The bytes before `argAt` belong to the
 * hardware thread: a call copies them to the callee, and the return back. Then come %arg and %retval, then the variables.
 */
export interface ByteFile {
  readonly bytes: number;
  /** Bytes of a register on the platform: the unit of `argSize` and `retvalSize`. */
  readonly grfBytes: 32 | 64;
  /** What the function declares, in registers; null where it does not say. */
  readonly argSize: number | null;
  readonly retvalSize: number | null;
  /** Sorted by their place. Between two there may be a gap. Aliases are part of what they alias. */
  readonly variables: readonly FileVariable[];
  /** Other names and types of parts of them. */
  readonly aliases?: readonly FileVariable[];
}

export interface FileVariable {
  readonly name: string;
  readonly at: number;
  readonly bytes: number;
  /** The declared type of its elements in the words of the instruction set, for people. */
  readonly type?: string;
  readonly span: Span;
}

/** Where the predefined variables lie in every file; offsets and sizes in bytes. */
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

/** Where %arg begins; all before it belongs to the hardware thread rather than to the activation. */
export const argAt = 320;

/** Registers of %arg and of %retval. */
export const argRegisters = 32;
export const retvalRegisters = 12;

export const retvalAt = (grfBytes: number): number => argAt + argRegisters * grfBytes;
/** Where the variables of a routine begin. */
export const variablesAt = (grfBytes: number): number => retvalAt(grfBytes) + retvalRegisters * grfBytes;

/** Indices of surfaces that no binding table has. */
export const surfaceIndex = { slm: 0x1_0000, scratch: 0x1_0001, stateless: 0xff } as const;
