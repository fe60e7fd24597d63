import { type Label, type Wasm, wasm } from "../../../wasm/index.ts";
import { chunkState, stateHeaderBytes } from "../../abi/chunk-state.ts";
import { isUniformBarrier } from "../analysis/flow/barrier-regions.ts";
import type { Chunk } from "../emit/chunk.ts";
import {
  blocksWhileSuspended,
  kindOf,
  type SuspensionKind,
  type SuspensionPlace,
  type SuspensionPoints,
} from "../plan/suspension-points.ts";

/** A suspension point at which only some lanes may be suspended. */
interface MaskedPoint {
  readonly place: SuspensionPlace;
  /**
   * The block at which they resume. Several points may have the same one: a loop, or a call, may begin after a barrier.
   */
  readonly block: number;
  /** Locals with the mask of the lanes that are suspended here. */
  readonly mask: readonly number[];
}

/** A local that is saved while a chunk is suspended, and its byte offset in the chunk's state. */
interface SavedLocal {
  readonly local: number;
  readonly ty: keyof typeof alignments;
  readonly at: number;
}

/** A barrier at which all lanes of a chunk arrive together: only what is live after it has to be saved. */
interface UniformBarrier {
  /** The block after the barrier. */
  readonly block: number;
  readonly saved: readonly SavedLocal[];
}

interface SuspensionMode {
  /** The local for the address of the chunk's state, and how much of the state has been given away. */
  readonly state: number;
  readonly taken: number;
  /** A function that the kernel calls, not the kernel itself. */
  readonly isFunction: boolean;
  /** A hardware thread (vISA) has one instruction pointer: if any of its lanes is suspended, all are. */
  readonly isLockstep: boolean;
}

/** How a turn ends at a uniform barrier. */
interface Arrival {
  /** The locals that have changed since they were last saved; null: save all that are live after the barrier. */
  readonly changed: ReadonlySet<number> | null;
  /** Notes the arrival, given the state that stands for the barrier. */
  readonly arrive: (state: number) => void;
}

/** The suspended lanes of a chunk, by the block at which they resume, and the locals that are saved for them. */
export class Suspension {
  readonly #chunk: Chunk;
  readonly #points: readonly MaskedPoint[];
  readonly isLockstep: boolean;
  #saved: readonly SavedLocal[];
  /** By block that is a call, the local with the first of the frames that are suspended there. */
  readonly #firstFrames: ReadonlyMap<number, number>;
  /** In the order of the states that stand for them. */
  readonly uniformBarriers: readonly UniformBarrier[];
  /** All locals that are saved at any uniform barrier. */
  readonly #savedAtBarriers: readonly SavedLocal[];
  /** By the block after a uniform barrier, its index in `uniformBarriers`. */
  readonly #barrierIndex: ReadonlyMap<number, number>;
  /** The local with the address of the chunk's state. */
  readonly state: number;
  /** Bytes of the state after its header that hold registers. */
  readonly #taken: number;
  /** The turn that is being written; null outside of `turn`. */
  #turn: (Arrival & { readonly end: Label }) | null = null;

  /** Only the state is stored. */
  readonly #storeState: Arrival = { changed: null, arrive: (state) => this.setState(wasm.i32(state)) };

