import { lowestLane, popcount } from "../ir/lane-mask.ts";
import type { AccessEvent } from "../machine/events.ts";
import { accessBytes } from "../machine/faults/access-fault.ts";
import type { AddressSpace } from "../machine/memory/address-space.ts";
import type { Tally } from "./counts.ts";
import { Request } from "./request.ts";

type Kind = "global" | "shared" | "local" | "constant" | "none";

/** The kind of memory that an access to a state space uses. Call parameters are in registers, as in compiled code. */
const kindOf: Readonly<Record<Exclude<AccessEvent["access"]["space"], "generic">, Kind>> = {
  global: "global",
  shared: "shared",
  "shared-cluster": "shared",
  local: "local",
  const: "constant",
  "kernel-param": "constant",
  "call-param": "none",
};

/** Counts the requests of an access to each kind of memory. */
export class MemoryCounter {
  readonly #request = new Request();

  add({ warp, mask, access, addressWords: words, effect }: AccessEvent, tally: Tally): void {
    const request = this.#request;
    request.bytes = accessBytes(access);
    for (let m = mask; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      request.addresses[lane] = words[2 * lane]!;
    }
    if (access.space !== "generic") {
      request.mask = mask;
      this.#count(kindOf[access.space], effect, tally);
      return;
    }
    // The lanes of a generic access may address different memories.
    for (let rest = mask; rest !== 0; ) {
      const kind = genericKind(words, lowestLane(rest), warp.cta.grid.addresses);
      let same = 0;
      for (let m = rest; m !== 0; m &= m - 1) {
        const lane = lowestLane(m);
        if (genericKind(words, lane, warp.cta.grid.addresses) === kind) same |= 1 << lane;
      }
      request.mask = same;
      this.#count(kind, effect, tally);
      rest &= ~same;
    }
  }

  #count(kind: Kind, effect: AccessEvent["effect"], tally: Tally): void {
    const request = this.#request;
    const lanes = popcount(request.mask);
    if (kind === "global") {
      const { sectors, least } = request.traffic();
      tally.globalRequests++;
      tally.globalBytes += lanes * request.bytes;
      tally.globalSectors += sectors;
      tally.globalLeastSectors += least;
    } else if (kind === "local") {
      const { sectors, least } = request.interleavedTraffic();
      tally.localRequests++;
      tally.localBytes += lanes * request.bytes;
      tally.localSectors += sectors;
      tally.localLeastSectors += least;
    } else if (kind === "shared") {
      const { passes, least } = request.passes();
      tally.sharedRequests++;
      tally.sharedBytes += lanes * request.bytes;
      tally.sharedPasses += passes;
      tally.sharedConflicts += passes - least;
    } else if (kind === "constant") {
      tally.constantRequests++;
      tally.constantPasses += request.contention().addresses;
    }
    if (effect !== "atomic" || kind === "none") return;
    const { addresses, most } = request.contention();
    tally.atomicRequests++;
    tally.atomicLanes += lanes;
    tally.atomicAddresses += addresses;
    tally.atomicRounds += most;
  }
}

function genericKind(words: Int32Array, lane: number, addresses: AddressSpace): Kind {
  const { kind } = addresses.classify({ high: words[2 * lane + 1]! >>> 0, low: words[2 * lane]! >>> 0 });
  if (kind === "global" || kind === "shared" || kind === "local") return kind;
  return kind === "const" || kind === "kernel-param" ? "constant" : "none";
}
