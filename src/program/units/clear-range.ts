import type { UnitOpOf } from "../../ir/index.ts";
import { locate } from "../../machine/faults/locate.ts";
import { hex } from "../../machine/memory/address-space.ts";
import { bytesOf } from "./bulk-copy.ts";
import { forEachLane, unitFault } from "./lanes.ts";
import type { UnitCall } from "./unit-call.ts";

/** The most bytes that one instruction clears. */
const maxBytes = 2 ** 24;

/** "If the address does not fall within the address window of .shared state space then the behavior is undefined." */
function requireShared(call: UnitCall, lane: number): void {
  const address = call.address(0, lane);
  const place = locate(call.x, lane, address);
  if (place === null || place.kind === "shared") return;
  throw unitFault(call, lane, "shared-out-of-bounds", `clears bytes at ${hex(address)}, which is not shared memory`);
}

/** Fills a range of shared memory with zeros for each lane (section 9.7.9.13). */
export const clearRange = ({ space }: UnitOpOf<"clear-range">, call: UnitCall): void =>
  forEachLane(call, (lane) => {
    const { high, low: bytes } = call.address(1, lane);
    if (high !== 0 || bytes > maxBytes || bytes % 8 !== 0) {
      const count = 2 ** 32 * high + bytes;
      const message = `${count} bytes are to be cleared, which is not a multiple of 8 up to ${maxBytes}`;
      throw unitFault(call, lane, "bulk-bad-size", message);
    }
    if (bytes === 0) return;
    if (space === "generic") requireShared(call, lane);
    const range = { lane, effect: "store", space, address: call.address(0, lane), bytes, align: 1 } as const;
    bytesOf(call.range({ ...range, contents: () => new Uint8Array(bytes) }), bytes).fill(0);
  });
