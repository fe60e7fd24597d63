import type { ImageGeometry, SurfaceAccess, SurfaceReduction, UnitOpOf } from "../../ir/index.ts";
import { channelInfo, encodeChannel, floatOfBits } from "../../numeric/texel.ts";
import type { Image } from "../../machine/images/image.ts";
import { updateElement } from "../../machine/memory/atomic-update.ts";
import { forEachLane, unitFault } from "../units/lanes.ts";
import type { UnitCall } from "../units/unit-call.ts";
import { imageMismatch, requireObject } from "./handles.ts";
import { imageRange, unalignedBits } from "./texels.ts";

/** Faces of a cube are layers of a surface. */
function fits({ dimensions, cube, layers, samples }: Image, geometry: ImageGeometry): boolean {
  if (samples > 1) return false;
  const isArray = cube || layers !== null;
  const own = `${isArray ? "a" : ""}${dimensions}d`;
  return own === geometry;
}

/** An element of a surface: the byte at which it begins. Null where an access outside is dropped. */
function placeOf(
  access: SurfaceAccess,
  bytes: number,
  call: UnitCall,
  lane: number,
): { image: Image; at: number } | null {
  const { image } = requireObject(call, lane, 0, "surface");
  const { geometry, bounds, formatted } = access;
  if (!fits(image, geometry)) throw imageMismatch(call, lane, image, `accesses a .${geometry} one`);
  const [level] = image.sizes;
  const { width, height, depth, rowPitch, slicePitch, layerPitch } = level!;
  const [x, y, z] = [call.word(1, lane), call.word(2, lane), call.word(3, lane)];
  const layer = call.word(4, lane) >>> 0;
  const unit = formatted ? image.texelBytes : 1;
  // An element of raw data may begin at any byte that is a multiple of its size, so that it ends in the row.
  const lastX = formatted ? width - 1 : width * image.texelBytes - bytes;
  const last = [lastX, height - 1, depth - 1, image.planes - 1];
  const wanted = [x, y, z, layer];
  const isInside = wanted.every((n, axis) => n >= 0 && n <= last[axis]!);
  if (!isInside) {
    if (bounds === "zero") return null;
    if (bounds === "trap") throw outside(call, lane, access, image, wanted);
    // No element is the nearest one where a row has none.
    if (lastX < 0) throw imageMismatch(call, lane, image, `accesses elements of ${bytes} bytes, more than a row has`);
  }
  const [bx, by, bz, bl] = wanted.map((n, axis) => Math.max(0, Math.min(n, last[axis]!)));
  // The nearest element begins at a multiple of its size too, where the row is not a whole number of them.
  const along = formatted ? bx! * unit : bx! - (bx! % bytes);
  const at = bl! * layerPitch + bz! * slicePitch + by! * rowPitch + along;
  if (!formatted && x % bytes !== 0) {
    const message = `the element begins at byte ${x} of its row, which is not a multiple of its size, ${bytes} bytes (x counts bytes, not texels)`;
    throw unitFault(call, lane, "misaligned-access", message);
  }
  return { image, at };
}

function outside(
  call: UnitCall,
  lane: number,
  { geometry, formatted }: SurfaceAccess,
  image: Image,
  wanted: readonly number[],
) {
  const { width, height, depth, planes, texelBytes } = image;
  const axes = geometry.includes("3") ? 3 : geometry.includes("2") ? 2 : 1;
  const isArray = geometry.startsWith("a");
  const shown = [...wanted.slice(0, axes), ...(isArray ? [`layer ${wanted[3]}`] : [])].join(", ");
  const row = formatted ? `${width} texels` : `${width * texelBytes} bytes`;
  const size = [row, ...[height, depth].slice(0, axes - 1), ...(isArray ? [`${planes} layers`] : [])].join(" by ");
  return unitFault(call, lane, "surface-out-of-bounds", `(${shown}) is outside the surface of ${size}`);
}

const bytesOf = ({ count, bits }: SurfaceAccess): number => (count * bits) / 8;

/** The bits of an element that memory knows: 64 are two of 32. */
const wordBits = (bits: 8 | 16 | 32 | 64): 8 | 16 | 32 => (bits === 64 ? 32 : bits);

