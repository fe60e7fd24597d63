import { wasm } from "../../../wasm/index.ts";
import type { IdleTest } from "./idle-chunks.ts";
import { computeInvariants, increase, type KernelRun, local32 } from "./kernel-run.ts";

/**
 * What else is done where some chunks are skipped, as for values that chunks share and each of them computes anew.
 */
interface SkippedTurns {
  /** Before it is tested whether a chunk is skipped. */
  readonly compute: () => void;
  /** The chunk is skipped. */
  readonly endTurn: () => void;
  /** It is not, and begins anew. */
  readonly restart: () => void;
}

/** Which chunks are skipped. */
type SkipTest = Pick<IdleTest, "invariants" | "alone" | "toTheEnd">;

/** Loops over the chunks of a block. */
export class ChunkLoop {
  readonly #run: KernelRun;

  constructor(run: KernelRun) {
    this.#run = run;
  }

  /** The first chunk is next. */
  begin(): void {
    const { scope, first } = this.#run;
    scope.writer.assign([{ local: first, value: wasm.i32(0) }]);
    scope.specials.firstChunk();
  }

  /** From the chunk that is next to the last. `idle`: which of them are skipped. */
  rest(write: () => void, idle: SkipTest | null = null, shared: SkippedTurns | null = null): void {
    const { writer: w } = this.#run.scope;
    const oneRow = local32(this.#run.isOneRow);
    const done = w.begin("block");
    w.loop((nextChunk) => {
      // A loop of its own: in one with vectors in it each iteration costs more.
      if (idle !== null) {
        w.loop((again) => {
          if (idle.invariants.length > 0) this.#run.scope.specials.loadRows();
          computeInvariants(this.#run, idle.invariants);
          shared?.compute();
          w.value(idle.alone);
          w.if(() => {
            // The test asks what the turn has computed: after it, values are those before the turn.
            const last = idle.toTheEnd === null ? null : w.local("i32");
            if (last !== null) w.assign([{ local: last, value: wasm.op("i32.and", oneRow, idle.toTheEnd!) }]);
            shared?.endTurn();
            if (last !== null) {
              w.get(last);
              w.brIf(done);
              w.release(last);
            }
            this.#advance();
            w.brIf(again);
            w.br(done);
          });
          shared?.restart();
        });
      }
      write();
      this.#advance();
      w.brIf(nextChunk);
    });
    w.end();
  }

  /** All chunks. */
  each(write: () => void, idle: SkipTest | null = null, shared: SkippedTurns | null = null): void {
    this.begin();
    this.rest(write, idle, shared);
  }

  /** The next chunk is next; leaves on the stack whether there is one. */
  #advance(): void {
    const { scope, first, threads } = this.#run;
    const { unit, writer: w, specials, chunk } = scope;
    const lanes = unit.shape.width ?? chunk.lanes;
    increase(w, first, lanes);
    specials.nextChunk(lanes);
    w.value(wasm.op("i32.lt_u", local32(first), local32(threads)));
  }
}
