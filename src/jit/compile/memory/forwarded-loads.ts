import type { ForwardedWords, OpOf } from "../../../ir/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { Chunk } from "../emit/chunk.ts";
import { knownLanesOf, type Mask } from "../lanes/mask.ts";
import { type CheckedAccess, isAlwaysGood } from "./checked-access.ts";
import type { LaneOffsets } from "./lane-offsets.ts";
import type { VectorMoves } from "./vector-moves.ts";

/** Loads of words that registers hold, in the code for converged lanes: others find them in memory. */
export class ForwardedLoads {
  readonly #chunk: Chunk;
  readonly #moves: VectorMoves;
  readonly #laneOffsets: LaneOffsets;

  constructor(chunk: Chunk, moves: VectorMoves, laneOffsets: LaneOffsets) {
    this.#chunk = chunk;
    this.#moves = moves;
    this.#laneOffsets = laneOffsets;
  }

  /** Puts the words of the lanes of a mask into the locals of their quads; false if they have to be loaded. */
  load({ access, forwarded }: OpOf<"load">, checked: CheckedAccess, into: readonly number[], mask: Mask): boolean {
    if (forwarded === undefined || !(this.#chunk.converged || this.#chunk.isConverted)) return false;
    const { quads, writer } = this.#chunk;
    const active = new Set(mask === null ? Array.from({ length: 4 * quads }, (_, l) => l) : knownLanesOf(mask));
    const isInChunk = ([l, word]: readonly [number, { readonly lane: number } | null]): boolean =>
      !active.has(l) || word === null || word.lane < 4 * quads;
    if (active.size === 0 || !isAlwaysGood(checked) || ![...forwarded.lanes.entries()].every(isInChunk)) return false;
    const isLoaded = (lane: number): boolean => active.has(lane) && forwarded.lanes[lane] === null;
    const whole: Wasm[] = [];
    const single: number[] = [];
    into.forEach((local, q) => {
      const lanes = [0, 1, 2, 3].map((l) => 4 * q + l);
      const value = this.#shuffled(forwarded, lanes, active);
      if (value !== null) {
        writer.assign([{ local, value }]);
        single.push(...lanes.filter(isLoaded));
      }
      whole.push(wasm.lanes(lanes.map((l) => (value === null && isLoaded(l) ? -1 : 0))));
    });
    this.#moves.load(access, checked, [into], whole);
    const push = this.#laneOffsets.pushOffset(checked.offsets, checked.immediate);
    for (const lane of single) {
      const local = into[lane >> 2]!;
      // The address goes below the vector on the stack.
      const at = push(lane);
      writer.get(local);
      writer.memory("v128.load32_lane", 4, at, lane & 3);
      writer.set(local);
    }
    return true;
  }

  /** The words of a quad's lanes that registers hold; null if they hold none. */
  #shuffled({ sources, lanes }: ForwardedWords, quad: readonly number[], active: ReadonlySet<number>): Wasm | null {
    const words = quad.map((lane) => (active.has(lane) ? lanes[lane]! : null));
    const vectors: { readonly source: number; readonly quad: number }[] = [];
    const places = words.map((word) => {
      if (word === null) return null;
      const { source, lane } = word;
      let at = vectors.findIndex((v) => v.source === source && v.quad === lane >> 2);
      if (at < 0) at = vectors.push({ source, quad: lane >> 2 }) - 1;
      return 4 * at + (lane & 3);
    });
    if (vectors.length === 0) return null;
    const [first, second] = vectors.map((v) => this.#chunk.vector(sources[v.source]!).quads[v.quad]![0]!);
    if (places.every((place, l) => place === null || place === l)) return first!;
    const [a, b, c, d] = places.map((place, l) => place ?? l);
    return wasm.shuffle32(first!, second ?? first!, [a!, b!, c!, d!]);
  }
}
