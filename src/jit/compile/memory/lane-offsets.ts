import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { Chunk } from "../emit/chunk.ts";
import type { Mask } from "../lanes/mask.ts";
import type { LaneBytes } from "./bounds-check.ts";

/** Where an access is, as `CheckedAccess` says. */
export interface AccessOffset {
  readonly places: LaneBytes;
  readonly offset: number;
  /** Whether the places of four lanes may well lie one behind the other, though nothing says so. */
  readonly mayAdjoin: boolean;
}

/** Pushes the place of a lane, and returns what is to be added to it. */
export type PushOffset = (lane: number) => number;

/** What is done with the places of four lanes. */
export interface QuadMoves {
  /** Lane by lane. */
  readonly lanes: (quad: number, push: PushOffset) => void;
  /** At once, where the first element is at `at` and the others are behind it, each so many bytes from the last. */
  readonly adjoining: { readonly bytes: number; readonly move: (quad: number, at: Wasm) => void } | null;
}

/** Bytes in the context that belong to each of four lanes: as many as an access has. */
const spareBytes = 32;

/** Hands out the places of lanes, without a branch for each: those that are not active get one where nobody looks. */
export class LaneOffsets {
  readonly #chunk: Chunk;
  readonly #spare: Wasm;

  /** `spare`: 128 bytes of memory. */
  constructor(chunk: Chunk, spare: Wasm) {
    this.#chunk = chunk;
    const all = wasm.op("i32x4.splat", spare);
    this.#spare = wasm.op("i32x4.add", all, wasm.lanes([0, 1, 2, 3].map((lane) => lane * spareBytes)));
  }

  /** Writes moves for each four lanes of which any is in the mask. */
  eachQuad({ places, offset, mayAdjoin }: AccessOffset, mask: Mask, { lanes, adjoining }: QuadMoves): void {
    const { writer, quads } = this.#chunk;
    for (let q = 0; q < quads; q++) {
      const laneByLane = (): void => this.#laneByLane(places, offset, mask, q, lanes);
      const move = (): void => {
        if (places.kind !== "each" || !mayAdjoin || adjoining === null) laneByLane();
        else {
          // Lanes between others that are active are near them: they do no harm.
          writer.value(adjoin(places.quads[q]!, adjoining.bytes));
          writer.if(() => adjoining.move(q, wasm.lane("i32x4.extract_lane", 0, places.quads[q]!)), laneByLane);
        }
      };
      if (mask === null) move();
      else {
        writer.value(wasm.op("v128.any_true", mask[q]!));
        writer.if(move);
      }
    }
  }

  /** The places of four lanes; of those that are not in the mask, where they do no harm. */
  safe(places: Wasm, mask: Wasm): Wasm {
    return wasm.blend(mask, places, this.#spare);
  }

  #laneByLane(places: LaneBytes, offset: number, mask: Mask, q: number, lanes: QuadMoves["lanes"]): void {
    if (mask === null) {
      lanes(q, this.#pushPlace(places, offset));
      return;
    }
    const { writer } = this.#chunk;
    const local = writer.local("v128");
    writer.assign([{ local, value: this.safe(this.#quadOf(places, offset, q), mask[q]!) }]);
    lanes(q, (lane) => {
      writer.value(wasm.lane("i32x4.extract_lane", lane & 3, wasm.local("v128", local)));
      return 0;
    });
    writer.release(local);
  }

  #pushPlace(places: LaneBytes, offset: number): PushOffset {
    const { writer } = this.#chunk;
    return (lane) => {
      if (places.kind === "each") {
        writer.value(wasm.lane("i32x4.extract_lane", lane & 3, places.quads[lane >> 2]!));
        return offset;
      }
      writer.value(places.at);
      return offset + this.#further(places, lane);
    };
  }

  /** Where the lanes of a mask are, for all that have a place of their own; and what is to be added. */
  allOf(places: Each, offset: number, mask: Mask): { readonly quads: readonly Wasm[]; readonly offset: number } {
    if (mask === null) return { quads: places.quads, offset };
    return { quads: mask.map((lanes, q) => this.safe(this.#quadOf(places, offset, q), lanes)), offset: 0 };
  }

  #quadOf(places: LaneBytes, offset: number, q: number): Wasm {
    if (places.kind === "each") {
      return offset === 0 ? places.quads[q]! : wasm.op("i32x4.add", places.quads[q]!, wasm.i32x4(offset));
    }
    const further = [0, 1, 2, 3].map((lane) => (offset + this.#further(places, 4 * q + lane)) | 0);
    return wasm.op("i32x4.add", wasm.op("i32x4.splat", places.at), wasm.lanes(further));
  }

  /** How far a lane's place is from `at`. */
  #further(places: Exclude<LaneBytes, { kind: "each" }>, lane: number): number {
    if (places.kind === "one") return 0;
    const { stride } = places;
    return stride < 0 ? (lane - this.#chunk.lanes + 1) * stride : lane * stride;
  }
}

type Each = Extract<LaneBytes, { kind: "each" }>;

/** Whether four places are so many bytes from each other. */
function adjoin(places: Wasm, bytes: number): Wasm {
  const first = wasm.shuffle32(places, places, [0, 0, 0, 0]);
  const expected = wasm.op("i32x4.add", first, wasm.lanes([0, bytes, 2 * bytes, 3 * bytes]));
  return wasm.op("i32x4.all_true", wasm.op("i32x4.eq", places, expected));
}
