import { type Wasm, wasm } from "../../../wasm/index.ts";
import { activationWords } from "../../abi/chunk-state.ts";
import type { Chunk } from "../emit/chunk.ts";
import { laneBits } from "../lanes/mask-bits.ts";
import { type FunctionContext, pushWord, storeWord } from "../module/function-context.ts";
import { giveUpIf } from "../module/host-calls.ts";
import type { ModuleUnit } from "../module/module-unit.ts";
import type { CompiledFunction } from "../plan/callables.ts";
import { suspensionReason } from "../plan/pauses.ts";
import type { Suspension } from "../sync/suspension.ts";
import type { Body } from "./body.ts";

/** Calls within each other whose lanes may wait: each time that these go on, all are entered again. The interpreter need not do that. */
const maxDepth = 256;

/**
 * A function that comes back before it has ended when lanes wait for other threads. It tells its caller where it has kept what it goes on
 * with, and is called once more for those lanes; the others have returned.
 */
export class ResumableFunction {
  readonly #unit: ModuleUnit;
  readonly #memory: FunctionContext;
  readonly #chunk: Chunk;
  readonly #callable: CompiledFunction;
  readonly #body: Body;
  readonly #suspension: Suspension;

  constructor(
    unit: ModuleUnit,
    memory: FunctionContext,
    chunk: Chunk,
    callable: CompiledFunction,
    body: Body,
    suspension: Suspension,
  ) {
    this.#unit = unit;
    this.#memory = memory;
    this.#chunk = chunk;
    this.#callable = callable;
    this.#body = body;
    this.#suspension = suspension;
    if (suspension.bytes > unit.paused.sizeOf(callable)) {
      throw new Error("the state of an activation is larger than the room for it");
    }
  }

  /** Begins, or goes on. */
  enter(begin: () => void): void {
    const { writer: w } = this.#chunk;
    const { state } = this.#suspension;
    pushWord(w, this.#memory, "resumes");
    w.tee(state);
    w.if(() => {
      this.#suspension.restore();
      this.#body.counted?.resume();
      this.#body.begin();
      pushWord(w, this.#memory, "woken");
      w.if(
        () => this.#body.flow.resume("yield"),
        () => this.#body.flow.resume("barrier"),
      );
    }, begin);
  }

  /**
   * The lanes that wait, in locals: where there are any, all that they go on with is kept, and the caller is told. In lockstep all do that
   * have called, and nothing that comes behind is done.
   */
  suspendOrEnd(called: readonly Wasm[]): readonly number[] {
    const { writer: w, active } = this.#chunk;
    const { state, masks, isLockstep } = this.#suspension;
    const { module, layout, paused } = this.#unit;
    const { context } = this.#memory;
    const waits = active.map(() => w.local("v128"));
    w.assign(
      waits.map((local, q) => ({
        local,
        value: masks.map((mask): Wasm => wasm.local("v128", mask[q]!)).reduce((a, b) => wasm.op("v128.or", a, b)),
      })),
    );
    const bits = w.local("i32");
    w.assign([{ local: bits, value: laneBits(waits.map((local) => wasm.local("v128", local))) }]);
    w.get(bits);
    w.if(
      () => {
        w.value(wasm.op("i32.eqz", wasm.local("i32", state)));
        w.if(() => {
          if (this.#unit.graph.order.recursive) this.#requireShallow();
          paused.take(module, layout, w, this.#callable, context, state);
          this.#note("callee", wasm.i32(this.#callable.number));
        });
        this.#suspension.save();
        this.#note("lanes", isLockstep ? laneBits(called) : wasm.local("i32", bits));
        const { barrier, yield: turn } = suspensionReason;
        const yields = this.#suspension.anySuspended("yield");
        this.#note("reason", wasm.select(yields, wasm.i32(turn), wasm.i32(barrier)));
        storeWord(w, this.#memory, "paused", wasm.local("i32", state));
        if (isLockstep) w.return();
      },
      () => {
        w.get(state);
        w.if(() => paused.giveBack(layout, w, this.#callable, context, state));
        storeWord(w, this.#memory, "paused", wasm.i32(0));
      },
    );
    w.release(bits);
    return waits;
  }

  /** Gives the launch up if too many activations would have to be entered again one after the other. */
  #requireShallow(): void {
    const { writer: w } = this.#chunk;
    const { context, entry, layout } = this.#memory;
    const entryAt = wasm.op("i32.sub", wasm.local("i32", entry), wasm.local("i32", context));
    const most = layout.calls + maxDepth * layout.callBytes;
    giveUpIf(this.#unit.module, w, wasm.op("i32.gt_u", entryAt, wasm.i32(most)));
  }

  #note(word: keyof typeof activationWords, value: Wasm): void {
    const { writer: w } = this.#chunk;
    w.get(this.#suspension.state);
    w.value(value);
    w.memory("i32.store", 4, activationWords[word]);
  }
}