/** Loads raw elements for each lane (section 9.7.11.1). */
export const loadSurface = ({ access }: UnitOpOf<"surface-load">, call: UnitCall): void =>
  forEachLane(call, (lane) => {
    const bytes = bytesOf(access);
    const place = placeOf(access, bytes, call, lane);
    const range = place && imageRange(call, place.image, place.at, { lane, effect: "load", bytes });
    const bits = wordBits(access.bits);
    const element = (i: number): number =>
      range === null ? 0 : unalignedBits({ ...range, at: range.at + (i * bits) / 8 }, bits);
    for (let i = 0; i < access.count; i++) {
      if (access.bits === 64) call.give(i, lane, element(2 * i), element(2 * i + 1));
      else call.give(i, lane, element(i));
    }
  });

/** The bytes that a lane stores: raw elements, or channels of the surface's format. */
function contentsOf(access: SurfaceAccess, { format, texelBytes }: Image, call: UnitCall, lane: number): Uint8Array {
  const words: { readonly value: number; readonly bits: 8 | 16 | 32 }[] = [];
  if (access.formatted) {
    const { bits, value } = channelInfo[format.type];
    // Channels for which nothing is given are unpredictable: 0 here.
    for (let c = 0; c < format.channels; c++) {
      const given = c < access.count ? call.word(5 + c, lane) : 0;
      const number = value === "float" ? floatOfBits(given) : value === "unsigned" ? given >>> 0 : given;
      // Floats of 32 bits keep theirs, NaN too.
      words.push({ value: format.type === "f32" ? given : encodeChannel(format.type, number), bits });
    }
  } else {
    for (let i = 0; i < access.count; i++) {
      const { high, low } = call.address(5 + i, lane);
      words.push({ value: low, bits: wordBits(access.bits) });
      if (access.bits === 64) words.push({ value: high, bits: 32 });
    }
  }
  const bytes = new Uint8Array(access.formatted ? texelBytes : bytesOf(access));
  let at = 0;
  for (const { value, bits } of words) {
    for (let bit = 0; bit < bits; bit += 8) bytes[at++] = value >>> bit;
  }
  return bytes;
}

/** Stores elements for each lane (section 9.7.11.2). */
export const storeSurface = ({ access }: UnitOpOf<"surface-store">, call: UnitCall): void =>
  forEachLane(call, (lane) => {
    const place = placeOf(access, bytesOf(access), call, lane);
    if (place === null) return;
    const bytes = contentsOf(access, place.image, call, lane);
    const range = imageRange(call, place.image, place.at, {
      ...{ lane, effect: "store", bytes: bytes.length, contents: () => bytes },
    });
    range.views.u8.set(bytes, range.at);
  });

const reduce: { readonly [O in SurfaceReduction["op"]]: (a: bigint, b: bigint) => bigint } = {
  add: (a, b) => a + b,
  min: (a, b) => (a < b ? a : b),
  max: (a, b) => (a > b ? a : b),
  and: (a, b) => a & b,
  or: (a, b) => a | b,
};

/** Updates an element of a surface for each lane (section 9.7.11.3). */
export const reduceSurface = ({ reduction }: UnitOpOf<"surface-reduce">, call: UnitCall): void =>
  forEachLane(call, (lane) => {
    const bytes = bytesOf(reduction);
    const place = placeOf(reduction, bytes, call, lane);
    if (place === null) return;
    const isSigned = signedness(reduction, place.image, call, lane);
    const bits = reduction.bits as 32 | 64;
    const kind = { bits, order: "relaxed", scope: "gpu" } as const;
    const range = imageRange(call, place.image, place.at, { lane, effect: "atomic", bytes, kind });
    const typed = isSigned ? BigInt.asIntN : BigInt.asUintN;
    const { high, low } = call.address(5, lane);
    const given = typed(bits, (BigInt(high) << 32n) | BigInt(low));
    updateElement(range.views, range.at, bits, (old) => {
      const result = BigInt.asIntN(bits, reduce[reduction.op](typed(bits, BigInt(old)), given));
      return bits === 64 ? result : Number(result);
    });
  });

function signedness(reduction: SurfaceReduction, image: Image, call: UnitCall, lane: number): boolean {
  if (reduction.type !== "format") return reduction.type === "signed";
  const { value, bits } = channelInfo[image.format.type];
  const wanted = reduction.bits === 64 ? 2 : 1;
  if (value === "float" || bits !== 32 || image.format.channels !== wanted) {
    throw imageMismatch(call, lane, image, `reduces texels that are one integer of ${reduction.bits} bits`);
  }
  return value === "signed";
}
