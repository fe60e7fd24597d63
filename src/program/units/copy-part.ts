import type { UnitOpOf } from "../../ir/index.ts";
import { bytesOf } from "./bulk-copy.ts";
import { forEachLane } from "./lanes.ts";
import type { UnitCall } from "./unit-call.ts";

/** Copies for each lane the bytes that it reads, and fills what else it writes with zeros (section 9.7.9.25.3.1). */
export const copyPart = ({ from, to }: UnitOpOf<"copy-part">, call: UnitCall): void =>
  forEachLane(call, (lane) => {
    const [read, written] = [call.word(2, lane), (to.bits / 8) * to.count];
    const loaded = {
      lane,
      effect: "load",
      space: from.space,
      address: call.address(1, lane),
      align: from.align,
    } as const;
    const source = bytesOf(call.range({ ...loaded, bytes: read }), read).slice();
    const stored = { lane, effect: "store", space: to.space, address: call.address(0, lane), align: to.align } as const;
    const target = bytesOf(call.range({ ...stored, bytes: written, kind: to }), written);
    target.fill(0);
    target.set(source);
  });
