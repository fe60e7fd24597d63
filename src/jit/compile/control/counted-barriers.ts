import type { Instruction } from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import { reductionWords } from "../../abi/chunk-state.ts";
import type { Chunk } from "../emit/chunk.ts";
import { forRuleLanes, type RuleLanes } from "../emit/rule-lanes.ts";
import { anyOf, foldWords, laneBits, maskOfBits } from "../lanes/mask-bits.ts";
import { bothMasks } from "../lanes/mask.ts";
import { laneOf } from "../lanes/value.ts";
import { type FunctionContext, pushWord, storeEntry } from "../module/function-context.ts";
import { callHost, giveUpIf, importHost } from "../module/host-calls.ts";
import type { SuspensionPoints } from "../plan/suspension-points.ts";
import { loadLive } from "../sync/named-lanes.ts";
import type { Suspension } from "../sync/suspension.ts";
import { type Barrier, writeReduction } from "./barrier-results.ts";
import type { Reconvergence } from "./reconvergence.ts";

/**
 * Barriers other than the one for all threads of a block: named, with a count, split into arrive and wait, or with a
 * reduction beside such. The host counts arrivals. A warp arrives as a whole: if lanes of it are elsewhere, the launch
 * is given up. A hardware thread arrives with any of its lanes.
 */
export class CountedBarriers {
  readonly #chunk: Chunk;
  readonly #flow: Reconvergence;
  readonly #memory: FunctionContext;
  readonly #suspension: Suspension;
  readonly #barriers: SuspensionPoints["barriers"];
  /** Of a function: locals with the lanes that have exited in it; null for the kernel. */
  readonly #ended: readonly number[] | null;

  constructor(
    chunk: Chunk,
    flow: Reconvergence,
    memory: FunctionContext,
    suspension: Suspension,
    { barriers }: Pick<SuspensionPoints, "barriers">,
    ended: readonly number[] | null,
  ) {
    this.#ended = ended;
    this.#chunk = chunk;
    this.#flow = flow;
    this.#memory = memory;
    this.#suspension = suspension;
    this.#barriers = barriers;
    const { module } = memory.unit;
    importHost(module, "arriveAtBarrier");
  }

  /** Writes the barrier at the end of a block. `at`: the block after it. */
  arrive(block: number, index: number, instruction: Instruction, op: Barrier, at: number): void {
    const { writer: w, file } = this.#chunk;
    const { module } = this.#memory.unit;
    this.#chunk.begin(instruction);
    file?.read(instruction);
    forRuleLanes(this.#chunk, block, instruction, (moved) => {
      const { lanes } = moved;
      if (!this.#suspension.isLockstep) {
        const absent = anyOf(this.#live().map((all, q) => wasm.op("v128.andnot", all, lanes[q]!)));
        giveUpIf(module, w, absent, "partialArrival");
      }
      const [id, count] = [op.id, op.count].map((expr) => this.#agreed(expr, moved));
      const { context, siteOf } = this.#memory;
      const votes = op.reduce === null ? wasm.i32(0) : this.#votes(op.reduce.a, lanes);
      storeEntry(w, this.#memory);
      w.values([wasm.local("i32", context), wasm.i32(siteOf(index, null)), id!, count!, laneBits(lanes), votes]);
      callHost(w, "arriveAtBarrier");
      w.if(
        () => this.#writeReduction(instruction, op, lanes),
        () => this.#flow.suspend("barrier", block, at, null),
      );
    });
    file?.finish();
  }

  /** A chunk resumes: the lanes that were suspended at barriers take the results of reductions. */
  resume(): void {
    const { graph, instructions } = this.#chunk.analysis.code;
    for (const [block, at] of this.#barriers) {
      const last = instructions[graph.blocks[block]!.end - 1]!;
      if (last.op.kind !== "barrier") continue;
      const lanes = this.#suspension.maskAt(at, "barrier").map((local) => wasm.local("v128", local));
      this.#writeReduction(last, last.op, lanes);
    }
  }

  /** Writes the result of a reduction to the registers of lanes. */
  #writeReduction(instruction: Instruction, op: Barrier, lanes: readonly Wasm[]): void {
    if (op.reduce === null) return;
    const { writer: w } = this.#chunk;
    const result = w.local("i32");
    this.#getState();
    w.memory("i32.load", 4, reductionWords[op.reduce.op]);
    w.set(result);
    writeReduction(this.#chunk, instruction, op, lanes, wasm.local("i32", result));
    w.release(result);
  }

  /** Leaves the address of the chunk's state on the stack. */
  #getState(): void {
    const w = this.#chunk.writer;
    if (this.#ended === null) w.get(this.#suspension.state);
    else pushWord(w, this.#memory, "state");
  }

  /** The lanes that have not exited: in a function, not even in its callers. */
  #live(): readonly Wasm[] {
    const ended = this.#ended;
    if (ended === null) return this.#flow.live();
    const live = this.#chunk.writer.local("i32");
    loadLive(this.#chunk.writer, this.#memory, live);
    const all = maskOfBits(wasm.local("i32", live), this.#chunk.quads);
    return ended.length === 0 ? all : all.map((part, q) => wasm.op("v128.andnot", part, wasm.local("v128", ended[q]!)));
  }

  #votes(a: Expr, lanes: readonly Wasm[]): Wasm {
    const { quads } = this.#chunk.vector(a);
    return laneBits(bothMasks(quads.flat(), lanes)!);
  }

  /** The value of an operand on which lanes have to agree; 0 if the operand is absent. */
  #agreed(expr: Expr | null, { lanes, decider }: Omit<RuleLanes, "condition">): Wasm {
    if (expr === null) return wasm.i32(0);
    const value = this.#chunk.value(expr);
    if (value.kind === "uniform") return value.scalar;
    const vector = this.#chunk.vector(expr);
    if (decider !== null) return laneOf(vector, decider);
    const w = this.#chunk.writer;
    const parts = vector.quads.flat();
    const [any, all] = [w.local("i32"), w.local("i32")];
    const here = bothMasks(parts, lanes)!;
    const there = parts.map((part, q) => wasm.op("v128.or", part, wasm.op("v128.not", lanes[q]!)));
    w.assign([
      { local: any, value: foldWords("v128.or", here) },
      { local: all, value: foldWords("v128.and", there) },
    ]);
    const differ = wasm.op("i32.ne", wasm.local("i32", any), wasm.local("i32", all));
    giveUpIf(this.#memory.unit.module, w, differ, "mixedBarriers");
    w.release(all);
    return wasm.local("i32", any);
  }
}
