import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { WarpOp } from "../../../ir/index.ts";
import type { Chunk } from "../emit/chunk.ts";
import { foldWords, laneBits } from "../lanes/mask-bits.ts";
import { bothMasks } from "../lanes/mask.ts";

/** Operations that groups of lanes perform one group after the other, in registers alone. */
export const isForGroups = ({ op }: WarpOp): boolean =>
  op === "shfl" || op === "vote" || op === "match" || op === "redux" || op === "elect" || op === "sync";

/**
 * The lanes that arrive at an operation, in groups that name the same lanes. `arrived`: the local with all of them as
 * bits, and `masks` the vectors of what they name, which are kept, since the operation may overwrite the register.
 */
export class MaskGroups {
  readonly #chunk: Chunk;
  readonly #lanes: readonly Wasm[];
  readonly #arrived: number;
  readonly #kept: readonly number[];
  readonly #group: readonly number[];
  /** What the group names, which lanes it has, and which have not had their turn. */
  readonly #names: number;
  readonly #together: number;
  readonly #rest: number;

  constructor(chunk: Chunk, masks: readonly Wasm[], lanes: readonly Wasm[], arrived: number) {
    const { writer } = chunk;
    this.#chunk = chunk;
    this.#lanes = lanes;
    this.#arrived = arrived;
    this.#kept = masks.map(() => writer.local("v128"));
    this.#group = masks.map(() => writer.local("v128"));
    [this.#names, this.#together, this.#rest] = [writer.local("i32"), writer.local("i32"), writer.local("i32")];
    writer.assign(this.#kept.map((local, q) => ({ local, value: masks[q]! })));
  }

  /** What the lanes name, a vector for each four. */
  get masks(): readonly Wasm[] {
    return this.#kept.map((local) => wasm.local("v128", local));
  }

  /** Adds the lanes to a local that are among some, are named by a group, and do not belong to it. */
  addMissing(among: Wasm, to: number, pushNamesOf?: (lane: Wasm) => void): void {
    this.#each(pushNamesOf, () => {
      const others = wasm.op("i32.xor", wasm.local("i32", this.#together), wasm.i32(-1));
      const absent = wasm.op("i32.and", wasm.local("i32", this.#names), wasm.op("i32.and", among, others));
      this.#chunk.writer.assign([{ local: to, value: wasm.op("i32.or", wasm.local("i32", to), absent) }]);
    });
  }

  /** Lets each group act, that of the lowest lane first. `pushNamesOf`: pushes what a lane names, out of memory. */
  each(act: (group: readonly Wasm[]) => void, pushNamesOf?: (lane: Wasm) => void): void {
    this.#each(pushNamesOf, () => act(this.#group.map((local) => wasm.local("v128", local))));
  }

  release(): void {
    const { writer } = this.#chunk;
    for (const local of [...this.#kept, ...this.#group, this.#names, this.#together, this.#rest]) writer.release(local);
  }

  #each(pushNamesOf = (lane: Wasm) => this.#pushNamesOf(lane), act: () => void): void {
    const { writer } = this.#chunk;
    const rest = wasm.local("i32", this.#rest);
    writer.assign([{ local: this.#rest, value: wasm.local("i32", this.#arrived) }]);
    writer.loop((again) => {
      pushNamesOf(wasm.op("i32.ctz", rest));
      writer.set(this.#names);
      const all = wasm.op("i32x4.splat", wasm.local("i32", this.#names));
      const alike = bothMasks(
        this.masks.map((part) => wasm.op("i32x4.eq", part, all)),
        this.#lanes,
      )!;
      writer.assign(this.#group.map((local, q) => ({ local, value: alike[q]! })));
      const group = this.#group.map((local) => wasm.local("v128", local));
      writer.assign([{ local: this.#together, value: laneBits(group) }]);
      act();
      writer.value(wasm.op("i32.xor", rest, wasm.local("i32", this.#together)));
      writer.tee(this.#rest);
      writer.brIf(again);
    });
  }

  /** Pushes what a lane names, out of the vectors. */
  #pushNamesOf(lane: Wasm): void {
    const one = wasm.op("i32x4.splat", lane);
    const own = this.masks.map((part, q) =>
      wasm.op("v128.and", part, wasm.op("i32x4.eq", one, wasm.lanes([0, 1, 2, 3].map((l) => 4 * q + l)))),
    );
    this.#chunk.writer.value(foldWords("v128.or", own));
  }
}
