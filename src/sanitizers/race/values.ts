import { accessBytes } from "../../machine/faults/access-fault.ts";
import { locate } from "../../machine/faults/locate.ts";
import { type AddressParts, parts } from "../../machine/memory/address-space.ts";
import { fold } from "../../semantics/index.ts";
import { patternOf } from "../../semantics/pattern.ts";
import type { Accesses, Earlier, Later } from "./detector.ts";

/** Bytes as one little-endian number. */
const numberOf = (bytes: Uint8Array): bigint => bytes.reduceRight((n, byte) => (n << 8n) | BigInt(byte), 0n);

export const addressOf = ({ event, lane }: Pick<Later, "event" | "lane">): AddressParts =>
  parts(BigInt.asUintN(64, event.addresses[lane]!));

/** `bytes` bytes of memory, from byte `from` of what a lane accesses; the instruction has not changed them yet. */
function inMemory({ activation: x, addresses }: Accesses, lane: number, from: number, bytes: number): bigint {
  const address = parts(BigInt.asUintN(64, addresses[lane]! + BigInt(from)));
  const place = locate(x, lane, address);
  if (place === null) return 0n;
  const at = place.at + address.low - place.start;
  return numberOf(place.views.u8.subarray(at, at + bytes));
}

/** The same of what a lane is about to store. */
function stored({ activation: x, site, access }: Accesses, lane: number, from: number, bytes: number): bigint {
  const { op } = site.instruction;
  if (op.kind !== "store") return 0n;
  const size = access.bits / 8;
  const expr = op.values[Math.floor(from / size)] ?? null;
  if (expr === null) return 0n;
  const pattern = BigInt(patternOf(expr.ty, fold(expr, x.code.leafValue(x, lane))));
  return (pattern >> BigInt(8 * (from % size))) & ((1n << BigInt(8 * bytes)) - 1n);
}

/** What the later access reads or stores, of the bytes that both have in common. */
export function laterValue({ event, kind, lane, byte, bytes }: Later): bigint {
  return (kind.effect === "store" ? stored : inMemory)(event, lane, byte, bytes);
}

/** What the earlier access has read or left there: nobody has written since, unless it is of the same instruction. */
export function earlierValue(earlier: Earlier, later: Later): bigint {
  const { event, byte, bytes } = later;
  const lane = laneOfSame(earlier, later);
  if (lane === null) return inMemory(event, later.lane, byte, bytes);
  const shift = Number(event.addresses[later.lane]! - event.addresses[lane]!);
  return stored(event, lane, byte + shift, bytes);
}

/** The lane of the earlier access if the instruction stores there in both lanes at once. */
function laneOfSame({ kind, thread }: Earlier, later: Later): number | null {
  const { event } = later;
  const lane = thread & 31;
  if (kind.effect !== "store" || kind !== later.kind || thread >>> 5 !== later.thread >>> 5) return null;
  if (((event.mask >>> lane) & 1) === 0 || lane >= later.lane) return null;
  const shift = Number(event.addresses[later.lane]! - event.addresses[lane]!) + later.byte;
  return shift >= 0 && shift < accessBytes(event.access) ? lane : null;
}

/**
 * Two stores of the same value. By the model they race, but which of them is the last cannot be told, and programs set a flag in
 * this way that are right otherwise.
 */
export const areSameStores = (earlier: Earlier, later: Later): boolean =>
  earlier.kind.effect === "store" &&
  later.kind.effect === "store" &&
  earlierValue(earlier, later) === laterValue(later);
