import type { UnitOpOf } from "../../ir/index.ts";
import { reduceBytes, reducedBytes } from "../tensor/reduction.ts";
import { destinations } from "./destinations.ts";
import { forEachLane, unitFault } from "./lanes.ts";
import { completeTransactions } from "./mbarrier.ts";
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
    const range = { lane, bytes, align: 16 };
    const source =
      bytes === 0 ? null : call.range({ ...range, effect: "load", space: op.from, address: call.address(1, lane) });
    for (const to of destinations(op, call, lane, { target: 0, mbarrier: 4, mask: 5 })) {
      if (source !== null) {
        const how = op.reduction === null ? stored : reduced(reducedBytes(op.reduction.type));
        const target = call.range({ ...range, ...how, space: op.to, address: to.target });
        move(op, bytesOf(target, bytes), bytesOf(source, bytes), call.word(3, lane));
      }
      if (to.mbarrier !== null) completeTransactions(call, lane, to.mbarrier, bytes);
    }
  });

function move({ reduction }: UnitOpOf<"bulk-copy">, target: Uint8Array, source: Uint8Array, mask: number): void {
  if (reduction !== null) reduceBytes(reduction.op, reduction.type, target, source);
  else if ((mask & 0xffff) === 0xffff) target.set(source);
  else for (let i = 0; i < target.length; i++) if ((mask & (1 << (i & 15))) !== 0) target[i] = source[i]!;
}
