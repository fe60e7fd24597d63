import { readsOf } from "../../../../ir/flow/accesses.ts";
import type { IrFunction } from "../../../../ir/index.ts";

/**
 * The function without the old elements of atomic operations that nothing reads: compilers write `atom` where `red` is
 * meant. What is done then depends less on the order in which lanes have their turns, and nothing is kept for them.
 */
export function withoutUnusedOlds(ir: IrFunction): IrFunction {
  // Registers of vISA stand for parts of a file, which others read.
  if (ir.file !== undefined || !ir.instructions.some(({ op }) => op.kind === "atomic")) return ir;
  const read = new Uint8Array(ir.registers.length);
  const visitor = {
    register: (r: number): void => {
      read[r] = 1;
    },
  };
  for (const instruction of ir.instructions) readsOf(instruction, visitor);
  for (const { storage } of ir.returns) if (storage.kind === "register") storage.registers.forEach(visitor.register);
  const isUnused = (to: unknown): boolean => typeof to === "number" && read[to] === 0;
  const instructions = ir.instructions.map((instruction) =>
    instruction.op.kind === "atomic" && instruction.dst.some(isUnused)
      ? { ...instruction, dst: instruction.dst.map((to) => (isUnused(to) ? null : to)) }
      : instruction,
  );
  return { ...ir, instructions };
}
