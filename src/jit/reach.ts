import { type Access, windows } from "../ir/index.ts";
import { splitOffset } from "../semantics/bind.ts";
import type { Expr } from "../semantics/index.ts";
import { type Wasm, wasm } from "../wasm/index.ts";
import type { Chunk } from "./chunk.ts";
import { type Value, type Vector, vectorOf } from "./value.ts";

/** A variable or an allocation: what lies within needs no closer look. */
export interface Reach {
  /** The first address (i64), and the bytes from there on (i64). */
  readonly from: Wasm;
  readonly bytes: Wasm;
  /** What is added to the low half of an address to get a byte of memory (i32). */
  readonly delta: Wasm;
  /** In the lanes' stacks: how much further than for the lane before the byte lies, wherever the address points. */
  readonly lane?: number;
}

/** Where the lanes of a chunk find the first of what they access. Bytes of memory are i32. */
export type Places =
  /** All at the same. */
  | { readonly kind: "one"; readonly at: Wasm }
  /** Lane l at `at + l * stride`. */
  | { readonly kind: "run"; readonly at: Wasm; readonly stride: number }
  | { readonly kind: "each"; readonly quads: readonly Wasm[] };

export interface Checked {
  readonly places: Places;
  /** 1 where all active lanes access what lies within reach, aligned as it must be. */
  readonly ok: Wasm;
}

const i64 = (value: number): Wasm => wasm.i64(BigInt(value));
const add64 = (a: Wasm, b: Wasm): Wasm =>
  a.kind === "const" && a.ty === "i64" && a.value === 0n ? b : wasm.op("i64.add", a, b);
const add32 = (a: Wasm, b: Wasm): Wasm => wasm.op("i32.add", a, b);
const both = (a: Wasm, b: Wasm): Wasm => wasm.op("i32.and", a, b);

/** An address without its constant part, in the form that its shape allows. */
export function addressOf(chunk: Chunk, expr: Expr): { readonly value: Value; readonly offset: number } {
  const { base, offset } = splitOffset(expr);
  const small = Number(offset);
  if (base === null || !Number.isSafeInteger(small) || Math.abs(small) >= 2 ** 31) {
    return { value: chunk.value(expr), offset: 0 };
  }
  return { value: chunk.value(base), offset: small };
}

/** The addresses of all lanes as numbers of 64 bits. */
export function fullAddresses(chunk: Chunk, expr: Expr): Vector {
  const all = chunk.vector(expr);
  if (all.ty === "i64") return all;
  return {
    kind: "vector",
    ty: "i64",
    quads: all.quads.map(([q]) => [wasm.op("i64x2.extend_low_i32x4_u", q!), wasm.op("i64x2.extend_high_i32x4_u", q!)]),
  };
}

/** Whether an access lies within reach in all lanes of `mask` (null: in all), and where it then is. */
export function check(
  chunk: Chunk,
  access: Access,
  address: { readonly value: Value; readonly offset: number },
  reach: Reach,
  mask: readonly Wasm[] | null,
): Checked {
  const checked = checkFirst(chunk, access, address, reach, mask);
  const { lane = 0 } = reach;
  return lane === 0 ? checked : { ...checked, places: spread(checked.places, lane) };
}

/** Where each lane has bytes of its own, behind those of the lane before. */
function spread(places: Places, stride: number): Places {
  switch (places.kind) {
    case "one":
      return { kind: "run", at: places.at, stride };
    case "run":
      return { ...places, stride: places.stride + stride };
    case "each":
      return {
        kind: "each",
        quads: places.quads.map((quad, q) =>
          wasm.op("i32x4.add", quad, wasm.lanes([0, 1, 2, 3].map((l) => (4 * q + l) * stride))),
        ),
      };
  }
}

