import { type FunctionWriter, type Label, wasm } from "../../../wasm/index.ts";
import { chunkState } from "../../abi/chunk-state.ts";
import { type BarrierRegion, reductionBefore, touchedIn } from "../analysis/flow/barrier-regions.ts";
import type { BlockStep, BlockSteps } from "../analysis/flow/block-steps.ts";
import type { Suspension } from "../sync/suspension.ts";
import type { ChunkLoop } from "./chunk-loop.ts";
import type { ChunkStart } from "./chunk-start.ts";
import type { IdleTest } from "./idle-chunks.ts";
import { type KernelRun, local32 } from "./kernel-run.ts";

/**
 * The steps of a block as structured code. All chunks go the same way, so that nothing is noted of where each one is:
 * the way from step to step is the block's. Values that all threads share stay in locals; what differs from chunk to
 * chunk, and is needed in a later step, each chunk keeps in its state.
 */
export class StepLoops {
  readonly #run: KernelRun;
  readonly #suspension: Suspension;
  readonly #steps: readonly BlockStep[];
  readonly #beginnings: ReadonlySet<number>;
  readonly #shared: ReadonlySet<number>;
  /** The local with the place of the step that is next; null where steps only lead forward. */
  readonly #next: number | null;
  /** The local with the state that stands for the barrier at which a region has ended, where it has several. */
  readonly #ended: number;
  /** By place, the label of the steps that have not been written, and of the end. */
  readonly #labels: Label[] = [];
  #again: Label | null = null;

