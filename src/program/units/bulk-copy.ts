import type { UnitOpOf } from "../../ir/index.ts";
import { reduceBytes, reducedBytes } from "../tensor/reduction.ts";
import { destinations } from "./destinations.ts";
import { issue } from "./effect.ts";
import { forEachLane, unitFault } from "./lanes.ts";
import { completeTransactions, mbarrierAt } from "./mbarrier.ts";
import type { Range, UnitCall } from "./unit-call.ts";

/** Bytes of a range, in place. */
export const bytesOf = ({ views, at }: Range, bytes: number): Uint8Array => views.u8.subarray(at, at + bytes);

/** How the memory model sees what is written: reductions are relaxed, at the scope of the device. */
export const stored = { effect: "store" } as const;
export const reduced = (bytes: 2 | 4 | 8) =>
  ({ effect: "atomic", kind: { bits: (8 * bytes) as 16 | 32 | 64, order: "relaxed", scope: "gpu" } }) as const;

/**
 * Copies a range for each lane, or those bytes of it that a mask selects, or reduces its elements into those at the
 * destination (sections 9.7.9.25.4.1, 9.7.9.25.4.2).
 */
export const bulkCopy = (op: UnitOpOf<"bulk-copy">, call: UnitCall): void =>
  forEachLane(call, (lane) => {
    const bytes = call.word(2, lane) >>> 0;
    if (bytes % 16 !== 0) {
      throw unitFault(call, lane, "bulk-bad-size", `${bytes} bytes are to be copied, which is not a multiple of 16`);
    }
    const how = op.reduction === null ? stored : reduced(reducedBytes(op.reduction.type));
    const part = { lane, bytes, align: 16 };
    const [to, address] = [call.address(0, lane), call.address(1, lane)];
    const source = bytes === 0 ? null : call.range({ ...part, effect: "load", space: op.from, address });
    const isWhole = op.reduction === null && (call.word(3, lane) & 0xffff) === 0xffff;
    const known = isWhole && source !== null ? { contents: () => bytesOf(source, bytes) } : {};
    const targets = destinations({ ...op, pairs: false }, call, lane, { target: 0, mbarrier: 4, mask: 5 }).map(
      (one) => ({
        target: bytes === 0 ? null : call.range({ ...part, ...how, ...known, space: op.to, address: one.target }),
        mbarrier: one.mbarrier === null ? null : mbarrierAt(call, lane, op.to, one.mbarrier),
      }),
    );
    const [{ x, site }, mask] = [call, call.word(3, lane)];
    let taken: Uint8Array | null = null;
    const read = (): Uint8Array => taken ?? bytesOf(source!, bytes);
    issue(call, lane, {
      copy: () => ({ from: address, to, bytes }),
      mbarriers: targets.flatMap(({ mbarrier }) => (mbarrier === null ? [] : [mbarrier])),
      read: () => {
        if (source !== null) taken = read().slice();
      },
      perform: () => {
        for (const { target, mbarrier } of targets) {
          if (target !== null) move(op, bytesOf(target, bytes), read(), mask);
          if (mbarrier !== null) completeTransactions({ x, site, lane }, mbarrier, bytes);
        }
      },
    });
  });

function move({ reduction }: UnitOpOf<"bulk-copy">, target: Uint8Array, source: Uint8Array, mask: number): void {
  if (reduction !== null) reduceBytes(reduction.op, reduction.type, target, source);
  else if ((mask & 0xffff) === 0xffff) target.set(source);
  else for (let i = 0; i < target.length; i++) if ((mask & (1 << (i & 15))) !== 0) target[i] = source[i]!;
}