/** The same, as if the bytes of all lanes lay where those of the first do. */
function checkFirst(
  chunk: Chunk,
  access: Access,
  address: { readonly value: Value; readonly offset: number },
  reach: Reach,
  mask: readonly Wasm[] | null,
): Checked {
  const { value, offset } = address;
  const size = (access.bits / 8) * access.count;
  switch (value.kind) {
    case "uniform":
      return checkRun(chunk, access, add64(widened(value.scalar), i64(offset)), 0, reach);
    case "affine":
      if (value.stride < 0) break;
      return checkRun(chunk, access, add64(widened(value.base), i64(offset)), value.stride, reach);
    case "indexed": {
      const base = add64(value.base, i64(offset));
      if (value.index.kind === "affine") return checkIndexRun(chunk, access, base, value, value.index, reach);
      if (value.scale > 0 && Number.isInteger(Math.log2(value.scale)) && value.scale >= access.align) {
        return checkIndexed(access, size, base, value, vectorOf(value.index, chunk.quads), reach, mask);
      }
    }
  }
  const all = vectorOf(value, chunk.quads);
  return checkEach(access, size, all, offset, reach, mask);
}

const widened = (address: Wasm): Wasm => (address.ty === "i64" ? address : wasm.op("i64.extend_i32_u", address));

const aligned = (address: Wasm, align: number): Wasm =>
  wasm.op("i32.eqz", both(wasm.op("i32.wrap_i64", address), wasm.i32(align - 1)));

/** The place of an address: its low half and the reach's delta. */
const placeOf = (address: Wasm, { delta }: Reach): Wasm => add32(wasm.op("i32.wrap_i64", address), delta);

function checkRun(chunk: Chunk, access: Access, first: Wasm, stride: number, reach: Reach): Checked {
  const size = (access.bits / 8) * access.count;
  const last = size + (chunk.lanes - 1) * stride;
  const limit = wasm.op("i64.sub", reach.bytes, i64(last));
  const inside = both(
    wasm.op("i64.le_u", wasm.op("i64.sub", first, reach.from), limit),
    wasm.op("i64.ge_s", limit, wasm.i64(0n)),
  );
  const at = placeOf(first, reach);
  const ok = access.align === 1 ? inside : both(inside, aligned(first, access.align));
  if (stride % access.align !== 0) return { places: { kind: "run", at, stride }, ok: wasm.i32(0) };
  return { places: stride === 0 ? { kind: "one", at } : { kind: "run", at, stride }, ok };
}

/** An index that counts up with the lanes, and must not pass the end of its 32 bits. */
function checkIndexRun(
  chunk: Chunk,
  access: Access,
  base: Wasm,
  { scale, signed }: { readonly scale: number; readonly signed: boolean },
  index: Extract<Value, { kind: "affine" }>,
  reach: Reach,
): Checked {
  const stride = index.stride * scale;
  const first = add64(base, scaled(wasm.op(signed ? "i64.extend_i32_s" : "i64.extend_i32_u", index.base), scale));
  const checked = checkRun(chunk, access, first, Math.max(stride, 0), reach);
  if (index.stride < 0 || scale < 0) return { places: { kind: "run", at: wasm.i32(0), stride: 0 }, ok: wasm.i32(0) };
  const most = (signed ? 0x7fff_ffff : 0xffff_ffff) - (chunk.lanes - 1) * index.stride;
  const counts = wasm.op(signed ? "i32.le_s" : "i32.le_u", index.base, wasm.i32(most));
  return { ...checked, ok: both(checked.ok, counts) };
}

function scaled(value: Wasm, scale: number): Wasm {
  if (scale === 1) return value;
  const shift = Math.log2(scale);
  return Number.isInteger(shift) ? wasm.op("i64.shl", value, i64(shift)) : wasm.op("i64.mul", value, i64(scale));
}

