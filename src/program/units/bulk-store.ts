import type { UnitOpOf } from "../../ir/index.ts";
import { lanesIn } from "../../ir/lane-mask.ts";
import type { UnitCall } from "./unit-call.ts";

/**
 * Copies a range for each lane, or those bytes of it that a mask selects. Addresses are multiples of 16 (section
 * 9.7.9.25.4.1).
 */
export function bulkStore(op: UnitOpOf<"bulk-store">, call: UnitCall): void {
  for (const lane of lanesIn(call.lanes)) {
    const bytes = call.word(2, lane) >>> 0;
    if (bytes === 0) continue;
    const range = { lane, bytes, align: 16 };
    const from = call.range({ ...range, effect: "load", space: op.from, address: call.address(1, lane) });
    const to = call.range({ ...range, effect: "store", space: op.to, address: call.address(0, lane) });
    const mask = call.word(3, lane);
    for (let i = 0; i < bytes; i++)
      if ((mask & (1 << (i & 15))) !== 0) to.views.u8[to.at + i] = from.views.u8[from.at + i]!;
  }
}
