import type { ImageKind } from "../../ir/index.ts";
import { describeImage, type Image } from "../../machine/images/image.ts";
import type { FoundObject, ImageObject } from "../../machine/images/image-table.ts";
import type { Fault } from "../../machine/faults/fault.ts";
import { type AddressParts, hex } from "../../machine/memory/address-space.ts";
import { locate } from "../../machine/faults/locate.ts";
import { unitFault } from "../units/lanes.ts";
import type { UnitCall } from "../units/unit-call.ts";

/** The object of a kind. */
export type ObjectOf<K extends ImageKind> = Extract<ImageObject, { kind: K }>;

const names: { readonly [K in ImageKind]: string } = {
  texture: "a texture",
  surface: "a surface",
  sampler: "a sampler",
};

/**
 * What a value refers to: it is a handle, or the address of a variable or parameter that holds one (`.texref` and the
 * like).
 */
function objectOf(call: UnitCall, lane: number, value: AddressParts): FoundObject {
  const { images } = call.x.warp.cta.grid.memory;
  const found = images.find(value.high, value.low);
  if (found !== null) return found;
  const held = heldAt(call, lane, value);
  return held === null ? null : images.find(held.high, held.low);
}

/** What a variable or parameter at an address holds; null if there is none that may hold a handle. */
function heldAt(call: UnitCall, lane: number, value: AddressParts): AddressParts | null {
  const { x } = call;
  const place = locate(x, lane, value);
  if (place === null || (place.kind !== "global" && place.kind !== "kernel-param")) return null;
  if (value.low % 8 !== 0 || place.end - value.low < 8) return null;
  const space = place.kind === "global" || x.warp.cta.grid.addresses.windowHigh === value.high ? "generic" : place.kind;
  const { views, at } = call.range({
    lane,
    effect: "load",
    space,
    address: value,
    bytes: 8,
    align: 8,
    kind: handleAccess,
  });
  return { high: views.i32[(at >>> 2) + 1]! >>> 0, low: views.i32[at >>> 2]! >>> 0 };
}

const handleAccess = { bits: 64, order: "weak", scope: null } as const;

/** Whether a value refers to an object of a kind. */
export function refersTo(call: UnitCall, lane: number, value: AddressParts, kind: ImageKind): boolean {
  const found = objectOf(call, lane, value);
  return found !== null && typeof found !== "string" && found.kind === kind;
}

/** The object of a kind to which an operand of a lane refers. @throws Fault if it is none */
export function requireObject<K extends ImageKind>(call: UnitCall, lane: number, n: number, kind: K): ObjectOf<K> {
  const value = call.address(n, lane);
  const found = objectOf(call, lane, value);
  if (found !== null && typeof found !== "string" && found.kind === kind) return found as ObjectOf<K>;
  throw unitFault(
    call,
    lane,
    "bad-handle",
    `${hex(value)} ${problemOf(call, lane, value, found)}, but ${names[kind]} is needed here`,
  );
}

function problemOf(call: UnitCall, lane: number, value: AddressParts, found: FoundObject): string {
  if (found === null) {
    const held = heldAt(call, lane, value);
    if (held === null) return "is no handle";
    const isEmpty = held.high === 0 && held.low === 0;
    return `is an address, at which there is ${isEmpty ? "0: nothing has been bound" : `${hex(held)}, no handle`}`;
  }
  if (found === "freed") return "is the handle of an object that has been freed";
  if (found === "memory-freed") return "is the handle of an object whose memory has been freed";
  return `is the handle of ${names[found.kind]}`;
}

/** The fault of an instruction that an image does not fit. */
export const imageMismatch = (call: UnitCall, lane: number, image: Image, wanted: string): Fault =>
  unitFault(call, lane, "image-mismatch", `the image is a ${describeImage(image)}; the instruction ${wanted}`);