/** Any index: its least and its greatest good value are found once. */
function checkIndexed(
  access: Access,
  size: number,
  base: Wasm,
  { scale, signed }: { readonly scale: number; readonly signed: boolean },
  index: Vector,
  reach: Reach,
  mask: readonly Wasm[] | null,
): Checked {
  const shift = i64(Math.log2(scale));
  const before = wasm.op("i64.sub", base, reach.from);
  const least = wasm.op("i64.sub", wasm.i64(0n), wasm.op("i64.shr_s", before, shift));
  const room = wasm.op("i64.sub", wasm.op("i64.sub", reach.bytes, i64(size)), before);
  const most = wasm.op("i64.shr_s", room, shift);
  const [lowest, highest] = signed ? [-(2n ** 31n), 2n ** 31n - 1n] : [0n, 2n ** 32n - 1n];
  const low = clamp(least, wasm.i64(lowest), "i64.lt_s");
  const high = clamp(most, wasm.i64(highest), "i64.gt_s");
  const low32 = wasm.op("i32.wrap_i64", low);
  const start = wasm.op("i32x4.splat", low32);
  const range = wasm.op("i32x4.splat", wasm.op("i32.wrap_i64", wasm.op("i64.sub", high, low)));
  const origin = wasm.op("i32x4.splat", placeOf(base, reach));
  const bad = index.quads.map(([q]) => wasm.op("i32x4.gt_u", wasm.op("i32x4.sub", q!, start), range));
  const quads = index.quads.map(([q], i) => {
    const safe = mask === null ? q! : wasm.blend(mask[i]!, q!, start);
    return wasm.op("i32x4.add", origin, wasm.op("i32x4.shl", safe, wasm.i32(Math.log2(scale))));
  });
  const ok = both(
    both(nowhere(bad, mask), wasm.op("i64.le_s", low, high)),
    access.align === 1 ? wasm.i32(1) : aligned(base, access.align),
  );
  return { places: { kind: "each", quads }, ok };
}

/** `value`, or the bound where the comparison with it holds. */
const clamp = (value: Wasm, bound: Wasm, op: "i64.lt_s" | "i64.gt_s"): Wasm =>
  wasm.select(wasm.op(op, value, bound), bound, value);

/** Any addresses. */
function checkEach(
  access: Access,
  size: number,
  addresses: Vector,
  offset: number,
  reach: Reach,
  mask: readonly Wasm[] | null,
): Checked {
  const limit = wasm.op("i64.sub", reach.bytes, i64(size));
  const low = wasm.op("i32x4.splat", wasm.op("i32.wrap_i64", reach.from));
  const range = wasm.op("i32x4.splat", wasm.op("i32.wrap_i64", limit));
  const high = wasm.op("i32x4.splat", wasm.op("i32.wrap_i64", wasm.op("i64.shr_u", reach.from, i64(32))));
  const delta = wasm.op("i32x4.splat", reach.delta);
  const bad: Wasm[] = [];
  const quads = addresses.quads.map((quad, i) => {
    const moved =
      addresses.ty === "i64"
        ? quad.map((half) => wasm.op("i64x2.add", half, wasm.i64x2(BigInt(offset))))
        : [wasm.op("i32x4.add", quad[0]!, wasm.i32x4(offset))];
    const words = addresses.ty === "i64" ? wasm.shuffle32(moved[0]!, moved[1]!, [0, 2, 4, 6]) : moved[0]!;
    const distance = wasm.op("i32x4.sub", words, low);
    let wrong = wasm.op("i32x4.gt_u", distance, range);
    if (addresses.ty === "i64") {
      const upper = wasm.shuffle32(moved[0]!, moved[1]!, [1, 3, 5, 7]);
      wrong = wasm.op("v128.or", wrong, wasm.op("i32x4.ne", upper, high));
    }
    if (access.align > 1) {
      const rest = wasm.op("v128.and", words, wasm.i32x4(access.align - 1));
      wrong = wasm.op("v128.or", wrong, wasm.op("i32x4.ne", rest, wasm.i32x4(0)));
    }
    bad.push(wrong);
    return wasm.op("i32x4.add", delta, mask === null ? words : wasm.blend(mask[i]!, words, low));
  });
  const ok = both(nowhere(bad, mask), wasm.op("i64.ge_s", limit, wasm.i64(0n)));
  return { places: { kind: "each", quads }, ok };
}

/** 1 where no lane of the mask is bad. */
function nowhere(bad: readonly Wasm[], mask: readonly Wasm[] | null): Wasm {
  const found = bad.map((b, i) => (mask === null ? b : wasm.op("v128.and", b, mask[i]!)));
  return wasm.op(
    "i32.eqz",
    wasm.op(
      "v128.any_true",
      found.reduce((a, b) => wasm.op("v128.or", a, b)),
    ),
  );
}

/** The reach of addresses in a window, where it is known beforehand. */
export const knownReach = (start: number, end: number, delta: Wasm): Reach => ({
  from: i64(start),
  bytes: i64(end - start),
  delta,
});

/** The start of a window as it is taken from addresses. */
export const windowStart = (name: keyof typeof windows): number => windows[name].start;
