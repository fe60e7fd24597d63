import { displayName } from "../../names/index.ts";
import { type WindowName, windows } from "../../ir/index.ts";
import { locate } from "../../machine/faults/locate.ts";
import { hex, parts } from "../../machine/memory/address-space.ts";
import type { Views } from "../../machine/memory/views.ts";
import type { Activation, Grid } from "../../machine/state/launch-state.ts";

/** A point of view on memory: that of a lane or, without an activation, that of the host. */
export interface Viewpoint {
  readonly grid: Grid;
  readonly activation: Activation | null;
  readonly lane: number;
}

/** The host's bytes for a range of addresses. */
interface Stretch {
  readonly views: Views;
  readonly at: number;
  readonly bytes: number;
}

function stretchAt({ grid, activation, lane }: Viewpoint, address: bigint): Stretch | null {
  const at = parts(address);
  if (activation !== null) {
    const place = locate(activation, lane, at);
    return place && { views: place.views, at: place.at + at.low - place.start, bytes: place.end - at.low };
  }
  const classified = grid.addresses.classify(at);
  if (classified.kind !== "global") return null;
  const found = grid.memory.find(classified.offset);
  return found && { views: grid.memory.views, at: classified.offset, bytes: found.end - classified.offset };
}

/**
 * Returns up to `size` bytes from an address on. There are fewer, or none, if the variable or allocation ends before.
 */
export function readMemory(viewpoint: Viewpoint, address: bigint, size: number): Uint8Array {
  const found = stretchAt(viewpoint, address);
  return found === null ? new Uint8Array() : found.views.u8.slice(found.at, found.at + Math.min(size, found.bytes));
}

/** Writes bytes; returns false, without writing, if not all of them exist. */
export function writeMemory(viewpoint: Viewpoint, address: bigint, bytes: Uint8Array): boolean {
  const found = stretchAt(viewpoint, address);
  if (found === null || found.bytes < bytes.length) return false;
  found.views.u8.set(bytes, found.at);
  return true;
}

/** An address in canonical form: the state space, and the position in it. */
export interface PlainAddress {
  readonly space: "global" | WindowName;
  /** The low 32 bits of the address; in global memory the offset in the memory of the device. */
  readonly low: number;
}

/** Returns an address in canonical form; null if it is in no state space. */
export function plainAddress(grid: Grid, address: bigint): PlainAddress | null {
  const at = parts(address);
  const classified = grid.addresses.classify(at);
  if (classified.kind === "global") return { space: "global", low: classified.offset };
  return classified.kind === "null" || classified.kind === "unknown" ? null : { space: classified.kind, low: at.low };
}

/** Describes an address: "buffer "x" + 16", "shared + 0x40". */
export function describeAddress(viewpoint: Viewpoint, address: bigint): string {
  const { grid } = viewpoint;
  const plain = plainAddress(grid, address);
  const text = hex(parts(address));
  if (plain === null) return text;
  const extents =
    plain.space === "global"
      ? grid.memory.allocations
      : plain.space === "shared"
        ? grid.sharedExtents
        : plain.space === "const"
          ? grid.constants.extents
          : plain.space === "kernel-param"
            ? grid.params.extents
            : [];
  const within = extents.find(({ start, end }) => plain.low >= start && plain.low < end);
  const offset = within === undefined ? 0 : plain.low - within.start;
  if (within !== undefined) return `${text}, ${displayName(within.name)}${offset === 0 ? "" : ` + ${offset}`}`;
  return plain.space === "global" ? text : `${text}, ${plain.space} + ${plain.low - windows[plain.space].start}`;
}
