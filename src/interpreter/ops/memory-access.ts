import { lowestLane } from "../../ir/lane-mask.ts";
import { type Access, windows } from "../../ir/index.ts";
import type { Lanes } from "../../ir/region.ts";
import { accessBytes, accessFault } from "../../machine/faults/access-fault.ts";
import type { Fault } from "../../machine/faults/fault.ts";
import { locate, type Place } from "../../machine/faults/locate.ts";
import type { AddressParts } from "../../machine/memory/address-space.ts";
import { readElement, readUnaligned, type Views, writeElement, writeUnaligned } from "../../machine/memory/views.ts";
import type { Activation } from "../../machine/state/launch-state.ts";
import type { LaneAddresses, Site } from "../../machine/state/code.ts";
import type { Run } from "../compile/expr-compiler.ts";
import { LastExtent } from "../compile/last-extent.ts";
import { type FastPath, fastPath, type FastTarget } from "../compile/memory-loop.ts";
import type { AddressOperand } from "../compile/operand.ts";
import type { Slot } from "../compile/register-file.ts";

export interface MemoryInstruction {
  readonly site: Site;
  readonly access: Access;
  readonly address: AddressOperand;
  /** Computes the operands' temporaries. */
  readonly prepare: Run;
  /** The lanes that the instruction is for; null: any. */
  readonly lanes: Lanes | null;
}

/** The address that a lane accesses. */
function addressOf({ slot, offset, high, inFrame }: AddressOperand, x: Activation, lane: number): AddressParts {
  if (inFrame) return { high: 0, low: windows.local.start + x.base + offset };
  if (slot === null) return { high, low: offset };
  if (slot.class === "b32") return { high: 0, low: (x.i32[slot.base + lane]! + offset) >>> 0 };
  const at = 2 * (slot.base + lane);
  const sum = (x.i32[at]! >>> 0) + offset;
  return { high: (x.i32[at + 1]! + Math.floor(sum / 2 ** 32)) >>> 0, low: sum >>> 0 };
}

/** Writes, for an observer, the addresses that lanes are about to access. */
export function addressWriter({ address, prepare }: MemoryInstruction) {
  const { slot, offset, inFrame } = address;
  const kind = slot === null || inFrame ? "fixed" : slot.class;
  return (x: Activation, mask: number, { words }: LaneAddresses): number => {
    prepare(x, mask);
    const { i32 } = x;
    for (let m = mask; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      if (kind === "b32") {
        words[2 * lane] = i32[slot!.base + lane]! + offset;
        words[2 * lane + 1] = 0;
      } else if (kind === "b64") {
        const at = 2 * (slot!.base + lane);
        const sum = (i32[at]! >>> 0) + offset;
        words[2 * lane] = sum;
        words[2 * lane + 1] = i32[at + 1]! + (sum > 0xffff_ffff ? 1 : sum < 0 ? -1 : 0);
      } else {
        const { high, low } = addressOf(address, x, lane);
        words[2 * lane] = low;
        words[2 * lane + 1] = high;
      }
    }
    return mask;
  };
}

/**
 * Accesses memory lane by lane. Throws a fault when an access is not allowed, in all lanes that fail in the same way.
 */
export class SlowPath {
  readonly #memory: MemoryInstruction;
  readonly #effect: "load" | "store" | "atomic";
  readonly #extent: LastExtent;

  constructor(memory: MemoryInstruction, effect: "load" | "store" | "atomic", extent: LastExtent) {
    this.#memory = memory;
    this.#effect = effect;
    this.#extent = extent;
  }

  run(x: Activation, mask: number, perform: Perform): void {
    let failed: Fault | null = null;
    let lanes = 0;
    let last: { readonly place: Place; readonly lane: number; readonly high: number } | null = null;
    const { site, access, address: operand } = this.#memory;
    const size = accessBytes(access);
    for (let m = mask; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      const address = addressOf(operand, x, lane);
      const { high, low } = address;
      // The lanes of a group have the same frames: the place of one lane is that of the next.
      if (last !== null && failed === null && high === last.high && (low & (access.align - 1)) === 0) {
        const { start, end, at, views, stride } = last.place;
        if (stride !== null && low >= start && low + size <= end) {
          perform(x, views, at + (low - start) + (lane - last.lane) * stride, lane);
          continue;
        }
      }
      const place = locate(x, lane, address);
      const fault = accessFault({ x, lane, site, effect: this.#effect, access, address, place });
      if (fault !== null) {
        failed ??= fault;
        if (fault.code === failed.code) lanes |= fault.lanes;
      } else if (failed === null) {
        this.#extent.remember(x, high, place!);
        last = { place: place!, lane, high };
        perform(x, place!.views, place!.at + (low - place!.start), lane);
      }
    }
    if (failed !== null) throw failed.inLanes(lanes);
  }
}

/** Accesses the elements of one lane, at a byte of `views`. */
type Perform = (x: Activation, views: Views, at: number, lane: number) => void;

export function makeLoad(memory: MemoryInstruction, targets: readonly (Slot | null)[], generate: boolean): Run {
  const { access, prepare } = memory;
  const bytes = access.bits / 8;
  const readOne = access.align < bytes ? readUnaligned : readElement;
  const narrowing = (slot: Slot): number => (slot.bits < 32 ? 2 ** slot.bits - 1 : -1);
  return makeAccess(memory, "load", targets, generate, prepare, (x, views, at, lane) => {
    targets.forEach((slot, e) => {
      if (slot === null) return;
      const value = readOne(views, at + e * bytes, access.bits, access.signed);
      if (slot.class === "b32") x.i32[slot.base + lane] = Number(value) & narrowing(slot);
      else if (typeof value === "bigint") x.i64[slot.base + lane] = value;
      else x.i64[slot.base + lane] = BigInt(access.signed ? value : value >>> 0);
    });
  });
}

export function makeStore(memory: MemoryInstruction, sources: readonly (Slot | null)[], generate: boolean): Run {
  const { access, prepare } = memory;
  const bytes = access.bits / 8;
  const writeOne = access.align < bytes ? writeUnaligned : writeElement;
  return makeAccess(memory, "store", sources, generate, prepare, (x, views, at, lane) => {
    sources.forEach((slot, e) => {
      if (slot === null) return;
      const wide = slot.class === "b64";
      const value =
        access.bits === 64 ? x.i64[slot.base + lane]! : x.i32[wide ? (slot.base + lane) * 2 : slot.base + lane]!;
      writeOne(views, at + e * bytes, access.bits, value);
    });
  });
}

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
  const extent = new LastExtent(address.slot === null ? 0 : address.offset, accessBytes(access));
  const slow = new SlowPath(memory, effect, extent);
  let fast: FastPath | null = null;
  return (x, mask) => {
    prepare(x, mask);
    if (watched) x.warp.watched = true;
    let rest = mask;
    if (generate && extent.refresh(x)) {
      fast ??= fastPath(effect, access, address, elements, memory.lanes);
      rest = fast(x, mask, extent);
    }
    if (rest !== 0) slow.run(x, rest, perform);
  };
}
