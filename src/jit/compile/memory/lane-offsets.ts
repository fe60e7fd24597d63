import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { LanePattern } from "../analysis/access/lane-patterns.ts";
import type { Chunk } from "../emit/chunk.ts";
import { isAll, isNone, knownLanesIn, type Mask } from "../lanes/mask.ts";
import type { ByteOffsets } from "./bounds-check.ts";

/** The byte offsets of an access, as in `CheckedAccess`. */
export interface AccessOffsets {
  readonly offsets: ByteOffsets;
  readonly immediate: number;
  /** Whether the elements of a quad may well be contiguous, though no analysis proves it. */
  readonly mayAdjoin: boolean;
  /** How the offsets of the lanes lie to each other, where that is known and each has one of its own. */
  readonly pattern: LanePattern | null;
}

/** Pushes the byte offset of a lane; returns an immediate to be added. */
export type PushOffset = (lane: number) => number;

/** How the elements of a quad are moved. */
export interface QuadMoves {
  /** Lane by lane. */
  readonly lanes: (quad: number, push: PushOffset) => void;
  /** One lane without the others of its quad. */
  readonly lane: (lane: number, push: PushOffset) => void;
  /** The same, where each lane has a place of its own, given all in one vector; null: as `lanes` does. */
  readonly places: ((quad: number, places: Wasm) => void) | null;
  /**
   * All at once if they are contiguous, `bytes` from one to the next, from `plus` bytes beyond `at` on; null if there
   * is no such way.
   */
  readonly adjoining: { readonly bytes: number; readonly move: (quad: number, at: Wasm, plus: number) => void } | null;
}

/** Spare bytes in the context for each lane of a quad: as many as the largest access has. */
const spareBytes = 32;

/** Gives each lane its byte offset without a branch: inactive lanes get one in spare bytes. */
export class LaneOffsets {
  readonly #chunk: Chunk;
  readonly #spare: Wasm;

  /** `spare`: the byte of memory where 128 spare bytes begin. */
  constructor(chunk: Chunk, spare: Wasm) {
    this.#chunk = chunk;
    const all = wasm.op("i32x4.splat", spare);
    this.#spare = wasm.op("i32x4.add", all, wasm.lanes([0, 1, 2, 3].map((lane) => lane * spareBytes)));
  }

  /** Writes moves for each quad with any lane in the mask. */
  eachQuad(
    { offsets, immediate, mayAdjoin, pattern }: AccessOffsets,
    mask: Mask,
    { lanes, lane: moveLane, places, adjoining }: QuadMoves,
  ): void {
    const { writer, quads } = this.#chunk;
    for (let q = 0; q < quads; q++) {
      if (mask !== null && isNone(mask[q]!)) continue;
      const known = mask === null ? null : knownLanesIn(mask[q]!);
      if (known !== null && known.length < 4) {
        for (const lane of known) moveLane(4 * q + lane, this.pushOffset(offsets, immediate));
        continue;
      }
      const shape = offsets.kind === "pattern" ? offsets : pattern;
      const run = adjoining !== null && shape !== null && isRunIn(shape, q, adjoining.bytes) ? adjoining : null;
      if (run !== null && offsets.kind === "pattern") {
        run.move(q, offsets.at, offsets.distances[4 * q]!);
        continue;
      }
      if (pattern !== null && mask === null && places === null) {
        this.#inPattern(q, { offsets, immediate, pattern }, lanes, run);
        continue;
      }
      const laneByLane = (): void => {
        const isEach = offsets.kind === "each" || offsets.kind === "pattern";
        if (places === null || !isEach) this.#laneByLane(offsets, immediate, mask, q, lanes);
        else {
          const own = this.#quadOf(offsets, immediate, q);
          places(q, mask === null ? own : this.safe(own, mask[q]!));
        }
      };
      const move = (): void => {
        if (offsets.kind !== "each" || adjoining === null) laneByLane();
        else if (run !== null) run.move(q, wasm.lane("i32x4.extract_lane", 0, offsets.quads[q]!), 0);
        else if (!mayAdjoin || pattern !== null) laneByLane();
        else {
          // Inactive lanes between active ones are near them, and do no harm.
          writer.value(adjoin(offsets.quads[q]!, adjoining.bytes));
          writer.if(() => adjoining.move(q, wasm.lane("i32x4.extract_lane", 0, offsets.quads[q]!), 0), laneByLane);
        }
      };
      if (mask === null || isAll(mask[q]!)) move();
      else {
        writer.value(wasm.op("v128.any_true", mask[q]!));
        writer.if(move);
      }
    }
  }

