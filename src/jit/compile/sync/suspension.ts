import { type FunctionWriter, type Label, type Wasm, wasm } from "../../../wasm/index.ts";
import { chunkState, stateHeaderBytes } from "../../abi/chunk-state.ts";
import type { UniformityAnalysis } from "../analysis/values/uniformity.ts";
import type { Chunk } from "../emit/chunk.ts";
import {
  blocksThatWait,
  kindOf,
  type SuspensionKind,
  type SuspensionPlace,
  type SuspensionPoints,
} from "../plan/pauses.ts";

interface Pause {
  readonly place: SuspensionPlace;
  /** The block at which they go on. There may be several for one: behind a barrier may be a loop, or a call. */
  readonly block: number;
  /** The lanes that have paused here. */
  readonly mask: readonly number[];
}

/** A local that outlives a pause, and its place in the state of a chunk. */
interface Kept {
  readonly local: number;
  readonly ty: keyof typeof alignments;
  readonly at: number;
}

/** A barrier to which all lanes of a chunk come together: what is live behind it is all that must be kept. */
interface Meeting {
  /** The block behind the barrier. */
  readonly block: number;
  readonly kept: readonly Kept[];
}

/** Of a function, or a kernel; of PTX, or (in lockstep) of vISA. */
interface SuspensionMode {
  readonly isFunction: boolean;
  readonly isLockstep: boolean;
}

/** How a turn ends at a barrier to which all lanes of a chunk come together. */
interface Arrival {
  /** The locals that have to be kept there; null: all that are live after the barrier. */
  readonly changed: ReadonlySet<number> | null;
  /** Notes the arrival, given the state that stands for the barrier. */
  readonly arrive: (state: number) => void;
}

/** The lanes that have paused, by the block at which they will go on, and what must outlive the pause. */
export class Suspension {
  readonly #chunk: Chunk;
  readonly #pauses: readonly Pause[];
  /** A hardware thread has one instruction pointer: where lanes of it wait, all do, wherever they are. */
  readonly isLockstep: boolean;
  #kept: readonly Kept[];
  /** By block that is a call, the local with the first of the activations that wait there. */
  readonly #heads: ReadonlyMap<number, number>;
  /** Barriers that need no masks, in the order of the states that stand for them. */
  readonly meetings: readonly Meeting[];
  readonly #placesOfMeetings: readonly Kept[];
  /** By block, its place among them. */
  readonly #meetingAt: ReadonlyMap<number, number>;
  /** Where the address of the chunk's state is. */
  readonly state: number;
  /** The turn that is being written; null outside of `turn`. */
  #turn: (Arrival & { readonly end: Label }) | null = null;

  /** The state is all that has to be noted. */
  readonly #noted: Arrival = { changed: null, arrive: (state) => this.setState(wasm.i32(state)) };

