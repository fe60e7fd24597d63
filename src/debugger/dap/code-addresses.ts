import type { IrFunction } from "../../ir/index.ts";
import type { Location } from "../location.ts";

/**
 * Instructions have no addresses on the machine. Editors are given invented ones: each function gets a range of its
 * own.
 */
const base = 0x5_0000_0000;
const stretch = 0x10_0000;

/** Returns the address of an instruction, as editors see it. */
export const codeAddress = (functions: readonly IrFunction[], { ir, index }: Location): string =>
  `0x${(base + functions.indexOf(ir) * stretch + index).toString(16)}`;

/** Returns the instruction at an address plus a number of instructions, or null. */
export function locationAt(functions: readonly IrFunction[], reference: string, offset: number): Location | null {
  const at = Number(reference) - base;
  if (!Number.isInteger(at) || at < 0) return null;
  const ir = functions[Math.floor(at / stretch)];
  const index = (at % stretch) + offset;
  return ir?.instructions[index] === undefined ? null : { ir, index };
}
