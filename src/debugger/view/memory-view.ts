import { type WindowName, windows } from "../../ir/index.ts";
import { locate } from "../../machine/faults/locate.ts";
import { hex, parts } from "../../machine/memory/address-space.ts";
import type { Views } from "../../machine/memory/views.ts";
import type { Activation, Grid } from "../../machine/state/launch-state.ts";

/** Memory as a lane sees it, or, where there is no lane, as the host does. */
export interface Onlooker {
  readonly grid: Grid;
  readonly activation: Activation | null;
  readonly lane: number;
}

/** A stretch of the host's bytes behind a stretch of addresses. */
interface Stretch {
  readonly views: Views;
  readonly at: number;
  readonly bytes: number;
}

function stretchAt({ grid, activation, lane }: Onlooker, address: bigint): Stretch | null {
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

/** Bytes from an address on, up to the end of the variable or allocation: fewer than `size`, or none, if there are no more. */
export function readMemory(onlooker: Onlooker, address: bigint, size: number): Uint8Array {
  const found = stretchAt(onlooker, address);
  return found === null ? new Uint8Array() : found.views.u8.slice(found.at, found.at + Math.min(size, found.bytes));
}

/** False when not all of the bytes are there. */
export function writeMemory(onlooker: Onlooker, address: bigint, bytes: Uint8Array): boolean {
  const found = stretchAt(onlooker, address);
  if (found === null || found.bytes < bytes.length) return false;
  found.views.u8.set(bytes, found.at);
  return true;
}

/** An address without the ways in which it can be written: the state space, and the place in it. */
export interface PlainAddress {
  readonly space: "global" | WindowName;
  readonly low: number;
}

export function plainAddress(grid: Grid, address: bigint): PlainAddress | null {
  const at = parts(address);
  const classified = grid.addresses.classify(at);
  if (classified.kind === "global") return { space: "global", low: classified.offset };
  return classified.kind === "null" || classified.kind === "unknown" ? null : { space: classified.kind, low: at.low };
}

/** "buffer "x" + 16", "shared + 0x40", for an address. */
export function describeAddress(onlooker: Onlooker, address: bigint): string {
  const { grid } = onlooker;
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
  if (within !== undefined) return `${text}, ${within.name}${offset === 0 ? "" : ` + ${offset}`}`;
  return plain.space === "global" ? text : `${text}, ${plain.space} + ${plain.low - windows[plain.space].start}`;
}
