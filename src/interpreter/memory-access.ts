import type { Access } from "../ir/index.ts";
import { accessBytes, accessFault } from "../machine/access-fault.ts";
import type { Activation } from "../machine/activation.ts";
import { type AddressParts, parts, windows } from "../machine/address-space.ts";
import type { Site } from "../machine/code.ts";
import type { Fault } from "../machine/fault.ts";
import { locate, type Place } from "../machine/locate.ts";
import { readElement, writeElement } from "../machine/views.ts";
import type { Run } from "./expr-compiler.ts";
import { type FastPath, type FastTarget, fastPath } from "./memory-loop.ts";
import type { AddressOperand } from "./operand.ts";
import { Reach } from "./reach.ts";
import type { Slot } from "./register-file.ts";

export interface MemoryInstruction {
  readonly site: Site;
  readonly access: Access;
  readonly address: AddressOperand;
  /** Computes the operands' temporaries. */
  readonly prepare: Run;
}

/** The address that a lane accesses. */
export function addressOf({ slot, offset, high, inFrame }: AddressOperand, x: Activation, lane: number): AddressParts {
  if (inFrame) return { high: 0, low: windows.local.start + x.base + offset };
  if (slot === null) return { high, low: offset };
  if (slot.class === "b32") return { high: 0, low: (x.i32[slot.base + lane]! + offset) >>> 0 };
  return parts(x.i64[slot.base + lane]! + BigInt(offset));
}

/** For an observer: the addresses as numbers of 64 bits. */
export const addressWriter =
  ({ address, prepare }: MemoryInstruction) =>
  (x: Activation, mask: number, into: BigInt64Array): void => {
    prepare(x, mask);
    for (let m = mask; m !== 0; m &= m - 1) {
      const lane = 31 - Math.clz32(m & -m);
      const { high, low } = addressOf(address, x, lane);
      into[lane] = (BigInt(high) << 32n) | BigInt(low);
    }
  };

/** Goes through lanes one by one, and ends the launch when an access is not allowed: with all lanes that fail alike. */
export class SlowPath {
  readonly #memory: MemoryInstruction;
  readonly #effect: "load" | "store" | "atomic";
  readonly #reach: Reach;

  constructor(memory: MemoryInstruction, effect: "load" | "store" | "atomic", reach: Reach) {
    this.#memory = memory;
    this.#effect = effect;
    this.#reach = reach;
  }

  run(x: Activation, mask: number, perform: (place: Place, at: number, lane: number) => void): void {
    let failed: Fault | null = null;
    let lanes = 0;
    const { site, access, address: operand } = this.#memory;
    for (let m = mask; m !== 0; m &= m - 1) {
      const lane = 31 - Math.clz32(m & -m);
      const address = addressOf(operand, x, lane);
      const place = locate(x, lane, address);
      const fault = accessFault({ x, lane, site, effect: this.#effect, access, address, place });
      if (fault !== null) {
        failed ??= fault;
        if (fault.code === failed.code) lanes |= fault.lanes;
      } else if (failed === null) {
        this.#reach.remember(x, address.high, place!);
        perform(place!, place!.at + (address.low - place!.start), lane);
      }
    }
    if (failed !== null) throw failed.inLanes(lanes);
  }
}

export function makeLoad(memory: MemoryInstruction, targets: readonly (Slot | null)[], generate: boolean): Run {
  const { access, prepare } = memory;
  const bytes = access.bits / 8;
  const narrowing = (slot: Slot): number => (slot.bits < 32 ? 2 ** slot.bits - 1 : -1);
  return makeAccess(memory, "load", targets, generate, prepare, (x, place, at, lane) => {
    targets.forEach((slot, e) => {
      if (slot === null) return;
      const value = readElement(place.views, at + e * bytes, access.bits, access.signed);
      if (slot.class === "b32") x.i32[slot.base + lane] = Number(value) & narrowing(slot);
      else if (typeof value === "bigint") x.i64[slot.base + lane] = value;
      else x.i64[slot.base + lane] = BigInt(access.signed ? value : value >>> 0);
    });
  });
}

export function makeStore(memory: MemoryInstruction, sources: readonly (Slot | null)[], generate: boolean): Run {
  const { access, prepare } = memory;
  const bytes = access.bits / 8;
  return makeAccess(memory, "store", sources, generate, prepare, (x, place, at, lane) => {
    sources.forEach((slot, e) => {
      if (slot === null) return;
      const wide = slot.class === "b64";
      const value =
        access.bits === 64 ? x.i64[slot.base + lane]! : x.i32[wide ? (slot.base + lane) * 2 : slot.base + lane]!;
      writeElement(place.views, at + e * bytes, access.bits, value);
    });
  });
}

type Perform = (x: Activation, place: Place, at: number, lane: number) => void;

function makeAccess(
  memory: MemoryInstruction,
  effect: "load" | "store",
  elements: readonly FastTarget[],
  generate: boolean,
  prepare: Run,
  perform: Perform,
): Run {
  const { access, address } = memory;
  const watched = effect === "load" && (access.volatile || access.order !== "weak");
  const reach = new Reach(address.slot === null ? 0 : address.offset, accessBytes(access));
  const slow = new SlowPath(memory, effect, reach);
  let fast: FastPath | null = null;
  return (x, mask) => {
    prepare(x, mask);
    if (watched) x.warp.watched = true;
    let rest = mask;
    if (generate && reach.refresh(x)) {
      fast ??= fastPath(effect, access, address, elements);
      rest = fast(x, mask, reach);
    }
    if (rest !== 0) slow.run(x, rest, (place, at, lane) => perform(x, place, at, lane));
  };
}
