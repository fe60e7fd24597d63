import type { ForwardedWords, OpOf } from "../../../ir/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { Chunk } from "../emit/chunk.ts";
import { knownLanesOf, type Mask } from "../lanes/mask.ts";
import { permuted } from "../lanes/shuffle.ts";
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
    const { quads, writer, converged, isConverted } = this.#chunk;
    if (forwarded === undefined || !(converged || isConverted) || checked.wideLoad !== null || !isAlwaysGood(checked))
      return false;
    const active = new Set(mask === null ? Array.from({ length: 4 * quads }, (_, lane) => lane) : knownLanesOf(mask));
    const isBeyond = (lane: number): boolean => (forwarded.lanes[lane]?.lane ?? 0) >= 4 * quads;
    if (active.size === 0 || [...active].some(isBeyond)) return false;
    /** What is left to be loaded as from any memory, and lane by lane. */
    const rest: Wasm[] = [];
    const single: number[] = [];
    into.forEach((local, q) => {
      const lanes = [0, 1, 2, 3].map((l) => 4 * q + l);
      const left = lanes.filter((lane) => active.has(lane) && forwarded.lanes[lane] === null);
      const value = this.#shuffled(forwarded, lanes, active);
      if (value !== null) {
        writer.assign([{ local, value }]);
        single.push(...left);
      }
      const isDone = value !== null || (forwarded.isSettled && this.#loadVectors(checked, left, local));
      rest.push(wasm.lanes(lanes.map((lane) => (!isDone && left.includes(lane) ? -1 : 0))));
    });
    this.#moves.load(access, checked, [into], rest);
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

  /**
   * Loads words of a quad as vectors in which each has the place of its lane, and blends these; false if it is none
   * such, or one vector. V8 of Node 20 adds immediates to addresses of single lanes by an instruction of its own, and
   * keeps the sums: it takes four or five for a lane.
   */
  #loadVectors({ offsets, immediate }: CheckedAccess, lanes: readonly number[], into: number): boolean {
    if (offsets.kind !== "run" && offsets.kind !== "pattern") return false;
    const startOf = (lane: number): number => immediate + this.#laneOffsets.distance(offsets, lane) - 4 * (lane & 3);
    const starts = [...new Set(lanes.map(startOf))];
    if (starts.length < 2 || Math.min(...starts) < 0) return false;
    const { writer } = this.#chunk;
    const part = writer.local("v128");
    starts.forEach((start, i) => {
      writer.value(offsets.at);
      writer.memory("v128.load", 4, start);
      writer.set(i === 0 ? into : part);
      if (i === 0) return;
      const isOf = (l: number): boolean => lanes.some((lane) => (lane & 3) === l && startOf(lane) === start);
      const [a, b, c, d] = [0, 1, 2, 3].map((l) => (isOf(l) ? 4 + l : l));
      const value = wasm.shuffle32(wasm.local("v128", into), wasm.local("v128", part), [a!, b!, c!, d!]);
      writer.assign([{ local: into, value }]);
    });
    writer.release(part);
    return true;
  }

  /** The words of a quad's lanes that registers hold; null if they hold none. */
  #shuffled({ sources, lanes }: ForwardedWords, quad: readonly number[], active: ReadonlySet<number>): Wasm | null {
    const vectors: { readonly source: number; readonly quad: number }[] = [];
    const from = quad.map((of, l) => {
      const word = active.has(of) ? lanes[of]! : null;
      // What other lanes get does not matter.
      if (word === null) return l;
      const { source, lane } = word;
      const known = vectors.findIndex((v) => v.source === source && v.quad === lane >> 2);
      return 4 * (known < 0 ? vectors.push({ source, quad: lane >> 2 }) - 1 : known) + (lane & 3);
    });
    if (vectors.length === 0) return null;
    const values = vectors.map((v) => this.#chunk.vector(sources[v.source]!).quads[v.quad]![0]!);
    return permuted(values, from)[0]!;
  }
}
