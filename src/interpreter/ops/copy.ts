import { lanesIn, lowestLane } from "../../ir/lane-mask.ts";
import type { OpOf } from "../../ir/index.ts";
import { accessBytes } from "../../machine/faults/access-fault.ts";
import { FailedLanes } from "../../machine/faults/failed-lanes.ts";
import type { AddressParts } from "../../machine/memory/address-space.ts";
import type { Site } from "../../machine/state/code.ts";
import type { Activation, StepAccess } from "../../machine/state/launch-state.ts";
import { PendingEffects } from "../../machine/state/pending-effects.ts";
import { findRange } from "../../program/units/unit-call.ts";
import type { Decoding } from "../compile/decoding.ts";
import type { Run } from "../compile/expr-compiler.ts";
import { LastExtent } from "../compile/last-extent.ts";
import type { Slot } from "../compile/register-file.ts";
import { addressWriter, makeLoad, makeStore, type MemoryInstruction, SlowPath } from "./memory-access.ts";

type CopyOp = OpOf<"copy">;

/** The lanes of a mask that read `bytes` bytes; with `orMore`, also those that ask for more. */
function lanesReading(x: Activation, size: Slot | null, mask: number, bytes: number, orMore: boolean): number {
  if (size === null) return orMore ? mask : 0;
  let found = 0;
  for (let m = mask; m !== 0; m &= m - 1) {
    const lane = lowestLane(m);
    const asked = x.i32[size.base + lane]! >>> 0;
    if (asked === bytes || (orMore && asked > bytes)) found |= 1 << lane;
  }
  return found;
}

/** Where lanes copy from and to, and how many bytes they read. */
interface CopyOperands {
  readonly source: StepAccess["addresses"];
  readonly destination: StepAccess["addresses"];
  readonly size: Slot | null;
}

const wide = new BigInt64Array(32);
const addressWords = new Int32Array(wide.buffer);

/** Makes the code that issues copies which take effect later: accesses are checked here. */
function lateCopies(site: Site, op: CopyOp, { source, destination, size }: CopyOperands): Run {
  const bytes = accessBytes(op.to.access);
  const addressesOf = (write: StepAccess["addresses"], x: Activation, mask: number): AddressParts[] => {
    write(x, mask, { wide, words: addressWords });
    return Array.from({ length: 32 }, (_, lane) => ({
      low: addressWords[2 * lane]! >>> 0,
      high: addressWords[2 * lane + 1]! >>> 0,
    }));
  };
  return (x, mask) => {
    const { warp } = x;
    const [from, to] = [addressesOf(source, x, mask), addressesOf(destination, x, mask)];
    const asked = (lane: number): number => (size === null ? bytes : x.i32[size.base + lane]! >>> 0);
    const issue = (lane: number): void => {
      const count = op.whole && asked(lane) < bytes ? 0 : Math.min(asked(lane), bytes);
      const range = (effect: "load" | "store", address: AddressParts, length: number) => {
        const { space, align } = effect === "load" ? op.from.access : op.to.access;
        return findRange(x, site, { lane, effect, space, address, bytes: length, align }, (place) => place);
      };
      const read = count === 0 ? null : range("load", from[lane]!, count);
      const written = range("store", to[lane]!, bytes);
      const perform = (): void => {
        const target = written.views.u8.subarray(written.at, written.at + bytes).fill(0);
        if (read !== null) target.set(read.views.u8.subarray(read.at, read.at + count));
      };
      const moved = { from: from[lane]!, to: to[lane]!, bytes: count };
      const effect = { warp, lane, site, copy: () => moved, mbarriers: [], read: () => {}, perform };
      warp.cta.units.of(PendingEffects).issue({ ...effect, completion: "copies" });
    };
    const failed = new FailedLanes();
    for (const lane of lanesIn(mask)) failed.try(() => issue(lane));
    failed.end();
  };
}

/** Makes the code of an asynchronous copy, which is performed where it is issued, through temporary registers. */
export function makeCopy(d: Decoding, op: CopyOp): { readonly run: Run; readonly accesses: readonly StepAccess[] } {
  const { operands, program, code } = d;
  const { prepare: _, ...from } = memoryOf(d, op.from);
  const { prepare: __, ...to } = memoryOf(d, op.to);
  const size = op.size === null ? null : operands.slot(op.size);
  const { prepare } = operands;
  const nothing: Run = () => {};
  const words = Array.from({ length: op.from.access.count }, () => code.file.temporary("i32"));
  const load = makeLoad({ ...from, prepare: nothing }, words, program.generate);
  const store = makeStore({ ...to, prepare: nothing }, words, program.generate);
  const bytes = accessBytes(op.from.access);
  /** By the number of bytes that are read, less 1: code for lanes that read only some of them. */
  const parts =
    size === null || op.whole ? [] : Array.from({ length: bytes - 1 }, (_, i) => partOf(from, i + 1, words));
  const [source, destination] = [addressWriter({ ...from, prepare }), addressWriter({ ...to, prepare })];
  const issueLate = lateCopies(d.site, op, { source, destination, size });
  const run: Run = (x, mask) => {
    if (x.warp.cta.units.late) {
      issueLate(x, mask);
      return;
    }
    prepare(x, mask);
    const all = lanesReading(x, size, mask, bytes, true);
    if (all !== mask) clear(x, words, mask);
    if (all !== 0) load(x, all);
    parts.forEach(({ load: loadPart }, i) => {
      const lanes = lanesReading(x, size, mask, i + 1, false);
      if (lanes !== 0) loadPart(x, lanes);
    });
    store(x, mask);
  };
  const reading =
    (n: number, orMore: boolean): StepAccess["addresses"] =>
    (x, mask, into) => {
      source(x, mask, into);
      return lanesReading(x, size, mask, n, orMore);
    };
  const load0 = { ordinal: 0, effect: "load" } as const;
  return {
    run,
    accesses: [
      { ...load0, access: op.from.access, addresses: reading(bytes, true) },
      ...parts.map(({ access }, i) => ({ ...load0, access, addresses: reading(i + 1, false) })),
      { ordinal: 1, effect: "store", access: op.to.access, addresses: destination },
    ],
  };
}

function memoryOf({ operands, site }: Decoding, { access, place }: CopyOp["from"]): MemoryInstruction {
  if (place.kind !== "address") throw new Error("copies are between addresses");
  const address = operands.address(place.address);
  return { site, access, address, prepare: () => {}, lanes: operands.lanes };
}

/** The first `count` bytes, loaded into words that are 0 before. */
function partOf(from: Omit<MemoryInstruction, "prepare">, count: number, words: readonly Slot[]) {
  const access = { ...from.access, bits: 8, count } as const;
  const memory = { ...from, access, prepare: () => {} };
  const { address } = memory;
  const extent = new LastExtent(address.slot === null ? 0 : address.offset, count);
  const slow = new SlowPath(memory, "load", extent);
  const load: Run = (x, mask) =>
    slow.run(x, mask, (activation, { u8 }, at, lane) => {
      for (let i = 0; i < count; i++) activation.i32[words[i >> 2]!.base + lane]! |= u8[at + i]! << (8 * (i & 3));
    });
  return { access, load };
}

function clear({ i32 }: Activation, words: readonly Slot[], mask: number): void {
  for (let m = mask; m !== 0; m &= m - 1) for (const { base } of words) i32[base + lowestLane(m)] = 0;
}
