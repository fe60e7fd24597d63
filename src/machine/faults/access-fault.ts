import type { Access, Space } from "../../ir/index.ts";
import { type AddressParts, hex } from "../memory/address-space.ts";
import { distance } from "../memory/extent.ts";
import { sharedOwner } from "../state/cluster.ts";
import type { CallFrame } from "../state/launch-state.ts";
import type { Site } from "../state/code.ts";
import { Fault } from "./fault.ts";
import { nearestVariable, type Place } from "./locate.ts";

/** An access by one lane. */
export interface Attempt {
  readonly x: CallFrame;
  readonly lane: number;
  readonly site: Site;
  readonly effect: "load" | "store" | "atomic";
  readonly access: Access;
  readonly address: AddressParts;
  /** The variable or allocation around the address, or null. */
  readonly place: Place | null;
}

const spaceOf: Readonly<Record<Space, string>> = {
  generic: "global",
  global: "global",
  shared: "shared",
  "shared-cluster": "shared",
  local: "local",
  const: "const",
  "kernel-param": "param",
  "call-param": "param",
};

/** The places that an access of a space may touch. */
const allowedPlaces: Readonly<Record<Space, readonly string[]>> = {
  generic: ["global", "shared", "local", "const", "kernel-param"],
  global: ["global"],
  shared: ["shared"],
  "shared-cluster": ["shared"],
  local: ["local"],
  const: ["const"],
  "kernel-param": ["kernel-param"],
  "call-param": ["local"],
};

/** Bytes that one lane accesses. */
export const accessBytes = (access: Access): number => (access.bits / 8) * access.count;

/** The fault of an access that is not allowed, or null. */
export function accessFault(attempt: Attempt): Fault | null {
  const { access, address, place, x } = attempt;
  const { addresses, threads } = x.warp.cta.grid;
  const kind = addresses.classify(address);
  const size = accessBytes(access);
  const past = place === null || address.low + size > place.end;
  if (kind.kind === "null" && past && threads !== null && address.low !== 0) {
    return fault(attempt, "global-out-of-bounds", null);
  }
  if (kind.kind === "null" && past) return fault(attempt, "null-dereference", "near null");
  const name = spaceOf[access.space];
  // vISA has addresses of device memory only.
  if (threads !== null && kind.kind === "unknown") return fault(attempt, `${name}-out-of-bounds`, null);
  if (kind.kind === "unknown" || kind.kind === "null") {
    const before = name === "global" ? kind : addresses.classify(addresses.generic(address));
    if (before.kind === "global") return fault(attempt, "wrong-state-space", "which cvta.to made of a global address");
    if (before.kind === "null") return fault(attempt, "null-dereference", "which cvta.to made of null");
    return fault(attempt, `${name}-out-of-bounds`, "which is in no state space");
  }
  if (!allowedPlaces[access.space].includes(kind.kind)) {
    return fault(attempt, "wrong-state-space", `which is ${article[kind.kind]}`);
  }
  if (kind.kind !== "global" && addresses.size === 64 && kind.generic !== (access.space === "generic")) {
    return fault(
      attempt,
      "wrong-state-space",
      kind.generic
        ? `which is a generic address; the instruction wants one of the ${access.space} space (cvta.to)`
        : `which is an address of the ${kind.kind} space; the instruction wants a generic one (cvta)`,
    );
  }
  const remote = kind.kind === "shared" ? remoteProblem(attempt) : null;
  if (remote !== null) return fault(attempt, ...remote);
  if (place === null || past) {
    const space = access.space === "generic" ? kind.kind : name;
    return fault(attempt, `${space === "kernel-param" ? "param" : space}-out-of-bounds`, null);
  }
  if (attempt.effect !== "load" && (place.kind === "const" || place.kind === "kernel-param")) {
    return fault(attempt, "wrong-state-space", `which is ${article[place.kind]}: it cannot be written`);
  }
  if (place.freed) return fault(attempt, "use-after-free", "which has been freed");
  if ((address.low & (access.align - 1)) !== 0) {
    return fault(attempt, "misaligned-access", `which is not a multiple of ${access.align}`);
  }
  return null;
}

/** What is wrong with the block whose shared memory is accessed: the code of the report, and why. */
function remoteProblem({ x, access, address }: Attempt): [code: string, why: string] | null {
  const { cta } = x.warp;
  const { block, rank } = sharedOwner(cta, address.low);
  if (block === null) {
    return ["cluster-bad-rank", `which is for rank ${rank} of a cluster of ${cta.cluster.size} blocks`];
  }
  const whose = `which is in the shared memory of the block of rank ${rank}`;
  if (block === "exited") return ["dsmem-after-exit", `${whose}, which has exited`];
  if (block === "absent") return ["dsmem-after-exit", `${whose}, which has not begun`];
  if (block === cta || access.space !== "shared") return null;
  return ["wrong-state-space", `${whose}; the instruction wants one of this block (.shared::cta)`];
}

const article: Readonly<Record<string, string>> = {
  global: "a global address",
  shared: "an address of shared memory",
  local: "an address of local memory",
  const: "an address of constant memory",
  "kernel-param": "an address of a kernel parameter",
  function: "the address of a function",
};

const verbs = { load: "loads", store: "stores", atomic: "updates" } as const;

function fault(attempt: Attempt, code: string, why: string | null): Fault {
  const { x, lane, site, effect, access, address } = attempt;
  const size = accessBytes(access);
  const near = nearestVariable(x, lane, address);
  const where = near === null ? null : distance(near, address.low, size);
  const what = access.count > 1 ? `${access.count} x ${access.bits / 8} bytes` : `${size} bytes`;
  const place = why ?? where ?? "where nothing is";
  const message = `${verbs[effect]} ${what} (${access.space}) at ${hex(address)}, ${place}`;
  const notes = why !== null && where !== null ? [`nearest: ${where}`] : [];
  return new Fault(code, message, { site, activation: x, lanes: 1 << lane }, { notes });
}
