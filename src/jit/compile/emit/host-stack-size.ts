import type { Chunk } from "./chunk.ts";

/**
 * The bytes of the host's stack that an activation takes, where engines spill locals: an estimate somewhat above what
 * was measured.
 */
export function hostStackSize({ function: { registers }, locals, writer }: Chunk): number {
  const bytes = { i32: 4, f32: 4, i64: 8, f64: 8, v128: 16 } as const;
  const all = registers.flatMap((_, r) => locals(r).map((local): number => bytes[writer.typeOf(local)]));
  return 256 + 0.6 * all.reduce((sum, size) => sum + size, 0);
}
