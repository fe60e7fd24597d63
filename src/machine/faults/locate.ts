import { windows } from "../../ir/index.ts";
import type { AddressParts } from "../memory/address-space.ts";
import { type Extent, extentAt, nearestExtent } from "../memory/extent.ts";
import type { Allocation } from "../memory/allocation.ts";
import type { Views } from "../memory/views.ts";
import { sharedOwner } from "../state/cluster.ts";
import type { CallFrame, Cta, StackPiece } from "../state/launch-state.ts";

/**
 * The memory of an address. `frame`: a variable of the accessing activation; `stack`: any other part of the lane's
 * stack.
 */
export type PlaceKind = "global" | "shared" | "const" | "kernel-param" | "frame" | "stack";

/** The variable or allocation around an address. */
export interface Place {
  readonly kind: PlaceKind;
  /** The extent, as lower halves of addresses. */
  readonly start: number;
  readonly end: number;
  readonly views: Views;
  /** The byte of `views` at `start`, for the lane. */
  readonly at: number;
  readonly freed: boolean;
  /** For an address within the cluster, the block whose shared memory it is; null for one of the block's own window. */
  readonly owner: Cta | null;
  /**
   * Bytes from `at` to that of the next lane, if all lanes of the group have the same place; null if they may differ.
   */
  readonly stride: number | null;
}

/** The place of an address as this lane sees it, or null when it is in no variable and no allocation. */
export function locate(x: CallFrame, lane: number, address: AddressParts): Place | null {
  const { cta } = x.warp;
  const { grid } = cta;
  const classified = grid.addresses.classify(address);
  const { low } = address;
  switch (classified.kind) {
    case "global": {
      const found = grid.memory.find(classified.offset);
      const base = grid.addresses.globalLow;
      return found && place("global", found, base, grid.memory.views, found.start);
    }
    case "shared":
      return inShared(cta, low);
    case "const": {
      const found = extentAt(grid.constants.extents, low);
      return found && place("const", found, 0, grid.constants.views, found.start - grid.constants.start);
    }
    case "kernel-param": {
      const found = extentAt(grid.params.extents, low);
      return found && place("kernel-param", found, 0, grid.params.views, found.start - grid.params.start);
    }
    case "local":
      return onStack(x, lane, low - windows.local.start);
    default:
      return null;
  }
}

function inShared(cta: Cta, low: number): Place | null {
  const { block, low: own } = sharedOwner(cta, low);
  if (block === null || typeof block === "string") return null;
  const found = extentAt(cta.grid.sharedExtents, own);
  if (found === null) return null;
  const there = place("shared", found, low - own, block.shared, found.start - windows.shared.start);
  return own === low ? there : { ...there, owner: block };
}

const place = (
  kind: PlaceKind,
  extent: Extent & { readonly freed?: boolean },
  base: number,
  views: Views,
  at: number,
  stride: number | null = 0,
): Place => ({
  kind,
  start: base + extent.start,
  end: base + extent.end,
  views,
  at,
  freed: extent.freed === true,
  owner: null,
  stride,
});

/** The name in messages of a part of the stack that `alloca` gave. */
const pieceName = "what alloca gave";

function onStack(innermost: CallFrame, lane: number, offset: number): Place | null {
  const { views, stride, origin } = innermost.warp.stack;
  for (let x: CallFrame | null = innermost; x !== null; x = x.caller) {
    const kind = x === innermost ? "frame" : "stack";
    const found = inFrame(x, offset);
    if (found !== null) {
      return place(kind, found, windows.local.start, views, origin + found.start + lane * stride, stride);
    }
    const piece = pieceAt(x, lane, offset);
    if (piece !== null) {
      const extent = { ...piece, name: pieceName };
      return place(kind, extent, windows.local.start, views, origin + piece.at + lane * stride, null);
    }
  }
  return null;
}

/**
 * The byte in a lane's part of the stack for an offset in the window of local memory: the same, but for what `alloca`
 * gave.
 */
export function stackByte(innermost: CallFrame, lane: number, offset: number): number {
  for (let x: CallFrame | null = innermost; x !== null; x = x.caller) {
    const piece = pieceAt(x, lane, offset);
    if (piece !== null) return piece.at + offset - piece.start;
  }
  return offset;
}

const pieceAt = (x: CallFrame, lane: number, offset: number): StackPiece | null =>
  x.pieces?.find((p) => p.lane === lane && offset >= p.start && offset < p.end) ?? null;

function inFrame(x: CallFrame, offset: number): Extent | null {
  if (offset < x.base) return null;
  const { frame } = x.code;
  const variable = extentAt(frame.extents, offset - x.base);
  if (variable !== null) return { ...variable, start: variable.start + x.base, end: variable.end + x.base };
  if (frame.unsized >= 0) {
    const start = x.base + frame.offsets[frame.unsized]!;
    if (offset >= start && offset < start + x.unsizedBytes) {
      return { name: x.code.ir.frame[frame.unsized]!.name, start, end: start + x.unsizedBytes };
    }
  }
  return null;
}

/** The variable or allocation nearest to an address, for messages; with its extent in lower halves of addresses. */
export function nearestVariable(x: CallFrame, lane: number, address: AddressParts): Extent | null {
  const { grid } = x.warp.cta;
  const classified = grid.addresses.classify(address);
  const { low } = address;
  switch (classified.kind) {
    case "global": {
      const found: Allocation | null = grid.memory.nearest(classified.offset);
      const base = grid.addresses.globalLow;
      return found && { name: found.name, start: found.start + base, end: found.end + base };
    }
    case "shared": {
      const { low: own } = sharedOwner(x.warp.cta, low);
      const found = nearestExtent(grid.sharedExtents, own);
      return found && { ...found, start: found.start + low - own, end: found.end + low - own };
    }
    case "const":
      return nearestExtent(grid.constants.extents, low);
    case "kernel-param":
      return nearestExtent(grid.params.extents, low);
    case "local":
      return nearestInFrame(x, lane, low);
    default:
      return null;
  }
}

function nearestInFrame(x: CallFrame, lane: number, low: number): Extent | null {
  const base = windows.local.start + x.base;
  const { frame, ir } = x.code;
  const shifted = frame.extents.map((e) => ({ name: e.name, start: e.start + base, end: e.end + base }));
  if (frame.unsized >= 0) {
    const start = base + frame.offsets[frame.unsized]!;
    shifted.push({ name: ir.frame[frame.unsized]!.name, start, end: start + x.unsizedBytes });
  }
  for (const p of x.pieces ?? []) {
    if (p.lane !== lane) continue;
    const start = windows.local.start + p.start;
    shifted.push({ name: pieceName, start, end: windows.local.start + p.end });
  }
  shifted.sort((a, b) => a.start - b.start);
  return nearestExtent(shifted, low);
}
