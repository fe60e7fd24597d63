import { laneAddressOf } from "../../../ir/access.ts";
import type { OpOf } from "../../../ir/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { Chunk } from "../emit/chunk.ts";
import type { Mask } from "../lanes/mask.ts";
import { laneOf, type Vector, vectorIn, vectorOf } from "../lanes/value.ts";
import { type AccessFinder, either } from "./checked-access.ts";
import type { LaneOffsets } from "./lane-offsets.ts";

type AtomicOp = OpOf<"atomic">;

/** The byte offsets of the lanes' elements, and the locals they are in. */
export interface LanePlaces {
  of(lane: number): Wasm;
  readonly locals: readonly number[];
  /** The vectors with those of four lanes each; null if all lanes have the same, which is kept once. */
  readonly quads: readonly number[] | null;
}

const nothing = (): void => {};

/** Finds the elements on which atomic operations operate. */
export class AtomicPlaces {
  readonly #chunk: Chunk;
  readonly #checksOf: (op: AtomicOp) => AccessFinder;
  readonly #laneOffsets: LaneOffsets;

  constructor(chunk: Chunk, checksOf: (op: AtomicOp) => AccessFinder, laneOffsets: LaneOffsets) {
    this.#chunk = chunk;
    this.#checksOf = checksOf;
    this.#laneOffsets = laneOffsets;
  }

  /**
   * The byte offset of each lane's element, checked or looked up. Unless `exactly`, lanes outside the mask have a
   * harmless one.
   */
  of(index: number, op: AtomicOp, active: Mask, mask: Mask, exactly: boolean): LanePlaces {
    const { access } = op;
    const address = laneAddressOf(op.place);
    const { writer } = this.#chunk;
    const checks = this.#checksOf(op);
    const checked = checks.check(index, active, mask);
    const { offsets, immediate, release } = checked;
    const lookUp = (): void => checks.lookUp(index, access, address, mask);
    const plus = (at: Wasm): Wasm => (immediate === 0 ? at : wasm.op("i32.add", at, wasm.i32(immediate)));
    if (offsets.kind === "one") {
      const local = writer.local("i32");
      writer.assign([{ local, value: plus(offsets.at) }]);
      either(writer, checked, nothing, () => {
        lookUp();
        checks.loadFirstOffset(mask, local);
      });
      release();
      if (mask === null || exactly) {
        return { of: (): Wasm => wasm.local("i32", local), locals: [local], quads: null };
      }
      const all = wasm.op("i32x4.splat", wasm.local("i32", local));
      const safe = mask.map((m) => ({ local: writer.local("v128"), value: this.#laneOffsets.safe(all, m) }));
      writer.assign(safe);
      return this.#lanesOf(
        safe.map((s) => s.local),
        [local],
      );
    }
    const parts =
      offsets.kind === "run"
        ? this.#runOffsets(offsets.at, offsets.stride).quads.map(([q]) => q!)
        : this.#laneOffsets.everyOf({ offsets, immediate: 0 }).quads;
    const locals = parts.map(() => writer.local("v128"));
    const added = wasm.i32x4(immediate);
    writer.assign(
      parts.map((part, q) => ({
        local: locals[q]!,
        value: immediate === 0 ? part : wasm.op("i32x4.add", part, added),
      })),
    );
    either(writer, checked, nothing, () => {
      lookUp();
      checks.loadOffsets(locals);
    });
    release();
    if (mask !== null && !exactly) {
      writer.assign(
        locals.map((local, q) => ({ local, value: this.#laneOffsets.safe(wasm.local("v128", local), mask[q]!) })),
      );
    }
    return this.#lanesOf(locals);
  }

  #lanesOf(locals: readonly number[], others: readonly number[] = []): LanePlaces {
    const all = vectorIn("i32", locals);
    return { of: (lane): Wasm => laneOf(all, lane), locals: [...locals, ...others], quads: locals };
  }

  /** The offset of each lane in a run; with a negative stride the last lane is at `at`. */
  #runOffsets(at: Wasm, stride: number): Vector {
    const { lanes, quads } = this.#chunk;
    const first = stride < 0 ? wasm.op("i32.add", at, wasm.i32(-stride * (lanes - 1))) : at;
    return vectorOf({ kind: "affine", ty: "i32", base: first, stride }, quads);
  }
}