  /** `lasting`: registers that are there again when a chunk goes on. */
  constructor(
    chunk: Chunk,
    pauses: SuspensionPoints,
    lasting: ReadonlySet<number>,
    { isFunction, isLockstep }: SuspensionMode,
  ) {
    this.isLockstep = isLockstep;
    this.#chunk = chunk;
    const { writer, active, analysis } = chunk;
    const { liveness } = analysis.code;
    this.state = writer.local("i32");
    const together = [...pauses.barriers]
      .filter(([barrier]) => !isFunction && !pauses.isCounted && isMeeting(analysis, barrier))
      .map(([, block]) => block);
    const meets = new Set(together);
    const pause = (place: SuspensionPlace, block: number): Pause => {
      return { place, block, mask: active.map(() => writer.local("v128")) };
    };
    this.#pauses = [
      ...[...pauses.barriers.values()].filter((b) => !meets.has(b)).map((b) => pause("barrier", b)),
      ...[...pauses.spins].map((b) => pause("loop", b)),
      ...[...pauses.calls].flatMap((b) => [pause("call at a barrier", b), pause("call in a loop", b)]),
    ];
    const liveAt = (blocks: Iterable<number>): number[] => {
      const live = new Set<number>();
      for (const block of blocks) {
        liveness.liveIn(block).forEach((r) => {
          if (!lasting.has(r)) live.add(r);
        });
      }
      return [...new Set([...live].flatMap((r) => chunk.locals(r)))];
    };
    const masks = this.#pauses.flatMap((p) => p.mask);
    this.#heads = new Map([...pauses.calls].map((block) => [block, writer.local("i32")]));
    this.#kept = placesOf(writer, [
      ...this.#heads.values(),
      ...masks,
      ...liveAt(blocksThatWait(analysis, pauses, isLockstep)),
    ]);
    // What is kept before several barriers has one place: it need not be kept again where it has not changed.
    const places = placesOf(writer, liveAt(together));
    this.meetings = together.map((block) => {
      const live = new Set(liveAt([block]));
      return { block, kept: places.filter(({ local }) => live.has(local)) };
    });
    this.#meetingAt = new Map(together.map((block, i) => [block, i]));
    this.#placesOfMeetings = places;
  }

  /** Further locals, with which lanes wait that have not paused. */
  keep(locals: readonly number[]): void {
    this.#kept = placesOf(this.#chunk.writer, [...this.#kept.map(({ local }) => local), ...locals]);
  }

  /** Bytes of a chunk's state. */
  get bytes(): number {
    return Math.ceil(Math.max(endOf(this.#kept), endOf(this.#placesOfMeetings)) / 16) * 16;
  }

  /** Writes a chunk's turn, which ends where all of its lanes arrive at a barrier together. `write` may branch to the end, too. */
  turn(write: (end: Label) => void, arrival: Arrival = this.#noted): void {
    const { writer } = this.#chunk;
    const end = writer.begin("block");
    this.#turn = { ...arrival, end };
    write(end);
    this.#turn = null;
    writer.end();
  }

  /** The state that stands for the barrier before a block, if all lanes come to it together; else null. */
  meetingBefore(block: number): number | null {
    const at = this.#meetingAt.get(block);
    return at === undefined ? null : chunkState.meetings + at;
  }

  /** All lanes of the chunk are at a barrier: its turn ends. */
  meet(state: number): void {
    const { kept } = this.meetings[state - chunkState.meetings]!;
    if (this.#turn === null) throw new Error("all lanes of a chunk arrive at a barrier only in its turn");
    const { changed, arrive, end } = this.#turn;
    this.#save(changed === null ? kept : kept.filter(({ local }) => changed.has(local)));
    arrive(state);
    this.#chunk.writer.br(end);
  }

  /** Finds the state of the n-th chunk. `states`: where those of all chunks begin. */
  find(states: Wasm, chunk: Wasm, stride: number): void {
    const at = wasm.op("i32.mul", chunk, wasm.i32(stride));
    this.#chunk.writer.assign([{ local: this.state, value: wasm.op("i32.add", states, at) }]);
  }

  /** Notes what has become of the chunk. */
  setState(value: Wasm): void {
    const { writer } = this.#chunk;
    writer.get(this.state);
    writer.value(value);
    writer.memory("i32.store", 4);
  }

  /** Blocks at which lanes go on that may have paused at different times. */
  get masked(): readonly number[] {
    return [...new Set(this.#pauses.map((p) => p.block))].sort((a, b) => a - b);
  }

  /** Blocks at which lanes may go on, in order. */
  get blocks(): readonly number[] {
    return [...new Set([...this.masked, ...this.meetings.map((m) => m.block)])].sort((a, b) => a - b);
  }

  /** The mask of the lanes that have paused somewhere and go on at a block. */
  maskAt(block: number, place: SuspensionPlace): readonly number[] {
    return this.#pauses.find((p) => p.block === block && p.place === place)!.mask;
  }

  /** The local with the first of the activations that wait at a call, which is a block; 0: there are none. */
  headAt(block: number): number {
    return this.#heads.get(block)!;
  }

  /** The masks of all that have paused. */
  get masks(): readonly (readonly number[])[] {
    return this.#pauses.map((p) => p.mask);
  }

  /** Nobody has paused yet. */
  reset(): void {
    const locals = this.#pauses.flatMap((p) => p.mask);
    this.#chunk.writer.assign([
      ...locals.map((local) => ({ local, value: wasm.i32x4(0) })),
      ...Array.from(this.#heads.values(), (local) => ({ local, value: wasm.i32(0) })),
    ]);
  }

  /** 1 where any lane has paused, for a reason. */
  anyPaused(kind: SuspensionKind): Wasm {
    const masks = this.#pauses.filter((p) => kindOf[p.place] === kind).flatMap((p) => p.mask);
    if (masks.length === 0) return wasm.i32(0);
    return wasm.op(
      "v128.any_true",
      masks.map((l) => wasm.local("v128", l)).reduce((a, b) => wasm.op("v128.or", a, b)),
    );
  }

  save(): void {
    this.#save(this.#kept);
  }

  restore(): void {
    this.#restore(this.#kept);
  }

  /** For lanes that have met at the barrier for which a state stands. `needed`: the locals that will be looked at; null: all. */
  restoreMeeting(state: number, needed: ReadonlySet<number> | null = null): void {
    const { kept } = this.meetings[state - chunkState.meetings]!;
    this.#restore(needed === null ? kept : kept.filter(({ local }) => needed.has(local)));
  }

  #save(kept: readonly Kept[]): void {
    const { writer } = this.#chunk;
    for (const { local, ty, at } of kept) {
      writer.get(this.state);
      writer.get(local);
      writer.memory(`${ty}.store`, alignments[ty], at);
    }
  }

  #restore(kept: readonly Kept[]): void {
    const { writer } = this.#chunk;
    for (const { local, ty, at } of kept) {
      writer.get(this.state);
      writer.memory(`${ty}.load`, alignments[ty], at);
      writer.set(local);
    }
  }

  /** Those that have paused for a reason wait from now on at their blocks, which the masks in `waiting` say. */
  wake(kind: SuspensionKind, waiting: (block: number) => readonly number[]): void {
    const { writer } = this.#chunk;
    for (const pause of this.#pauses) {
      if (kindOf[pause.place] !== kind) continue;
      const target = waiting(pause.block);
      writer.assign([
        ...target.map((local, q) => ({
          local,
          value: wasm.op("v128.or", wasm.local("v128", local), wasm.local("v128", pause.mask[q]!)),
        })),
        ...pause.mask.map((local) => ({ local, value: wasm.i32x4(0) })),
      ]);
    }
  }
}

const alignments = { v128: 16, i64: 8, i32: 4 } as const;

/** Where a chunk's state keeps locals: behind the word that says what it waits for. */
function placesOf(writer: FunctionWriter, locals: readonly number[]): readonly Kept[] {
  const kept: Kept[] = [];
  let at = stateHeaderBytes;
  for (const ty of ["v128", "i64", "i32"] as const) {
    for (const local of locals) {
      if (writer.typeOf(local) !== ty) continue;
      kept.push({ local, ty, at });
      at += alignments[ty];
    }
  }
  return kept;
}

const endOf = (kept: readonly Kept[]): number =>
  kept.reduce((end, { ty, at }) => Math.max(end, at + alignments[ty]), stateHeaderBytes);

/** Whether all lanes of a chunk come to a barrier together, or none. */
function isMeeting({ code, divergence }: UniformityAnalysis, barrier: number): boolean {
  const { guard } = code.instructions[code.graph.blocks[barrier]!.end - 1]!;
  return guard === null && !divergence.mayBePartial(barrier);
}
