import type { Expr } from "../../../semantics/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { ByteRange } from "../analysis/access/access-groups.ts";
import type { Chunk } from "../emit/chunk.ts";
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
import { type Rows, type Value, type Vector, vectorOf } from "../lanes/value.ts";
import { allWithin, maxRounds, roundsWithin } from "./bounds-functions.ts";
import type { KnownObject } from "./known-object.ts";
import { placeholder } from "./placeholder.ts";
import { quadAddresses } from "./quad-addresses.ts";
import { rowOffsets } from "./row-offsets.ts";
import { withinObjects } from "./within-objects.ts";

/** The object that an access is expected to find. */
export interface ExpectedObject {
  readonly object: KnownObject;
  /**
   * The distance (i64) from the start of the object to the base of the address, or to that of an indexed address
   * without its index; null if unknown.
   */
  readonly baseDistance: Wasm | null;
}

/** The byte of memory (i32) where the range of each lane begins. */
export type ByteOffsets =
  /** The same for all lanes. */
  | { readonly kind: "one"; readonly at: Wasm }
  /** Lane l at `at + l * stride`; with a negative stride the last lane is at `at`. */
  | { readonly kind: "run"; readonly at: Wasm; readonly stride: number }
  /** Lane l at `at + distances[l]`, of which none is below 0; good in all lanes, active or not. */
  | { readonly kind: "pattern"; readonly at: Wasm; readonly distances: readonly number[] }
  /** One for each lane. Those of inactive lanes are unchecked. `byRow`: each quad is a scalar and known distances. */
  | { readonly kind: "each"; readonly quads: readonly Wasm[]; readonly byRow?: boolean };

/** An offset that all lanes share, as one for each lane. */
export const laneByLane = (offsets: ByteOffsets): ByteOffsets =>
  offsets.kind === "one" ? { kind: "run", at: offsets.at, stride: 0 } : offsets;

export interface CheckResult {
  readonly offsets: ByteOffsets;
  /** 1 if all active lanes access what lies within the object, aligned; else 0. */
  readonly ok: Wasm;
  /** If `ok` is about all lanes, active or not: a condition on the active lanes alone that will do as well. */
  readonly fallback: FallbackCheck | null;
}

/**
 * A condition on the active lanes alone: `condition`, and `distance + l * stride` within `0 .. room` for each of them.
 */
export interface FallbackCheck {
  readonly condition: Wasm;
  readonly distance: Wasm;
  readonly stride: number;
  readonly room: Wasm;
  /** Whether inactive lanes may take part: load like the others, or store what was there. */
  readonly inactiveMayAccess: boolean;
}

type Affine = Extract<Value, { kind: "affine" }>;
type Indexed = Extract<Value, { kind: "indexed" }>;

/** Bytes before and after every allocation that inactive lanes may access. */
export const margin = 256;

/** How far before an allocation memory is known to extend: no byte offset there is below 0. */
const maxDistanceBefore = 0x8000;

/**
 * The check of a chunk's accesses to one byte range relative to a base address; also computes where these bytes lie.
 */
export class BoundsCheck {
  readonly #chunk: Chunk;
  readonly #range: ByteRange;
  readonly #object: KnownObject;
  readonly #baseDistance: Wasm | null;
  readonly #others: readonly KnownObject[];

  /** `others`: objects that will do as well, if each lane has an address of its own. */
  constructor(
    chunk: Chunk,
    range: ByteRange,
    { object, baseDistance }: ExpectedObject,
    others: readonly ExpectedObject[] = [],
  ) {
    this.#chunk = chunk;
    this.#range = range;
    this.#object = object;
    this.#baseDistance = baseDistance;
    this.#others = others.map((other) => other.object);
  }

