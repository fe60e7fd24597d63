import { plainAccess } from "../../ir/index.ts";
import { accessFault } from "../../machine/faults/access-fault.ts";
import { locate } from "../../machine/faults/locate.ts";
import { parts } from "../../machine/memory/address-space.ts";
import type { ExternalCall } from "../../machine/state/externals.ts";

/** The bytes at a generic address, as the calling lane sees it. Faults like an access to there. */
function bytesAt({ x, lane, site }: ExternalCall, effect: "load" | "store", address: bigint, size: number): Uint8Array {
  const at = parts(address);
  const place = locate(x, lane, at);
  const access = plainAccess("generic", 8, size);
  const fault = accessFault({ x, lane, site, effect, access, address: at, place });
  if (fault) throw fault;
  const start = place!.at + at.low - place!.start;
  return place!.views.u8.subarray(start, start + size);
}

/** Returns a copy of `size` bytes at a generic address. */
export const readBytes = (call: ExternalCall, address: bigint, size: number): Uint8Array =>
  bytesAt(call, "load", address, size).slice();

/** Writes bytes at a generic address. */
export function writeBytes(call: ExternalCall, address: bigint, bytes: Uint8Array): void {
  const target = bytesAt(call, "store", address, bytes.length);
  call.onStore?.(address, bytes.length);
  target.set(bytes);
}
