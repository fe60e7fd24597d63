import type { Instruction } from "../ir/index.ts";
import type { LoopRange } from "../ir/flow/loops.ts";
import { loopsOf } from "../ir/flow/loops.ts";
import type { FlowGraph } from "../ir/flow/flow-graph.ts";
import { type FunctionWriter, type Wasm, wasm } from "../wasm/index.ts";
import type { Chunk } from "./chunk.ts";

/** Why lanes stop in the middle of a kernel: for the other threads of the block, or to let others run. */
export type PauseKind = "barrier" | "yield";

/** Blocks at which lanes go on after a pause. */
export interface Pauses {
  /** By the block that ends with a barrier, the block behind it. */
  readonly barriers: ReadonlyMap<number, number>;
  /** First blocks of loops that may wait for what other threads do. */
  readonly spins: ReadonlySet<number>;
}

/** Where the lanes of a kernel may have to pause. `sees`: whether an instruction may see what others do meanwhile. */
export function pausesOf(
  graph: FlowGraph,
  instructions: readonly Instruction[],
  sees: (instruction: Instruction) => boolean,
): Pauses {
  const barriers = new Map<number, number>();
  for (const { index, end } of graph.blocks) {
    // Behind a barrier at the very end there is nothing to wait for.
    if (instructions[end - 1]!.op.kind === "barrier" && index + 1 < graph.blocks.length) barriers.set(index, index + 1);
  }
  const spins = new Set<number>();
  const visit = (loop: LoopRange): void => {
    const { start } = graph.blocks[loop.start]!;
    const { end } = graph.blocks[loop.end]!;
    if (instructions.slice(start, end).some(sees)) spins.add(loop.start);
    loop.inner.forEach(visit);
  };
  loopsOf(graph).forEach(visit);
  return { barriers, spins };
}

interface Pause {
  readonly kind: PauseKind;
  /** The lanes that have paused here. */
  readonly mask: readonly number[];
}

/** The lanes that have paused, by the block at which they will go on, and what must outlive the pause. */
export class Suspension {
  readonly #chunk: Chunk;
  readonly #pauses = new Map<number, Pause>();
  /** Locals that are kept, with their places in the state of a chunk. */
  readonly #kept: { readonly local: number; readonly ty: keyof typeof alignments; readonly at: number }[] = [];
  /** Bytes of a chunk's state. */
  readonly bytes: number;

  constructor(chunk: Chunk, pauses: Pauses) {
    this.#chunk = chunk;
    const { writer, active, analysis } = chunk;
    const add = (block: number, kind: PauseKind): void => {
      this.#pauses.set(block, { kind, mask: active.map(() => writer.local("v128")) });
    };
    for (const block of pauses.barriers.values()) add(block, "barrier");
    for (const block of pauses.spins) add(block, "yield");
    const live = new Set<number>();
    for (const block of this.#pauses.keys()) {
      analysis.code.liveness.liveIn(block).forEach((r) => {
        live.add(r);
      });
    }
    const locals = [...[...this.#pauses.values()].flatMap((p) => p.mask), ...[...live].flatMap((r) => chunk.locals(r))];
    let at = 16;
    for (const ty of ["v128", "i64", "i32"] as const) {
      for (const local of locals) {
        if (writer.typeOf(local) !== ty) continue;
        this.#kept.push({ local, ty, at });
        at += alignments[ty];
      }
    }
    this.bytes = Math.ceil(at / 16) * 16;
  }

  /** Blocks at which lanes may go on, in order. */
  get blocks(): readonly number[] {
    return [...this.#pauses.keys()].sort((a, b) => a - b);
  }

  /** The mask of the lanes that have paused before a block. */
  maskAt(block: number): readonly number[] {
    return this.#pauses.get(block)!.mask;
  }

  /** Nobody has paused yet. */
  reset(): void {
    const locals = [...this.#pauses.values()].flatMap((p) => p.mask);
    this.#chunk.writer.assign(locals.map((local) => ({ local, value: wasm.i32x4(0) })));
  }

  /** 1 where any lane has paused, for a reason. */
  anyPaused(kind: PauseKind): Wasm {
    const masks = [...this.#pauses.values()].filter((p) => p.kind === kind).flatMap((p) => p.mask);
    if (masks.length === 0) return wasm.i32(0);
    return wasm.op(
      "v128.any_true",
      masks.map((l) => wasm.local("v128", l)).reduce((a, b) => wasm.op("v128.or", a, b)),
    );
  }

  /** Into the state that begins at the address in a local. */
  save(state: number): void {
    const { writer } = this.#chunk;
    for (const { local, ty, at } of this.#kept) {
      writer.get(state);
      writer.get(local);
      writer.memory(`${ty}.store`, alignments[ty], at);
    }
  }

  restore(state: number): void {
    const { writer } = this.#chunk;
    for (const { local, ty, at } of this.#kept) {
      writer.get(state);
      writer.memory(`${ty}.load`, alignments[ty], at);
      writer.set(local);
    }
  }

  /** Those that have paused for a reason wait from now on at their blocks, which the masks in `waiting` say. */
  wake(kind: PauseKind, waiting: (block: number) => readonly number[]): void {
    const { writer } = this.#chunk;
    for (const [block, pause] of this.#pauses) {
      if (pause.kind !== kind) continue;
      const target = waiting(block);
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

/** What a chunk's state says first. */
export const chunkState = { fresh: 0, atBarrier: 1, yielded: 2, ended: 3 } as const;

/** The state word of the chunk whose state begins at the address in a local. */
export const stateWord = (writer: FunctionWriter, state: number): void => {
  writer.get(state);
  writer.memory("i32.load", 4);
};
