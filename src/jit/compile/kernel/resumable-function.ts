import { type Wasm, wasm } from "../../../wasm/index.ts";
import { suspendedFrameWords } from "../../abi/chunk-state.ts";
import type { Chunk } from "../emit/chunk.ts";
import { laneBits } from "../lanes/mask-bits.ts";
import { type FunctionContext, pushWord, storeWord } from "../module/function-context.ts";
import { giveUpIf } from "../module/host-calls.ts";
import type { CompiledFunction } from "../plan/compiled-functions.ts";
import { suspensionReason } from "../plan/suspension-points.ts";
import type { Suspension } from "../sync/suspension.ts";
import type { Body } from "./body.ts";

/**
 * Calls that may be suspended within each other, at most: to resume the innermost, all are called again, which the
 * interpreter need not do.
 */
const maxDepth = 256;

/**
 * A function that returns before it has ended when lanes suspend. It tells its caller where its suspended frame is, and
 * is called again to resume these lanes; the others have returned.
 */
export class ResumableFunction {
  readonly #context: FunctionContext;
  readonly #chunk: Chunk;
  readonly #compiled: CompiledFunction;
  readonly #body: Body;
  readonly #suspension: Suspension;

  constructor(context: FunctionContext, chunk: Chunk, compiled: CompiledFunction, body: Body, suspension: Suspension) {
    this.#context = context;
    this.#chunk = chunk;
    this.#compiled = compiled;
    this.#body = body;
    this.#suspension = suspension;
    if (suspension.bytes > context.unit.suspendedFrames.sizeOf(compiled)) {
      throw new Error("the state of an activation is larger than the room for it");
    }
  }

  /** Begins, or resumes. */
  enter(begin: () => void): void {
    const { writer: w } = this.#chunk;
    const { state } = this.#suspension;
    pushWord(w, this.#context, "resumedFrame");
    w.tee(state);
    w.if(() => {
      this.#suspension.restore();
      this.#body.counted?.resume();
      this.#body.begin();
      pushWord(w, this.#context, "resumesYielded");
      w.if(
        () => this.#body.flow.resume("yield"),
        () => this.#body.flow.resume("barrier"),
      );
    }, begin);
  }

  /**
   * The suspended lanes, in locals: if there are any, all that they resume with is saved, and the caller is told. In
   * lockstep all lanes of the call suspend, and the function returns at once.
   */
  suspendOrEnd(called: readonly Wasm[]): readonly number[] {
    const { writer: w, active } = this.#chunk;
    const { state, masks, isLockstep } = this.#suspension;
    const { module, layout, suspendedFrames } = this.#context.unit;
    const { context } = this.#context;
    const suspended = active.map(() => w.local("v128"));
    w.assign(
      suspended.map((local, q) => ({
        local,
        value: masks.map((mask): Wasm => wasm.local("v128", mask[q]!)).reduce((a, b) => wasm.op("v128.or", a, b)),
      })),
    );
    const bits = w.local("i32");
    w.assign([{ local: bits, value: laneBits(suspended.map((local) => wasm.local("v128", local))) }]);
    w.get(bits);
    w.if(
      () => {
        w.value(wasm.op("i32.eqz", wasm.local("i32", state)));
        w.if(() => {
          if (this.#context.unit.graph.order.recursive) this.#requireShallow();
          suspendedFrames.take(module, layout, w, this.#compiled, context, state);
          this.#note("callee", wasm.i32(this.#compiled.number));
        });
        this.#suspension.save();
        this.#note("lanes", isLockstep ? laneBits(called) : wasm.local("i32", bits));
        const { barrier, yield: turn } = suspensionReason;
        const yields = this.#suspension.anySuspended("yield");
        this.#note("reason", wasm.select(yields, wasm.i32(turn), wasm.i32(barrier)));
        storeWord(w, this.#context, "suspendedFrame", wasm.local("i32", state));
        if (isLockstep) w.return();
      },
      () => {
        w.get(state);
        w.if(() => suspendedFrames.giveBack(layout, w, this.#compiled, context, state));
        storeWord(w, this.#context, "suspendedFrame", wasm.i32(0));
      },
    );
    w.release(bits);
    return suspended;
  }

  /** Gives the launch up if too many calls would have to be made again to resume. */
  #requireShallow(): void {
    const { writer: w } = this.#chunk;
    const { context, entry, layout } = this.#context;
    const entryAt = wasm.op("i32.sub", wasm.local("i32", entry), wasm.local("i32", context));
    const most = layout.calls + maxDepth * layout.callBytes;
    giveUpIf(this.#context.unit.module, w, wasm.op("i32.gt_u", entryAt, wasm.i32(most)), "deepWaits");
  }

  #note(word: keyof typeof suspendedFrameWords, value: Wasm): void {
    const { writer: w } = this.#chunk;
    w.get(this.#suspension.state);
    w.value(value);
    w.memory("i32.store", 4, suspendedFrameWords[word]);
  }
}
