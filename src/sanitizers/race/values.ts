import { accessesOf, laneAddressOf, type OpOf } from "../../ir/index.ts";
import { accessBytes } from "../../machine/faults/access-fault.ts";
import { locate } from "../../machine/faults/locate.ts";
import { type AddressParts, parts } from "../../machine/memory/address-space.ts";
import type { Activation } from "../../machine/state/launch-state.ts";
import { type Expr, fold } from "../../semantics/index.ts";
import { patternOf } from "../../semantics/pattern.ts";
import type { Accesses, Earlier, Later } from "./detector.ts";

/** Bytes as one little-endian number. */
const numberOf = (bytes: Uint8Array): bigint => bytes.reduceRight((n, byte) => (n << 8n) | BigInt(byte), 0n);

export const addressOf = ({ event, lane }: Pick<Later, "event" | "lane">): AddressParts =>
  parts(BigInt.asUintN(64, event.addresses[lane]!));

/** Reads `bytes` bytes of memory, from byte `from` of what a lane accesses, before the instruction changes them. */
const inMemory = ({ activation: x, addresses }: Accesses, lane: number, from: number, bytes: number): bigint =>
  at(x, lane, parts(BigInt.asUintN(64, addresses[lane]! + BigInt(from))), bytes);

function at(x: Activation, lane: number, address: AddressParts, bytes: number): bigint {
  const place = locate(x, lane, address);
  if (place === null) return 0n;
  const start = place.at + address.low - place.start;
  return numberOf(place.views.u8.subarray(start, start + bytes));
}

/** The same bytes of what a lane is about to store. */
function stored({ activation: x, site, ordinal, access }: Accesses, lane: number, from: number, bytes: number): bigint {
  const { op } = site.instruction;
  if (op.kind === "copy") return copied(op, x, lane, from, bytes);
  const made = accessesOf(op)[ordinal];
  if (made?.effect !== "store") return 0n;
  const size = access.bits / 8;
  const expr = made.values[Math.floor(from / size)] ?? null;
  if (expr === null) return 0n;
  const pattern = BigInt(patternOf(expr.ty, fold(expr, x.code.leafValue(x, lane))));
  return (pattern >> BigInt(8 * (from % size))) & ((1n << BigInt(8 * bytes)) - 1n);
}

/** The same bytes of what a lane is about to copy. */
function copied(
  { from: source, size }: OpOf<"copy">,
  x: Activation,
  lane: number,
  from: number,
  bytes: number,
): bigint {
  const value = (expr: Expr): bigint => BigInt(patternOf(expr.ty, fold(expr, x.code.leafValue(x, lane))));
  const start = BigInt.asUintN(64, value(laneAddressOf(source.place)));
  const count = size === null ? from + bytes : Number(BigInt.asUintN(32, value(size)));
  const read = Math.min(Math.max(count - from, 0), bytes);
  return read === 0 ? 0n : at(x, lane, parts(start + BigInt(from)), read);
}

/** The value that the later access reads or stores, in the bytes that both have in common. */
export function laterValue({ event, kind, lane, byte, bytes }: Later): bigint {
  const isKnown = kind.effect === "store" && kind.site.instruction.op.kind !== "unit";
  return (isKnown ? stored : inMemory)(event, lane, byte, bytes);
}

/** The value that the earlier access read or left. Memory still holds it, unless both are of the same instruction. */
export function earlierValue(earlier: Earlier, later: Later): bigint {
  const { event, byte, bytes } = later;
  const lane = laneOfSame(earlier, later);
  if (lane === null) return inMemory(event, later.lane, byte, bytes);
  const shift = Number(event.addresses[later.lane]! - event.addresses[lane]!);
  return stored(event, lane, byte + shift, bytes);
}

/** The lane of the earlier access, if the same execution of an instruction stores in both lanes; or else null. */
function laneOfSame({ kind, thread }: Earlier, later: Later): number | null {
  const { event } = later;
  const lane = thread & 31;
  if (kind.effect !== "store" || kind !== later.kind || thread >>> 5 !== later.thread >>> 5) return null;
  if (((event.mask >>> lane) & 1) === 0 || lane >= later.lane) return null;
  const shift = Number(event.addresses[later.lane]! - event.addresses[lane]!) + later.byte;
  return shift >= 0 && shift < accessBytes(event.access) ? lane : null;
}

/**
 * Whether both accesses store the same value. The model calls that a race, but the order of the stores makes no
 * difference, and otherwise correct programs set flags in this way.
 */
export const areSameStores = (earlier: Earlier, later: Later): boolean =>
  earlier.kind.effect === "store" &&
  later.kind.effect === "store" &&
  // What a unit of the machine is about to store is not known before.
  later.kind.site.instruction.op.kind !== "unit" &&
  earlierValue(earlier, later) === laterValue(later);
