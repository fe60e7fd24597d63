import { wire } from "./wire.ts";

const base = wire.arenaBase;
const end = base + BigInt(wire.arenaBytes);

/** The byte of device memory at an address; null for an address of the host's own. */
export const offsetOf = (address: bigint): number | null =>
  address >= base && address < end ? Number(address - base) : null;

export const addressOf = (offset: number): bigint => base + BigInt(offset);

/**
 * How the modules of programs are loaded. The driver takes a module that does not say how long its addresses are, such
 * as one from before PTX 2.3, for one of the host's size. So does ptxas 13, which refuses a module that says 32 bits.
 */
export const moduleOptions = { addressSize: 64 } as const;
