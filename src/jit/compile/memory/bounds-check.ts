import type { Expr } from "../../../semantics/index.ts";
import { type LibraryFunction, type Wasm, wasm } from "../../../wasm/index.ts";
import type { ByteRange } from "../analysis/access/access-groups.ts";
import type { Chunk } from "../emit/chunk.ts";
import { anyOf } from "../lanes/mask-bits.ts";
import {
  atLeast,
  below,
  both,
  clamped,
  extended,
  i64,
  isMultiple,
  low,
  minus,
  plus,
  shifted,
  times,
  where,
} from "../lanes/scalar.ts";
import { type Value, type Vector, vectorOf } from "../lanes/value.ts";
import { placeholder } from "./placeholder.ts";

/** A variable or an allocation: what lies within needs no closer look. */
export interface KnownObject {
  /** The first address (i64), and the bytes from there on (i64). */
  readonly from: Wasm;
  readonly bytes: Wasm;
  /** What is added to the low half of an address to get a byte of memory (i32). */
  readonly delta: Wasm;
  /** What is added besides for each further lane: in the lanes' stacks. */
  readonly lane?: number;
  /** Bytes that `from` is known to be a multiple of. */
  readonly align?: number;
  /** Computes something that follows from the reach alone where that is done least often. */
  readonly once?: (value: Wasm) => Wasm;
}

/** What an access probably finds. */
export interface ExpectedObject {
  readonly reach: KnownObject;
  /** The distance (i64) of the address's base from the beginning, where that is known: of an index, without the index. */
  readonly ahead: Wasm | null;
}

/** Where the lanes of a chunk find the first byte of a stretch. Bytes of memory are i32. */
export type LaneBytes =
  /** All at the same. */
  | { readonly kind: "one"; readonly at: Wasm }
  /** Lane l at `at + l * stride`; with a negative stride the last lane is at `at`. */
  | { readonly kind: "run"; readonly at: Wasm; readonly stride: number }
  /** Of lanes that are not active, what nobody has looked at. */
  | { readonly kind: "each"; readonly quads: readonly Wasm[] };

export interface CheckResult {
  readonly places: LaneBytes;
  /** 1 where all active lanes access what lies within reach, aligned as it must be. */
  readonly ok: Wasm;
  /** Where that is asked of all lanes, active or not: what else is as good. */
  readonly rescue: Rescue | null;
}

/** The active lanes only: `condition`, and that lane l's `distance + l * stride` is in `0 .. room`. */
export interface Rescue {
  readonly condition: Wasm;
  readonly distance: Wasm;
  readonly stride: number;
  readonly room: Wasm;
  /** Whether lanes that are not active do no harm when they load like the others, or store what was there. */
  readonly isNear: boolean;
}

type Affine = Extract<Value, { kind: "affine" }>;

type Indexed = Extract<Value, { kind: "indexed" }>;

/** Bytes around every allocation that may be looked at, though not by lanes that are active. */
const margin = 256;

/** More rounds are not looked ahead. */
const maxRounds = 2 ** 30;

/** What is no further than that before an allocation has a place that is not below 0. */
const maxDistanceBefore = 0x8000;

/** Checks the accesses of a chunk to one stretch, and says where it lies. */
export class BoundsCheck {
  readonly #chunk: Chunk;
  readonly #stretch: ByteRange;
  readonly #reach: KnownObject;
  readonly #ahead: Wasm | null;

  constructor(chunk: Chunk, stretch: ByteRange, { reach, ahead }: ExpectedObject) {
    this.#chunk = chunk;
    this.#stretch = stretch;
    this.#reach = reach;
    this.#ahead = ahead;
  }