  constructor(run: KernelRun, suspension: Suspension, { steps, beginnings, shared }: BlockSteps) {
    const w = run.scope.writer;
    this.#run = run;
    this.#suspension = suspension;
    this.#steps = steps;
    this.#beginnings = beginnings;
    this.#shared = shared;
    const leadsBack = steps.some(({ next }, from) => next.some((to) => this.#placeOf(to) <= from));
    this.#next = leadsBack ? w.local("i32") : null;
    this.#ended = w.local("i32");
  }

  /** `idleIn`: which chunks have nothing to do in a region. */
  write(chunks: ChunkLoop, start: ChunkStart, idleIn: (region: BarrierRegion) => IdleTest | null): void {
    const w = this.#run.scope.writer;
    start.beginBlock();
    this.#run.scope.body.reductions?.begin();
    const end = this.#steps.length;
    this.#labels[end] = w.begin("block");
    if (this.#next !== null) {
      w.assign([{ local: this.#next, value: wasm.i32(0) }]);
      this.#again = w.begin("loop");
    }
    for (let place = end - 1; place > 0; place--) this.#labels[place] = w.begin("block");
    if (this.#next !== null) {
      const first = w.begin("block");
      w.get(this.#next);
      w.brTable([first, ...this.#labels.slice(1, end)], first);
      w.end();
    }
    this.#steps.forEach((step, place) => {
      if (place > 0) w.end();
      if (step.region === null) this.#writeScalar(step, place);
      else this.#writeRegion(step, step.region, place, { chunks, start, idleIn });
    });
    if (this.#next !== null) w.end();
    w.end();
  }

  #placeOf(step: number | null): number {
    return step === null ? this.#steps.length : this.#steps.findIndex(({ start }) => start === step);
  }

  #writeScalar({ start, next }: BlockStep, place: number): void {
    const { writer: w, body } = this.#run.scope;
    const [taken, other] = next;
    const isTaken = body.writeScalarBlock(start);
    if (other !== undefined) {
      w.value(isTaken);
      w.if(() => this.#goTo(taken!, place, false));
    }
    this.#goTo(other === undefined ? taken! : other, place, true);
  }

  #writeRegion(
    { start: block, next }: BlockStep,
    region: BarrierRegion,
    place: number,
    parts: {
      readonly chunks: ChunkLoop;
      readonly start: ChunkStart;
      readonly idleIn: (region: BarrierRegion) => IdleTest | null;
    },
  ): void {
    const { writer: w, chunk, body } = this.#run.scope;
    const { chunks, start, idleIn } = parts;
    const isFirst = this.#beginnings.has(block);
    const { written } = touchedIn(chunk.analysis.code, region);
    const changed = [...written].filter((r) => this.#shared.has(r)).flatMap((r) => chunk.locals(r));
    const turns = new ChangedLocals(w, changed);
    const write = (): void => {
      this.#findState();
      this.#writeChunk(region, start, isFirst, next.length > 1);
      turns.endTurn();
    };
    // Chunks that are skipped keep their registers, and are at the barrier where the others arrive. None may miss
    // a vote.
    const votes = next.some((step) => step !== null && this.#isVotedFor(step));
    const idle = !isFirst && next.length === 1 && !votes ? idleIn(region) : null;
    const shared = idle === null || idle.scalars.length === 0 ? null : this.#sharedValues(idle, turns);
    chunks.each(write, idle, shared);
    turns.end();
    if (votes) body.reductions!.release();
    const goOn = (step: number | null, isLast: boolean): void => {
      // The register with the result is shared.
      if (step !== null) body.reductions?.take(step);
      this.#goTo(step, place, isLast);
    };
    next.forEach((step, i) => {
      if (i === next.length - 1) {
        goOn(step, true);
        return;
      }
      const state = step === null ? chunkState.ended : this.#suspension.uniformBarrierBefore(step)!;
      w.value(wasm.op("i32.eq", local32(this.#ended), wasm.i32(state)));
      w.if(() => goOn(step, false));
    });
  }

  /** Whether the barrier before a step reduces predicates. */
  #isVotedFor(step: number): boolean {
    const { scope, points } = this.#run;
    return reductionBefore(scope.chunk.analysis.code, points.barriers, step) !== null;
  }

  /** How chunks that are skipped compute the values that all share. */
  #sharedValues({ block, scalars }: IdleTest, turns: ChangedLocals) {
    return {
      compute: () => this.#run.scope.body.writeScalars(block, scalars),
      endTurn: () => turns.endTurn(),
      restart: () => turns.restart(),
    };
  }

  /** Writes a region for a chunk. `chooses`: whether it ends at one of several barriers. */
  #writeChunk(region: BarrierRegion, start: ChunkStart, isFirst: boolean, chooses: boolean): void {
    const { writer: w, chunk, body } = this.#run.scope;
    const { liveness } = chunk.analysis.code;
    const restore = (touched: ReadonlySet<number>): void =>
      this.#suspension.restoreSaved(this.#ownLocals([...touched].filter((r) => liveness.liveIn(region.start).has(r))));
    const changed = start.beginRegion(region, isFirst ? null : restore);
    const arrive = (state: number): void => {
      if (chooses) w.assign([{ local: this.#ended, value: wasm.i32(state) }]);
    };
    const write = (): void => {
      body.writeRegion(region, this.#run.points.barriers, start.isWhole);
      arrive(chunkState.ended);
    };
    this.#suspension.turn(write, { changed: this.#ownLocals(changed), arrive });
  }

  /** `isLast`: whether nothing is written after it but the next step. */
  #goTo(step: number | null, from: number, isLast: boolean): void {
    const w = this.#run.scope.writer;
    const to = this.#placeOf(step);
    if (to <= from) {
      w.assign([{ local: this.#next!, value: wasm.i32(to) }]);
      w.br(this.#again!);
    } else if (!isLast || to !== from + 1) w.br(this.#labels[to]!);
  }

  /** The locals of registers that each chunk has for itself. */
  #ownLocals(registers: Iterable<number>): ReadonlySet<number> {
    const { chunk } = this.#run.scope;
    return new Set([...registers].flatMap((r) => (this.#shared.has(r) ? [] : [...chunk.locals(r)])));
  }

  #findState(): void {
    const { layout, quads } = this.#run.scope.unit;
    const chunk = wasm.op("i32.shr_u", local32(this.#run.first), wasm.i32(Math.log2(4 * quads)));
    const states = wasm.op("i32.add", local32(this.#run.context), wasm.i32(layout.chunkStates));
    this.#suspension.find(states, chunk, this.#suspension.bytes);
  }
}

/** A local, and its values before the first chunk and after the last one that has run. */
interface ChangedLocal {
  readonly local: number;
  readonly before: number;
  readonly after: number;
}

/** Locals that chunks share and each of them changes, in the same way: all begin with the values before the first. */
class ChangedLocals {
  readonly #writer: FunctionWriter;
  readonly #locals: readonly ChangedLocal[];

  constructor(writer: FunctionWriter, locals: readonly number[]) {
    this.#writer = writer;
    const copy = (local: number): number => writer.local(writer.typeOf(local));
    this.#locals = locals.map((local) => ({ local, before: copy(local), after: copy(local) }));
    this.#assign(({ local, before, after }) => [
      [before, local],
      [after, local],
    ]);
  }

  /** A chunk has changed them. */
  endTurn(): void {
    this.#assign(({ local, before, after }) => [
      [after, local],
      [local, before],
    ]);
  }

  /** What a chunk has changed is forgotten. */
  restart(): void {
    this.#assign(({ local, before }) => [[local, before]]);
  }

  /** All chunks have. */
  end(): void {
    this.#assign(({ local, after }) => [[local, after]]);
    for (const { before, after } of this.#locals) for (const local of [before, after]) this.#writer.release(local);
  }

  #assign(of: (changed: ChangedLocal) => readonly (readonly [to: number, from: number])[]): void {
    const w = this.#writer;
    for (const changed of this.#locals) {
      for (const [to, from] of of(changed)) w.assign([{ local: to, value: wasm.local(w.typeOf(from), from) }]);
    }
  }
}
