import { type Access, accessesOf } from "../../ir/index.ts";
import { lowestLane } from "../../ir/lane-mask.ts";
import type { AccessEvent, RangeEvent } from "../../machine/events.ts";
import { accessBytes } from "../../machine/faults/access-fault.ts";
import { locate } from "../../machine/faults/locate.ts";
import type { AddressParts } from "../../machine/memory/address-space.ts";
import type { Activation } from "../../machine/state/launch-state.ts";
import { arrayLoadsOf } from "./array-loads.ts";
import { asPadding, isComputed, maybePadding } from "./origins.ts";
import { planOf } from "./reads.ts";
import { cut, extend, isDefined, isLowUndefined, isWhollyUndefined, type Shade } from "./shade.ts";
import type { InitState, LaneShades } from "./state.ts";

const shade: Shade = { low: 0, high: 0, origin: 0 };
const nothing: Shade = { low: 0, high: 0, origin: 0 };

const addressOf = ({ addressWords: words }: AccessEvent, lane: number): AddressParts => ({
  high: words[2 * lane + 1]! >>> 0,
  low: words[2 * lane]! >>> 0,
});

/** Marks results of a load as undefined where the memory is. All results have been marked as defined before. */
export function load(state: InitState, e: AccessEvent): void {
  const { access, activation, site, mask } = e;
  if (!state.memory.covers(access.space)) return;
  const bytes = access.bits / 8;
  const shadow = state.shadowOf(activation);
  for (let m = mask; m !== 0; m &= m - 1) {
    const lane = lowestLane(m);
    const address = addressOf(e, lane);
    if (!state.memory.find(activation, lane, access.space, address, accessBytes(access))) continue;
    const { memory } = state;
    const { at } = memory;
    if (!memory.bytes.mayHave(at, at + accessBytes(access))) continue;
    site.instruction.dst.forEach((to, i) => {
      if (to === null || !memory.bytes.has(at + i * bytes, bytes)) return;
      readMemory(state, e, lane, { high: address.high, low: address.low + i * bytes }, at + i * bytes);
      extend(shade, access.bits, access.signed);
      state.reader.at(shadow, activation, lane, e.mask);
      state.write(shadow, to, lane, shade);
    });
  }
}

/** Reads the shade of an element. If it has no origin yet, this is its first read. */
function readMemory(state: InitState, e: AccessEvent, lane: number, address: AddressParts, at: number): void {
  const { memory, origins } = state;
  const { activation, site, access } = e;
  memory.bytes.read(at, access.bits / 8, shade);
  if (isDefined(shade) || shade.origin !== 0) return;
  memory.at = at;
  const doubtful =
    !isWhollyUndefined(shade, access.bits) ||
    (!arrayLoadsOf(site.code.ir).has(site.instruction) && memory.maybePadding(activation, lane, address));
  shade.origin = origins.number(site, activation, () => variableName(e, lane, address), doubtful);
}

function variableName({ activation, access }: AccessEvent, lane: number, address: AddressParts): string {
  const place = locate(activation, lane, address);
  if (place?.kind === "shared") return "shared memory";
  if (place?.kind === "global") return allocated(activation, address);
  return access.space === "call-param" ? "a parameter" : "a local variable";
}

function allocated({ warp }: Activation, { low }: AddressParts): string {
  const { memory, addresses } = warp.cta.grid;
  const found = memory.find(low - addresses.globalLow);
  if (found?.unwritten !== undefined) return found.name;
  return found?.origin === undefined ? "private memory" : "memory from malloc";
}

/** `values`: what is stored, by element; `active`: the lanes that reached the instruction. */
export function store(state: InitState, e: AccessEvent, values: readonly LaneShades[], active: number): void {
  if (e.site.instruction.op.kind === "copy") {
    defineCopied(state, e);
    return;
  }
  const { access, activation, mask, site } = e;
  const { memory } = state;
  const bytes = access.bits / 8;
  const size = accessBytes(access);
  const undefinedLanes = values.reduce((lanes, v) => lanes | v.lanes, 0);
  if (undefinedLanes === 0 && !memory.covers(access.space)) return;
  const stored = planOf(site).values;
  for (let m = mask; m !== 0; m &= m - 1) {
    const lane = lowestLane(m);
    const bit = 1 << lane;
    const address = addressOf(e, lane);
    const isUndefined = (undefinedLanes & bit) !== 0;
    if (
      memory.find(activation, lane, access.space, address, size) ||
      (isUndefined && memory.findPrivate(activation, address, size))
    ) {
      const isPart = isUndefined && mayKeepPadding(e, lane, address);
      stored.forEach((value, i) => {
        if (value === null) return;
        const v = values[i];
        const stays = v !== undefined && (v.lanes & bit) !== 0 ? v.of(lane) : nothing;
        const kept = isPart ? { ...stays, origin: asPadding(stays.origin) } : stays;
        writeMemory(state, access, memory.at + i * bytes, kept);
      });
    } else if (isUndefined && (active & bit) !== 0) {
      const origin = originOfStored(access, stored, values, lane);
      if (origin !== 0) state.matters({ ...e, mask: bit }, origin, "what a store leaves for others to see");
    }
  }
}