  /**
   * Declares what the check will compute from the object alone, to be computed where the function begins
   * (`KnownObject.once`). The code there is written before the check itself. So the check is made once with
   * placeholders of the address's shape, and the result is thrown away.
   */
  declareNeeds(base: Expr): void {
    this.of(placeholder(this.#chunk, base), null);
  }

  /** Checks the range at a base address. `mask`: the active lanes. */
  of(base: Value, mask: readonly Wasm[] | null): CheckResult {
    switch (base.kind) {
      case "uniform": {
        const distance = this.#distance(base.scalar);
        return this.#run(distance, 0, this.#isAligned(distance));
      }
      case "affine": {
        const distance = this.#distance(base.base);
        if (base.stride % this.#range.align !== 0) break;
        return this.#run(distance, base.stride, this.#isAligned(distance));
      }
      case "indexed":
        if (base.index.kind === "affine") {
          const stride = base.index.stride * base.scale;
          if (stride % this.#range.align === 0) return this.#indexRun(base, base.index, stride);
        } else if (this.#isSimple(base)) {
          const found = this.#indexed(base, mask);
          return base.index.kind === "rows" ? this.#indexRows(base, base.index, { found, mask }) : found;
        }
    }
    return this.#each(vectorOf(base, this.#chunk.quads), mask);
  }

  /**
   * The number of rounds (i32) for which the check passes if `step` (i64) is added to the base after each; null if that
   * cannot be computed.
   */
  rounds(base: Value, mask: readonly Wasm[] | null, step: Wasm): Wasm | null {
    const { ok } = this.of(base, mask);
    const isConstant = step.kind === "const" && step.ty === "i64" && step.value === 0n;
    if (isConstant) return where(ok, wasm.i32(maxRounds));
    // A distance that is computed once does not follow a base that changes.
    const ends = this.#isKnown ? null : this.#endsOf(base);
    if (ends === null) return null;
    const room = minus(minus(this.#object.bytes, i64(this.#range.size)), ends.last);
    const good = both(ok, isMultiple(low(step), this.#range.align));
    return wasm.call(roundsWithin, good, ends.first, room, step);
  }

  /**
   * The distances of the first and the last lane from the start of the object, if these follow from the first lane's
   * address.
   */
  #endsOf(base: Value): { readonly first: Wasm; readonly last: Wasm } | null {
    const between = (distance: Wasm, stride: number) => {
      const span = stride * (this.#chunk.lanes - 1);
      return { first: plus(distance, i64(Math.min(span, 0))), last: plus(distance, i64(Math.max(span, 0))) };
    };
    if (base.kind === "uniform") return between(this.#distance(base.scalar), 0);
    if (base.kind === "affine") return between(this.#distance(base.base), base.stride);
    // With an arbitrary index, finding the least and the greatest takes longer than a few rounds gain.
    if (base.kind !== "indexed" || base.index.kind !== "affine") return null;
    const { scale, signed } = base;
    const distance = plus(this.#distance(base.base), times(extended(base.index.base, signed), scale));
    return between(distance, base.index.stride * scale);
  }

  get #isKnown(): boolean {
    return this.#baseDistance !== null;
  }

  #once(value: Wasm): Wasm {
    return this.#object.once?.(value) ?? value;
  }

  /** A value that depends on the object and the base's distance alone: invariant if that distance is known. */
  #fixed(value: Wasm): Wasm {
    return this.#isKnown ? this.#once(value) : value;
  }

  /** The distance of the range from the start of the object, for a base without index. */
  #distance(base: Wasm): Wasm {
    const { offset } = this.#range;
    if (this.#baseDistance !== null) return this.#once(plus(this.#baseDistance, i64(offset)));
    const { from } = this.#object;
    if (base.ty === "i64") return minus(plus(base, i64(offset)), from);
    return minus(extended(plus(base, wasm.i32(offset))), from);
  }

  /** Whether the byte at a distance is aligned. */
  #isAligned(distance: Wasm): Wasm {
    const { align } = this.#range;
    const { from, align: objectAlign = 1 } = this.#object;
    return isMultiple(low(objectAlign % align === 0 ? distance : plus(distance, from)), align);
  }

  /** The byte of memory at a distance from the start of the object. */
  #offsetOf(distance: Wasm): Wasm {
    const { from, delta } = this.#object;
    return plus(low(distance), this.#once(plus(low(from), delta)));
  }

  /**
   * Checks a run of lanes. `fixed`: a further condition that depends on the object and a known distance alone; `rest`:
   * one that does not.
   */
  #run(distance: Wasm, stride: number, fixed: Wasm, rest = wasm.i32(1), lanes = this.#chunk.lanes): CheckResult {
    const { bytes, lane = 0 } = this.#object;
    const span = stride * (lanes - 1);
    const all = this.#range.size + Math.abs(span);
    const lowest = plus(distance, i64(Math.min(span, 0)));
    const fits = atLeast(bytes, i64(all));
    const inside = this.#isKnown
      ? below(lowest, this.#once(where(both(fits, fixed), plus(bytes, i64(1 - all)))))
      : this.#isBelow(lowest, fits, minus(bytes, i64(all)), fixed);
    return {
      offsets: this.#runOffsets(this.#offsetOf(lowest), stride, lane),
      ok: both(stride === 0 ? this.#fixed(inside) : inside, rest),
      fallback: this.#fallback(distance, stride, both(fixed, rest)),
    };
  }

  /**
   * Whether a distance is at most `most`, and `aligned`. Rotating the bits below the alignment to the top makes the two
   * one comparison.
   */
  #isBelow(distance: Wasm, fits: Wasm, most: Wasm, aligned: Wasm): Wasm {
    const bits = Math.log2(this.#range.align);
    if (aligned.kind === "const" || (this.#object.align ?? 1) % this.#range.align !== 0) {
      return both(below(distance, this.#once(where(fits, plus(most, i64(1))))), aligned);
    }
    const count = this.#once(where(fits, plus(shifted(most, bits), i64(1))));
    return below(wasm.op("i64.rotr", distance, i64(bits)), count);
  }

  #runOffsets(at: Wasm, stride: number, lane: number): ByteOffsets {
    if (lane === 0 || this.#chunk.lanes === 1) return stride === 0 ? { kind: "one", at } : { kind: "run", at, stride };
    // In stacks `at` is the first lane's offset, wherever the others are.
    const first = plus(at, wasm.i32(stride < 0 ? -stride * (this.#chunk.lanes - 1) : 0));
    const total = stride + lane;
    return { kind: "run", at: plus(first, wasm.i32(total < 0 ? total * (this.#chunk.lanes - 1) : 0)), stride: total };
  }

  #fallback(distance: Wasm, stride: number, condition: Wasm): FallbackCheck | null {
    const { bytes, lane = 0 } = this.#object;
    if (stride === 0 || lane !== 0) return null;
    const span = stride * (this.#chunk.lanes - 1);
    const inactiveMayAccess = Math.abs(span) + this.#range.size <= margin;
    const lowest = plus(distance, i64(Math.min(span, 0)));
    const good = inactiveMayAccess ? condition : both(condition, atLeast(lowest, i64(-maxDistanceBefore)));
    return { condition: good, distance, stride, room: minus(bytes, i64(this.#range.size)), inactiveMayAccess };
  }

  /** Checks an affine index, which must not wrap around its 32 bits. */
  #indexRun(base: Indexed, index: Affine, stride: number, lanes = this.#chunk.lanes): CheckResult {
    const { scale, signed } = base;
    const start = this.#distance(base.base);
    const distance = plus(start, times(extended(index.base, signed), scale));
    const isScaled = scale % this.#range.align === 0;
    const fixed = isScaled ? this.#isAligned(start) : wasm.i32(1);
    const rest = isScaled ? wasm.i32(1) : this.#isAligned(distance);
    const steps = (lanes - 1) * index.stride;
    const [least, most] = signed ? [-(2 ** 31), 2 ** 31 - 1] : [0, 2 ** 32 - 1];
    if (index.stride > 0 && scale > 0 && this.#isKnown) {
      // An index that would wrap is beyond the object: nothing needs to be checked.
      const beyond = atLeast(plus(start, i64((most - steps + 1) * scale)), this.#object.bytes);
      return this.#run(distance, stride, both(fixed, beyond), rest, lanes);
    }
    const staysInRange =
      index.stride > 0
        ? wasm.op(signed ? "i32.le_s" : "i32.le_u", index.base, wasm.i32(most - steps))
        : wasm.op(signed ? "i32.ge_s" : "i32.ge_u", index.base, wasm.i32(least - steps));
    return this.#run(distance, stride, fixed, both(rest, staysInRange), lanes);
  }

  /**
   * Checks an index that is affine in each row: by the ends of the rows first, then as lanes are (`found`).
   */
  #indexRows(
    base: Indexed,
    { bases, stride, length }: Rows,
    { found, mask }: { readonly found: CheckResult; readonly mask: readonly Wasm[] | null },
  ): CheckResult {
    const step = stride * base.scale;
    // Copies of an object, one for each lane, do not lie in rows.
    if (step <= 0 || step % this.#range.align !== 0 || this.#object.lane !== undefined) return found;
    const affine = { kind: "affine", ty: "i32", stride } as const;
    const runs = bases.map((first) => this.#indexRun(base, { ...affine, base: first }, step, length));
    const quads = runs.flatMap(({ offsets }) => (offsets.kind === "run" ? rowOffsets(offsets.at, step, length) : []));
    const whole = runs.map(({ ok }) => ok).reduce(both);
    const ok = mask === null ? whole : wasm.if(whole, wasm.i32(1), found.ok);
    return { ...found, offsets: { kind: "each", quads: quads.slice(0, this.#chunk.quads), byRow: true }, ok };
  }

  #isSimple({ scale }: Indexed): boolean {
    return scale > 0 && Number.isInteger(Math.log2(scale)) && scale >= this.#range.align;
  }

  /** Checks an arbitrary index of each lane against the least and the greatest good one, which are invariant. */
  #indexed(base: Indexed, mask: readonly Wasm[] | null): CheckResult {
    const index = vectorOf(base.index, this.#chunk.quads);
    const shift = Math.log2(base.scale);
    const distance = this.#distance(base.base);
    const [lowest, highest] = base.signed ? [-(2n ** 31n), 2n ** 31n - 1n] : [0n, 2n ** 32n - 1n];
    const least = clamped(minus(i64(0), shifted(distance, shift)), "least", lowest);
    const room = minus(minus(this.#object.bytes, i64(this.#range.size)), distance);
    const most = clamped(shifted(room, shift), "most", highest);
    const start = wasm.op("i32x4.splat", this.#fixed(low(least)));
    const range = wasm.op("i32x4.splat", this.#fixed(low(minus(most, least))));
    const any = this.#fixed(both(atLeast(most, least), this.#isAligned(distance)));
    const origin = wasm.op("i32x4.splat", this.#fixed(this.#offsetOf(distance)));
    const beyond = index.quads.map(([q]) => wasm.op("i32x4.sub", q!, start));
    const quads = index.quads.map(([q], i) => {
      const scaled = shift === 0 ? q! : wasm.op("i32x4.shl", q!, wasm.i32(shift));
      return wasm.op("i32x4.add", this.#laneOrigin(origin, i), scaled);
    });
    return { offsets: { kind: "each", quads }, ok: both(allWithin(beyond, range, mask), any), fallback: null };
  }

  /** Checks arbitrary addresses, each lane's by itself. */
  #each(addresses: Vector, mask: readonly Wasm[] | null): CheckResult {
    const { offset, align } = this.#range;
    const delta = wasm.op("i32x4.splat", this.#once(this.#object.delta));
    const quads = quadAddresses(addresses, offset, align);
    const ok = withinObjects(quads, this.#range.size, [this.#object, ...this.#others], mask);
    const offsets = quads.map(({ words }, i) => wasm.op("i32x4.add", this.#laneOrigin(delta, i), words));
    return { offsets: { kind: "each", quads: offsets }, ok, fallback: null };
  }

  /** The origin for the lanes of a quad, each of which may have a copy of the object. */
  #laneOrigin(origin: Wasm, quad: number): Wasm {
    const { lane = 0 } = this.#object;
    if (lane === 0) return origin;
    return wasm.op("i32x4.add", origin, wasm.lanes([0, 1, 2, 3].map((l) => lane * (4 * quad + l))));
  }
}
