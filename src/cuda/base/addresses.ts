import { wire } from "./wire.ts";

const base = wire.arenaBase;
const end = base + BigInt(wire.arenaBytes);

/** The byte of device memory at an address; null for an address of the host's own. */
export const offsetOf = (address: bigint): number | null =>
  address >= base && address < end ? Number(address - base) : null;

export const addressOf = (offset: number): bigint => base + BigInt(offset);
