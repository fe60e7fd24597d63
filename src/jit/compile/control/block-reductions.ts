import type { Instruction } from "../../../ir/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { HeaderWord } from "../../abi/context-layout.ts";
import { reductionBefore } from "../analysis/flow/barrier-regions.ts";
import type { Chunk } from "../emit/chunk.ts";
import { forRuleLanes } from "../emit/rule-lanes.ts";
import { laneBits } from "../lanes/mask-bits.ts";
import { bothMasks } from "../lanes/mask.ts";
import { type FunctionContext, pushWord, storeWord } from "../module/function-context.ts";
import type { SuspensionPoints } from "../plan/suspension-points.ts";
import type { Suspension } from "../sync/suspension.ts";
import { type Barrier, writeReduction } from "./barrier-results.ts";

/** What block-wide reductions keep in the context: votes and voters of this round, and of the one that has ended. */
const words = {
  now: { votes: "votes", voters: "voters" },
  last: { votes: "lastVotes", voters: "lastVoters" },
} as const satisfies Record<string, Record<string, HeaderWord>>;

/**
 * Barriers for all threads of a block that reduce predicates (`__syncthreads_count`), in a kernel without others that
 * have to be counted. Lanes wait at them as at any barrier; those that arrive add their votes to words of the block.
 */
export class BlockReductions {
  readonly #chunk: Chunk;
  readonly #context: FunctionContext;
  readonly #suspension: Suspension;
  readonly #barriers: SuspensionPoints["barriers"];

  constructor(
    chunk: Chunk,
    context: FunctionContext,
    suspension: Suspension,
    { barriers }: Pick<SuspensionPoints, "barriers">,
  ) {
    this.#chunk = chunk;
    this.#context = context;
    this.#suspension = suspension;
    this.#barriers = barriers;
  }

  /** A block begins: nobody has voted. */
  begin(): void {
    for (const name of [words.now.votes, words.now.voters]) {
      storeWord(this.#chunk.writer, this.#context, name, wasm.i32(0));
    }
  }

  /** The lanes of a block that ends with a reduction vote. They have yet to wait. */
  vote(block: number, instruction: Instruction, { reduce }: Barrier): void {
    if (reduce === null) return;
    this.#chunk.begin(instruction);
    forRuleLanes(this.#chunk, block, instruction, ({ lanes }) => {
      const votes = bothMasks(this.#chunk.vector(reduce.a).quads.flat(), lanes)!;
      this.#add(words.now.votes, wasm.op("i32.popcnt", laneBits(votes)));
      this.#add(words.now.voters, wasm.op("i32.popcnt", laneBits(lanes)));
    });
  }

  /** All lanes of the block that are left wait: those that resume get the result of this round. */
  release(): void {
    for (const name of ["votes", "voters"] as const) {
      this.#with(words.now[name], (value) => storeWord(this.#chunk.writer, this.#context, words.last[name], value));
    }
    this.begin();
  }

  /** Lanes of a chunk that have waited at barriers on their own resume: they take the results. */
  resume(): void {
    for (const at of this.#barriers.values()) {
      if (this.#suspension.uniformBarrierBefore(at) !== null) continue;
      const lanes = this.#suspension.maskAt(at, "barrier");
      this.#take(
        at,
        lanes.map((local) => wasm.local("v128", local)),
      );
    }
  }

  /**
   * All lanes of a chunk, or of all chunks that share the register, have come to the barrier before a block together:
   * they take its result. Returns the register that has it; null where nothing is reduced, or the result not used.
   */
  take(at: number): number | null {
    return this.#take(at, null);
  }

  #take(at: number, lanes: readonly Wasm[] | null): number | null {
    const { liveness } = this.#chunk.analysis.code;
    const last = reductionBefore(this.#chunk.analysis.code, this.#barriers, at);
    const register = last?.dst[0];
    // Others may share the local of a register that is not.
    if (last === null || typeof register !== "number" || !liveness.liveIn(at).has(register)) return null;
    const { reduce } = last.op;
    this.#with(words.last.votes, (votes) =>
      this.#with(words.last.voters, (voters) => {
        const results = {
          popc: votes,
          or: wasm.op("i32.ne", votes, wasm.i32(0)),
          and: wasm.op("i32.eq", votes, voters),
        };
        writeReduction(this.#chunk, last, last.op, lanes, results[reduce!.op]);
      }),
    );
    return register;
  }

  #add(name: HeaderWord, value: Wasm): void {
    const { writer } = this.#chunk;
    this.#with(name, (old) => storeWord(writer, this.#context, name, wasm.op("i32.add", old, value)));
  }

  /** Loads a word of the context. */
  #with(name: HeaderWord, write: (value: Wasm) => void): void {
    const { writer: w } = this.#chunk;
    const local = w.local("i32");
    pushWord(w, this.#context, name);
    w.set(local);
    write(wasm.local("i32", local));
    w.release(local);
  }
}