  /** A quad of which is known how its lanes lie to each other. `run`: it is contiguous. */
  #inPattern(
    q: number,
    { offsets, immediate, pattern }: Pick<AccessOffsets, "offsets" | "immediate"> & { readonly pattern: LanePattern },
    lanes: QuadMoves["lanes"],
    run: QuadMoves["adjoining"],
  ): void {
    const first = 4 * q;
    const at = this.offsetIn(pattern, offsets, first);
    if (run !== null) {
      run.move(q, at, pattern.distances[first]!);
      return;
    }
    lanes(q, (lane) => {
      this.#chunk.writer.value(at);
      return immediate + pattern.distances[lane]!;
    });
  }

  /** The offset of the lane from which others in a pattern are known. */
  offsetIn(pattern: LanePattern, offsets: ByteOffsets, lane: number): Wasm {
    if (offsets.kind !== "each") throw new Error("only where each lane has an offset of its own they have a pattern");
    const anchor = pattern.anchors[lane]!;
    return wasm.lane("i32x4.extract_lane", anchor & 3, offsets.quads[anchor >> 2]!);
  }

  /** The offsets of a quad; those of lanes outside the mask are in the spare bytes. */
  safe(offsets: Wasm, mask: Wasm): Wasm {
    return wasm.blend(mask, offsets, this.#spare);
  }

  #laneByLane(offsets: ByteOffsets, immediate: number, mask: Mask, q: number, lanes: QuadMoves["lanes"]): void {
    if (mask === null || isAll(mask[q]!)) {
      lanes(q, this.pushOffset(offsets, immediate));
      return;
    }
    const { writer } = this.#chunk;
    const local = writer.local("v128");
    writer.assign([{ local, value: this.safe(this.#quadOf(offsets, immediate, q), mask[q]!) }]);
    lanes(q, (lane) => {
      writer.value(wasm.lane("i32x4.extract_lane", lane & 3, wasm.local("v128", local)));
      return 0;
    });
    writer.release(local);
  }

  /** How the offset of any lane is pushed. */
  pushOffset(offsets: ByteOffsets, immediate: number): PushOffset {
    const { writer } = this.#chunk;
    return (lane) => {
      if (offsets.kind === "each") {
        writer.value(wasm.lane("i32x4.extract_lane", lane & 3, offsets.quads[lane >> 2]!));
        return immediate;
      }
      writer.value(offsets.at);
      return immediate + this.distance(offsets, lane);
    };
  }

  /** The offsets of the lanes of a mask, and an immediate to be added. */
  allOf(offsets: Each, immediate: number, mask: Mask): { readonly quads: readonly Wasm[]; readonly immediate: number } {
    if (mask === null) return { quads: offsets.quads, immediate };
    return { quads: mask.map((lanes, q) => this.safe(this.#quadOf(offsets, immediate, q), lanes)), immediate: 0 };
  }

  /** The offsets of all lanes. */
  everyOf({ offsets, immediate }: Pick<AccessOffsets, "offsets" | "immediate">): { readonly quads: readonly Wasm[] } {
    return { quads: Array.from({ length: this.#chunk.quads }, (_, q) => this.#quadOf(offsets, immediate, q)) };
  }

  #quadOf(offsets: ByteOffsets, immediate: number, q: number): Wasm {
    if (offsets.kind === "each") {
      return immediate === 0 ? offsets.quads[q]! : wasm.op("i32x4.add", offsets.quads[q]!, wasm.i32x4(immediate));
    }
    const distances = [0, 1, 2, 3].map((lane) => (immediate + this.distance(offsets, 4 * q + lane)) | 0);
    return wasm.op("i32x4.add", wasm.op("i32x4.splat", offsets.at), wasm.lanes(distances));
  }

  /** The distance of a lane's offset from `at`. */
  distance(offsets: Exclude<ByteOffsets, { kind: "each" }>, lane: number): number {
    if (offsets.kind === "one") return 0;
    if (offsets.kind === "pattern") return offsets.distances[lane]!;
    const { stride } = offsets;
    return stride < 0 ? (lane - this.#chunk.lanes + 1) * stride : lane * stride;
  }
}

type Each = Extract<ByteOffsets, { kind: "each" }>;

/** Whether the lanes of a quad are `bytes` apart from each other. */
const isRunIn = ({ distances }: Pick<LanePattern, "distances">, q: number, bytes: number): boolean =>
  [1, 2, 3].every((lane) => distances[4 * q + lane]! - distances[4 * q]! === lane * bytes);

/** Whether four offsets are `bytes` apart from each other. */
function adjoin(offsets: Wasm, bytes: number): Wasm {
  const first = wasm.shuffle32(offsets, offsets, [0, 0, 0, 0]);
  const expected = wasm.op("i32x4.add", first, wasm.lanes([0, bytes, 2 * bytes, 3 * bytes]));
  return wasm.op("i32x4.all_true", wasm.op("i32x4.eq", offsets, expected));
}