  /** `invariants`: registers that are computed again before a chunk resumes. */
  constructor(
    chunk: Chunk,
    points: SuspensionPoints,
    invariants: ReadonlySet<number>,
    { state, taken, isFunction, isLockstep }: SuspensionMode,
  ) {
    this.state = state;
    this.#taken = taken;
    this.isLockstep = isLockstep;
    this.#chunk = chunk;
    const { writer, active, analysis } = chunk;
    const { liveness } = analysis.code;
    const uniform = [...points.barriers]
      .filter(([barrier]) => !isFunction && !points.isCounted && isUniformBarrier(analysis, barrier))
      .map(([, block]) => block);
    const masked = [...points.barriers.values()].filter((block) => !uniform.includes(block));
    const point = (place: SuspensionPlace, block: number): MaskedPoint => {
      return { place, block, mask: active.map(() => writer.local("v128")) };
    };
    this.#points = [
      ...masked.map((b) => point("barrier", b)),
      ...[...points.spins].map((b) => point("loop", b)),
      ...[...points.calls].flatMap((b) => [point("call at a barrier", b), point("call in a loop", b)]),
    ];
    const liveAt = (blocks: Iterable<number>): number[] => {
      const live = new Set<number>();
      for (const block of blocks) {
        liveness.liveIn(block).forEach((r) => {
          if (!invariants.has(r)) live.add(r);
        });
      }
      // Registers that lie in memory are in the state already.
      const locals = [...live].flatMap((r) => (chunk.fragment([r]) === null ? chunk.locals(r) : []));
      return [...new Set(locals)];
    };
    this.#firstFrames = new Map([...points.calls].map((block) => [block, writer.local("i32")]));
    this.#saved = this.#layOut([
      ...this.#firstFrames.values(),
      ...this.masks.flat(),
      ...liveAt(blocksWhileSuspended(analysis, points, isLockstep)),
    ]);
    // A local has the same offset at all uniform barriers, so that it need not be saved again if it has not changed.
    const saved = this.#layOut(liveAt(uniform));
    this.uniformBarriers = uniform.map((block) => {
      const live = new Set(liveAt([block]));
      return { block, saved: saved.filter(({ local }) => live.has(local)) };
    });
    this.#barrierIndex = new Map(uniform.map((block, i) => [block, i]));
    this.#savedAtBarriers = saved;
  }

  /** Adds locals to those that are saved: the pending masks of lanes that are suspended with others in lockstep. */
  keep(locals: readonly number[]): void {
    this.#saved = this.#layOut([...this.#saved.map(({ local }) => local), ...locals]);
  }

  /** The size of a chunk's state in bytes. */
  get bytes(): number {
    const none = stateHeaderBytes + this.#taken;
    return Math.ceil(Math.max(none, endOf(this.#saved), endOf(this.#savedAtBarriers)) / 16) * 16;
  }

  /** Gives locals offsets in a chunk's state, after its header and what has been given away. */
  #layOut(locals: readonly number[]): readonly SavedLocal[] {
    const saved: SavedLocal[] = [];
    let at = stateHeaderBytes + this.#taken;
    for (const ty of ["v128", "i64", "i32"] as const) {
      for (const local of locals) {
        if (this.#chunk.writer.typeOf(local) !== ty) continue;
        saved.push({ local, ty, at });
        at += alignments[ty];
      }
    }
    return saved;
  }

  /**
   * Writes a chunk's turn, which ends where all lanes arrive at a uniform barrier.
   */
  turn(write: () => void, arrival: Arrival = this.#storeState): void {
    const { writer } = this.#chunk;
    const end = writer.begin("block");
    this.#turn = { ...arrival, end };
    write();
    this.#turn = null;
    writer.end();
  }

  /** The state that stands for the barrier before a block, if it is a uniform one; else null. */
  uniformBarrierBefore(block: number): number | null {
    const index = this.#barrierIndex.get(block);
    return index === undefined ? null : chunkState.uniformBarriers + index;
  }

  /** All lanes of the chunk arrive at a uniform barrier: its turn ends. */
  arrive(state: number): void {
    const { saved } = this.#uniformBarrier(state);
    if (this.#turn === null) throw new Error("a chunk arrives at a barrier only in its turn");
    const { changed, arrive, end } = this.#turn;
    this.#save(changed === null ? saved : saved.filter(({ local }) => changed.has(local)));
    arrive(state);
    this.#chunk.writer.br(end);
  }

  /** Computes the address of a chunk's state. `states`: where those of all chunks begin. */
  find(states: Wasm, chunk: Wasm, stride: number): void {
    const offset = wasm.op("i32.mul", chunk, wasm.i32(stride));
    this.#chunk.writer.assign([{ local: this.state, value: wasm.op("i32.add", states, offset) }]);
  }

  /** Stores the first word of the chunk's state. */
  setState(value: Wasm): void {
    const { writer } = this.#chunk;
    writer.get(this.state);
    writer.value(value);
    writer.memory("i32.store", 4);
  }

  /** Blocks at which only some lanes may resume, in order. */
  get maskedBlocks(): readonly number[] {
    return [...new Set(this.#points.map((p) => p.block))].sort((a, b) => a - b);
  }

  /** Blocks at which lanes may resume, in order. */
  get blocks(): readonly number[] {
    return [...new Set([...this.maskedBlocks, ...this.uniformBarriers.map((b) => b.block)])].sort((a, b) => a - b);
  }

  /** The mask of the lanes that are suspended at a place and resume at a block. */
  maskAt(block: number, place: SuspensionPlace): readonly number[] {
    return this.#points.find((p) => p.block === block && p.place === place)!.mask;
  }

  /** The local with the first of the frames that are suspended at a call, which is a block; 0: there are none. */
  firstFrameAt(block: number): number {
    return this.#firstFrames.get(block)!;
  }

  /** The masks of all suspended lanes. */
  get masks(): readonly (readonly number[])[] {
    return this.#points.map((p) => p.mask);
  }

  /** Clears all masks: no lane is suspended yet. */
  reset(): void {
    this.#chunk.writer.assign([
      ...this.masks.flat().map((local) => ({ local, value: wasm.i32x4(0) })),
      ...Array.from(this.#firstFrames.values(), (local) => ({ local, value: wasm.i32(0) })),
    ]);
  }

  /** 1 if any lane is suspended for a reason. */
  anySuspended(kind: SuspensionKind): Wasm {
    const masks = this.#points.filter((p) => kindOf[p.place] === kind).flatMap((p) => p.mask);
    if (masks.length === 0) return wasm.i32(0);
    return wasm.op(
      "v128.any_true",
      masks.map((l) => wasm.local("v128", l)).reduce((a, b) => wasm.op("v128.or", a, b)),
    );
  }

  save(): void {
    this.#save(this.#saved);
  }

  restore(): void {
    this.#restore(this.#saved);
  }

  /**
   * Restores locals after the uniform barrier for which a state stands. `needed`: those that will be read; null: all.
   */
  restoreAt(state: number, needed: ReadonlySet<number> | null = null): void {
    const { saved } = this.#uniformBarrier(state);
    this.#restore(needed === null ? saved : saved.filter(({ local }) => needed.has(local)));
  }

  /** Restores locals that have been saved at uniform barriers: those that are needed. */
  restoreSaved(needed: ReadonlySet<number>): void {
    this.#restore(this.#savedAtBarriers.filter(({ local }) => needed.has(local)));
  }

  #uniformBarrier(state: number): UniformBarrier {
    return this.uniformBarriers[state - chunkState.uniformBarriers]!;
  }

  #save(saved: readonly SavedLocal[]): void {
    const { writer } = this.#chunk;
    for (const { local, ty, at } of saved) {
      writer.get(this.state);
      writer.get(local);
      writer.memory(`${ty}.store`, alignments[ty], at);
    }
  }

  #restore(saved: readonly SavedLocal[]): void {
    const { writer } = this.#chunk;
    for (const { local, ty, at } of saved) {
      writer.get(this.state);
      writer.memory(`${ty}.load`, alignments[ty], at);
      writer.set(local);
    }
  }

  /** Lanes that are suspended for a reason become pending at their blocks, of which `pendingAt` has the masks. */
  release(kind: SuspensionKind, pendingAt: (block: number) => readonly number[]): void {
    const { writer } = this.#chunk;
    for (const point of this.#points) {
      if (kindOf[point.place] !== kind) continue;
      writer.assign([
        ...pendingAt(point.block).map((local, q) => ({
          local,
          value: wasm.op("v128.or", wasm.local("v128", local), wasm.local("v128", point.mask[q]!)),
        })),
        ...point.mask.map((local) => ({ local, value: wasm.i32x4(0) })),
      ]);
    }
  }
}

const alignments = { v128: 16, i64: 8, i32: 4 } as const;

const endOf = (saved: readonly SavedLocal[]): number =>
  saved.reduce((end, { ty, at }) => Math.max(end, at + alignments[ty]), stateHeaderBytes);