/** What a unit of the machine writes counts as defined, as what a copy writes. */
export function defineRange({ memory }: InitState, { effect, access, activation, lane, address }: RangeEvent): void {
  const size = accessBytes(access);
  if (effect === "load" || !memory.find(activation, lane, access.space, address, size)) return;
  memory.bytes.define(memory.at, memory.at + size);
}

/** What a copy writes counts as defined: what is undefined there is found where it was stored. */
function defineCopied({ memory }: InitState, { access, activation, mask, ...e }: AccessEvent): void {
  const size = accessBytes(access);
  for (let m = mask; m !== 0; m &= m - 1) {
    const lane = lowestLane(m);
    const address = addressOf({ access, activation, mask, ...e }, lane);
    if (!memory.find(activation, lane, access.space, address, size)) continue;
    for (let i = 0; i < access.count; i++)
      memory.bytes.defineElement(memory.at + (i * access.bits) / 8, access.bits / 8);
  }
}

/**
 * Whether stored bytes may be padding of a structure that is passed to a function or returned: compilers split it up,
 * with padding as single bytes, and may keep these in registers that are never written.
 */
function mayKeepPadding({ access, activation }: AccessEvent, lane: number, address: AddressParts): boolean {
  if (access.space !== "call-param" || access.bits !== 8) return false;
  const place = locate(activation, lane, address);
  return place !== null && place.end - place.start > accessBytes(access);
}

/**
 * The origin of a stored value that counts as never written, or 0. A copy counts if all of it is undefined, since a
 * part may be padding; a number if its lower half is, since the upper one may be the unused half of a pair; a vector if
 * every element is, since some may be unused.
 */
function originOfStored(
  { bits }: Access,
  stored: readonly unknown[],
  values: readonly LaneShades[],
  lane: number,
): number {
  let origin = 0;
  for (let i = 0; i < stored.length; i++) {
    if (stored[i] === null) continue;
    const v = values[i];
    if (v === undefined || ((v.lanes >>> lane) & 1) === 0) return 0;
    const found = v.of(lane);
    const matters = isComputed(found.origin) ? isLowUndefined(found, bits) : isWhollyUndefined(found, bits);
    if (!matters || maybePadding(found.origin)) return 0;
    origin ||= found.origin;
  }
  return origin;
}

function writeMemory({ memory }: InitState, access: Access, at: number, value: Shade): void {
  const bytes = access.bits / 8;
  if (isDefined(value)) {
    memory.bytes.defineElement(at, bytes);
    return;
  }
  const kept = { ...value };
  cut(kept, access.bits);
  memory.bytes.write(at, bytes, kept);
}

/**
 * Works lane by lane, since lanes may access the same element. `operands`: the lanes in which an operand is undefined.
 */
export function atomic(state: InitState, e: AccessEvent, operands: number, active: number): void {
  const { access, activation, mask, site } = e;
  const { op, dst } = site.instruction;
  const { memory, reader } = state;
  const made = accessesOf(op)[e.ordinal];
  if (made?.effect !== "atomic" || (operands === 0 && !memory.covers(access.space))) return;
  const bytes = access.bits / 8;
  const shadow = state.shadowOf(activation);
  for (let m = mask; m !== 0; m &= m - 1) {
    const lane = lowestLane(m);
    const bit = 1 << lane;
    const address = addressOf(e, lane);
    const found = memory.find(activation, lane, access.space, address, accessBytes(access));
    const { at } = memory;
    if ((operands & bit) === 0 && !(found && memory.bytes.mayHave(at, at + accessBytes(access)))) continue;
    const old = made.combine.map((_, i): Shade => {
      if (!found) return nothing;
      readMemory(state, e, lane, { high: address.high, low: address.low + i * bytes }, at + i * bytes);
      return isDefined(shade) ? nothing : { ...shade };
    });
    const fresh = made.combine.map((expr): Shade => {
      reader.at(shadow, activation, lane, active, old);
      if (!reader.read(expr)) return nothing;
      return { low: reader.low, high: reader.high, origin: state.originOf(site, activation) };
    });
    fresh.forEach((value, i) => {
      if (found) writeMemory(state, access, at + i * bytes, value);
      else if (!isDefined(value) && (active & bit) !== 0) {
        state.matters({ ...e, mask: bit }, value.origin, "what an atomic operation leaves for others to see");
      }
    });
    old.forEach((value, i) => {
      const to = dst[i] ?? null;
      if (to !== null) state.write(shadow, to, lane, value);
    });
  }
}