  /**
   * Declares what the check of an address will compute from the object alone (`KnownObject.once`). That is computed where the function
   * begins, and the code there is written before that of the check: the check is made once for placeholders, and the result thrown away.
   */
  declareNeeds(base: Expr): void {
    this.of(placeholder(this.#chunk, base), null);
  }

  /** `base`: the address to which the stretch's offset is added. `mask`: the active lanes. */
  of(base: Value, mask: readonly Wasm[] | null): CheckResult {
    switch (base.kind) {
      case "uniform": {
        const distance = this.#distance(base.scalar);
        return this.#run(distance, 0, this.#isAligned(distance));
      }
      case "affine": {
        const distance = this.#distance(base.base);
        if (base.stride % this.#stretch.align !== 0) break;
        return this.#run(distance, base.stride, this.#isAligned(distance));
      }
      case "indexed":
        if (base.index.kind === "affine") {
          const stride = base.index.stride * base.scale;
          if (stride % this.#stretch.align === 0) return this.#indexRun(base, base.index, stride);
        } else if (this.#isSimple(base)) return this.#indexed(base, mask);
    }
    return this.#each(vectorOf(base, this.#chunk.quads), mask);
  }

  /**
   * How many times the stretch is within reach (i32), if `step` (i64) is added to the base after each; null where that is not
   * found out.
   */
  rounds(base: Value, mask: readonly Wasm[] | null, step: Wasm): Wasm | null {
    const { ok } = this.of(base, mask);
    const isConstant = step.kind === "const" && step.ty === "i64" && step.value === 0n;
    if (isConstant) return where(ok, wasm.i32(maxRounds));
    // A known distance says nothing of a base that changes.
    const ends = this.#isKnown ? null : this.#endsOf(base);
    if (ends === null) return null;
    const room = minus(minus(this.#reach.bytes, i64(this.#stretch.size)), ends.last);
    const good = both(ok, isMultiple(low(step), this.#stretch.align));
    return wasm.call(roundsWithin, good, ends.first, room, step);
  }

  /** How far the first and the last of the lanes are from the beginning, where one follows from the other. */
  #endsOf(base: Value): { readonly first: Wasm; readonly last: Wasm } | null {
    const between = (distance: Wasm, stride: number) => {
      const span = stride * (this.#chunk.lanes - 1);
      return { first: plus(distance, i64(Math.min(span, 0))), last: plus(distance, i64(Math.max(span, 0))) };
    };
    if (base.kind === "uniform") return between(this.#distance(base.scalar), 0);
    if (base.kind === "affine") return between(this.#distance(base.base), base.stride);
    // To find the first and the last of all lanes takes longer than a few rounds gain.
    if (base.kind !== "indexed" || base.index.kind !== "affine") return null;
    const { scale, signed } = base;
    const distance = plus(this.#distance(base.base), times(extended(base.index.base, signed), scale));
    return between(distance, base.index.stride * scale);
  }

  get #isKnown(): boolean {
    return this.#ahead !== null;
  }

  #once(value: Wasm): Wasm {
    return this.#reach.once?.(value) ?? value;
  }

  /** What follows from the reach and a known distance alone. */
  #fixed(value: Wasm): Wasm {
    return this.#isKnown ? this.#once(value) : value;
  }

  /** How far the stretch is from the beginning of the reach, for a base without index. */
  #distance(base: Wasm): Wasm {
    const { offset } = this.#stretch;
    if (this.#ahead !== null) return this.#once(plus(this.#ahead, i64(offset)));
    const { from } = this.#reach;
    if (base.ty === "i64") return minus(plus(base, i64(offset)), from);
    return minus(extended(plus(base, wasm.i32(offset))), from);
  }

  /** Whether what is at a distance is aligned. */
  #isAligned(distance: Wasm): Wasm {
    const { align } = this.#stretch;
    const { from, align: ofReach = 1 } = this.#reach;
    return isMultiple(low(ofReach % align === 0 ? distance : plus(distance, from)), align);
  }

  /** The byte of memory at a distance from the beginning. */
  #placeOf(distance: Wasm): Wasm {
    const { from, delta } = this.#reach;
    return plus(low(distance), this.#once(plus(low(from), delta)));
  }

  /** `fixed`: what else must hold, and follows from the reach and a known distance; `rest`: and what does not. */
  #run(distance: Wasm, stride: number, fixed: Wasm, rest = wasm.i32(1)): CheckResult {
    const { bytes, lane = 0 } = this.#reach;
    const span = stride * (this.#chunk.lanes - 1);
    const all = this.#stretch.size + Math.abs(span);
    const lowest = plus(distance, i64(Math.min(span, 0)));
    const fits = atLeast(bytes, i64(all));
    const inside = this.#isKnown
      ? below(lowest, this.#once(where(both(fits, fixed), plus(bytes, i64(1 - all)))))
      : this.#isBelow(lowest, fits, minus(bytes, i64(all)), fixed);
    return {
      places: this.#runPlaces(this.#placeOf(lowest), stride, lane),
      ok: both(stride === 0 ? this.#fixed(inside) : inside, rest),
      rescue: this.#rescue(distance, stride, both(fixed, rest)),
    };
  }

  /** Whether a distance is at most `most`, and `aligned`; with the rest of a division on top the two are one. */
  #isBelow(distance: Wasm, fits: Wasm, most: Wasm, aligned: Wasm): Wasm {
    const bits = Math.log2(this.#stretch.align);
    if (aligned.kind === "const" || (this.#reach.align ?? 1) % this.#stretch.align !== 0) {
      return both(below(distance, this.#once(where(fits, plus(most, i64(1))))), aligned);
    }
    const count = this.#once(where(fits, plus(shifted(most, bits), i64(1))));
    return below(wasm.op("i64.rotr", distance, i64(bits)), count);
  }

  #runPlaces(at: Wasm, stride: number, lane: number): LaneBytes {
    if (lane === 0) return stride === 0 ? { kind: "one", at } : { kind: "run", at, stride };
    // With stacks `at` is the first lane's place, wherever the others are.
    const first = plus(at, wasm.i32(stride < 0 ? -stride * (this.#chunk.lanes - 1) : 0));
    const total = stride + lane;
    return { kind: "run", at: plus(first, wasm.i32(total < 0 ? total * (this.#chunk.lanes - 1) : 0)), stride: total };
  }

  #rescue(distance: Wasm, stride: number, condition: Wasm): Rescue | null {
    const { bytes, lane = 0 } = this.#reach;
    if (stride === 0 || lane !== 0) return null;
    const span = stride * (this.#chunk.lanes - 1);
    const isNear = Math.abs(span) + this.#stretch.size <= margin;
    const lowest = plus(distance, i64(Math.min(span, 0)));
    const good = isNear ? condition : both(condition, atLeast(lowest, i64(-maxDistanceBefore)));
    return { condition: good, distance, stride, room: minus(bytes, i64(this.#stretch.size)), isNear };
  }

  /** An index that counts with the lanes, and must not pass the end of its 32 bits. */
  #indexRun(base: Indexed, index: Affine, stride: number): CheckResult {
    const { scale, signed } = base;
    const start = this.#distance(base.base);
    const distance = plus(start, times(extended(index.base, signed), scale));
    const isScaled = scale % this.#stretch.align === 0;
    const fixed = isScaled ? this.#isAligned(start) : wasm.i32(1);
    const rest = isScaled ? wasm.i32(1) : this.#isAligned(distance);
    const steps = (this.#chunk.lanes - 1) * index.stride;
    const [least, most] = signed ? [-(2 ** 31), 2 ** 31 - 1] : [0, 2 ** 32 - 1];
    if (index.stride > 0 && scale > 0 && this.#isKnown) {
      // An index beyond the last that can count on is out of reach: there is nothing to look at.
      const beyond = atLeast(plus(start, i64((most - steps + 1) * scale)), this.#reach.bytes);
      return this.#run(distance, stride, both(fixed, beyond), rest);
    }
    const counts =
      index.stride > 0
        ? wasm.op(signed ? "i32.le_s" : "i32.le_u", index.base, wasm.i32(most - steps))
        : wasm.op(signed ? "i32.ge_s" : "i32.ge_u", index.base, wasm.i32(least - steps));
    return this.#run(distance, stride, fixed, both(rest, counts));
  }

  #isSimple({ scale }: Indexed): boolean {
    return scale > 0 && Number.isInteger(Math.log2(scale)) && scale >= this.#stretch.align;
  }

  /** Any index: its least and its greatest good value are found once. */
  #indexed(base: Indexed, mask: readonly Wasm[] | null): CheckResult {
    const index = vectorOf(base.index, this.#chunk.quads);
    const shift = Math.log2(base.scale);
    const before = this.#distance(base.base);
    const [lowest, highest] = base.signed ? [-(2n ** 31n), 2n ** 31n - 1n] : [0n, 2n ** 32n - 1n];
    const least = clamped(minus(i64(0), shifted(before, shift)), "least", lowest);
    const room = minus(minus(this.#reach.bytes, i64(this.#stretch.size)), before);
    const most = clamped(shifted(room, shift), "most", highest);
    const start = wasm.op("i32x4.splat", this.#fixed(low(least)));
    const range = wasm.op("i32x4.splat", this.#fixed(low(minus(most, least))));
    const any = this.#fixed(both(atLeast(most, least), this.#isAligned(before)));
    const origin = wasm.op("i32x4.splat", this.#fixed(this.#placeOf(before)));
    const beyond = index.quads.map(([q]) => wasm.op("i32x4.sub", q!, start));
    const quads = index.quads.map(([q], i) => {
      const scaled = shift === 0 ? q! : wasm.op("i32x4.shl", q!, wasm.i32(shift));
      return wasm.op("i32x4.add", this.#laneOrigin(origin, i), scaled);
    });
    return { places: { kind: "each", quads }, ok: both(allWithin(beyond, range, mask), any), rescue: null };
  }

  /** Any addresses. */
  #each(addresses: Vector, mask: readonly Wasm[] | null): CheckResult {
    const { offset, size, align } = this.#stretch;
    const { from, bytes } = this.#reach;
    const splat = (value: Wasm): Wasm => wasm.op("i32x4.splat", this.#once(value));
    const start = splat(low(from));
    const range = splat(low(minus(bytes, i64(size))));
    const high = splat(low(wasm.op("i64.shr_u", from, i64(32))));
    const delta = splat(this.#reach.delta);
    const wide = addresses.ty === "i64";
    const beyond: Wasm[] = [];
    const wrong: Wasm[] = [];
    const quads = addresses.quads.map((quad, i) => {
      const moved = wide
        ? quad.map((half) => wasm.op("i64x2.add", half, wasm.i64x2(BigInt(offset))))
        : [wasm.op("i32x4.add", quad[0]!, wasm.i32x4(offset))];
      const words = wide ? wasm.shuffle32(moved[0]!, moved[1]!, [0, 2, 4, 6]) : moved[0]!;
      const upper = wide ? wasm.shuffle32(moved[0]!, moved[1]!, [1, 3, 5, 7]) : wasm.i32x4(0);
      beyond.push(wasm.op("i32x4.sub", words, start));
      // Bits that should not be there: any of the upper half that are others than those of the reach, and below the alignment.
      const rest = wasm.op("v128.and", words, wasm.i32x4(align - 1));
      const other = wasm.op("v128.xor", upper, high);
      wrong.push(align === 1 ? other : wasm.op("v128.or", other, rest));
      return wasm.op("i32x4.add", this.#laneOrigin(delta, i), words);
    });
    const isWrong = anyOf(inMask(wrong, mask));
    const within = both(allWithin(beyond, range, mask), this.#once(atLeast(bytes, i64(size))));
    return { places: { kind: "each", quads }, ok: both(within, wasm.op("i32.eqz", isWrong)), rescue: null };
  }

  /** What is added to the places of four lanes. */
  #laneOrigin(origin: Wasm, quad: number): Wasm {
    const { lane = 0 } = this.#reach;
    if (lane === 0) return origin;
    return wasm.op("i32x4.add", origin, wasm.lanes([0, 1, 2, 3].map((l) => lane * (4 * quad + l))));
  }
}

/**
 * How often something that is `first` bytes behind the beginning and `room` before the end may be moved on by `step`: once more
 * than it stays there.
 */
const roundsWithin: LibraryFunction = {
  name: "roundsWithin",
  params: ["i32", "i64", "i64", "i64"],
  result: "i32",
  body: (ok, first, room, step) => {
    const isUp = wasm.op("i64.gt_s", step!, wasm.i64(0n));
    const size = wasm.select(isUp, step!, wasm.op("i64.sub", wasm.i64(0n), step!));
    const isStill = wasm.op("i64.eqz", step!);
    const times = wasm.op("i64.div_u", wasm.select(isUp, room!, first!), wasm.select(isStill, wasm.i64(1n), size));
    const most = wasm.i64(BigInt(maxRounds - 1));
    const fewer = wasm.op("i32.and", wasm.op("i64.lt_u", times, most), wasm.op("i32.eqz", isStill));
    const rounds = wasm.op("i32.add", wasm.op("i32.wrap_i64", wasm.select(fewer, times, most)), wasm.i32(1));
    return wasm.select(ok!, rounds, wasm.i32(0));
  },
};

/** Words of the lanes in a mask, and 0 for others. */
const inMask = (words: readonly Wasm[], mask: readonly Wasm[] | null): readonly Wasm[] =>
  mask === null ? words : words.map((part, i) => wasm.op("v128.and", part, mask[i]!));

/** 1 where no unsigned word of a lane in the mask is above a limit. */
function allWithin(words: readonly Wasm[], limit: Wasm, mask: readonly Wasm[] | null): Wasm {
  const most = inMask(words, mask).reduce((a, b) => wasm.op("i32x4.max_u", a, b));
  return wasm.op("i32.eqz", wasm.op("v128.any_true", wasm.op("i32x4.gt_u", most, limit)));
}

/** Whether the first and the last of some lanes are within a stretch: then those between them are. */
export const activeWithin: LibraryFunction = {
  name: "activeWithin",
  params: ["i32", "i64", "i64", "i64"],
  result: "i32",
  body: (bits, distance, stride, room) => {
    const isWithin = (lane: Wasm): Wasm => {
      const at = wasm.op("i64.add", distance!, wasm.op("i64.mul", extended(lane), stride!));
      return wasm.op("i64.le_u", at, room!);
    };
    const first = isWithin(wasm.op("i32.ctz", bits!));
    const last = isWithin(wasm.op("i32.sub", wasm.i32(31), wasm.op("i32.clz", bits!)));
    return wasm.op("i32.and", wasm.op("i32.and", first, last), wasm.op("i64.ge_s", room!, wasm.i64(0n)));
  },
};
