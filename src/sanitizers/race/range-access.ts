import type { AccessEvent, RangeEvent } from "../../machine/events.ts";

const addresses = new BigInt64Array(32);
const addressWords = new Int32Array(addresses.buffer);

/** By effect and strength, which of an instruction's accesses that of a unit counts as. */
const ordinals = { load: 0, store: 1, atomic: 2 } as const;

/**
 * The access of a unit of the machine as that of an instruction, in words where bytes are not needed. Valid until the
 * next one.
 */
export function accessOfRange({ lane, address, access, ...e }: RangeEvent): AccessEvent {
  addressWords[2 * lane] = address.low;
  addressWords[2 * lane + 1] = address.high;
  const words = access.bits === 8 && access.count % 4 === 0 && address.low % 4 === 0;
  return {
    ...e,
    ordinal: ordinals[e.effect] + (access.order === "release" ? 1 : 0),
    access: words ? { ...access, bits: 32, count: access.count / 4 } : access,
    ...{ addresses, addressWords },
  };
}
