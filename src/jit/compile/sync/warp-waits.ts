import type { Instruction } from "../../../ir/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import { warpWait, warpWaitBytes, warpWaitKinds, kindOf, operandAt } from "../../abi/warp-wait-layout.ts";
import type { WarpWaitBlocks, WarpInstruction } from "../analysis/flow/warp-wait-blocks.ts";
import type { Chunk } from "../emit/chunk.ts";
import { canonicalNan } from "../lanes/canonical-nan.ts";
import { foldWords, laneBits, maskOfBits } from "../lanes/mask-bits.ts";
import { bothMasks } from "../lanes/mask.ts";
import { type Value, vectorOf } from "../lanes/value.ts";
import { type FunctionContext, pushWord, storeWord, tellEntry } from "../module/function-context.ts";
import { callHost } from "../module/host-calls.ts";
import type { WarpOperations } from "./warp-operations.ts";

/** Lets lanes that have waited go on: from the block that is being written, each at the block where it has waited. */
export interface Waker {
  wake(from: number, woken: readonly { readonly at: number; readonly mask: readonly Wasm[] }[]): void;
}

/**
 * Lanes that wait for others of their warp. What they have brought to an operation lies in memory, where the launcher finds
 * out whether all that are named have come, and leaves the results. Only lanes that come together, and wait for nobody else,
 * do without it.
 */
export class WarpWaits {
  readonly blocks: WarpWaitBlocks;
  readonly #chunk: Chunk;
  readonly #context: FunctionContext;
  readonly #operations: WarpOperations;
  /** Where what memory holds of the warp begins. */
  readonly #at: number;
  /** By block, the number under which the launcher knows the operation. */
  readonly #sites = new Map<number, number>();

  constructor(chunk: Chunk, context: FunctionContext, operations: WarpOperations, blocks: WarpWaitBlocks) {
    this.#chunk = chunk;
    this.#context = context;
    this.#operations = operations;
    this.blocks = blocks;
    this.#at = chunk.writer.local("i32");
    const { graph } = chunk.analysis.code;
    for (const block of blocks.all) this.#sites.set(block, context.siteOf(graph.blocks[block]!.start, null));
  }

  /** The chunk whose first thread has the number in a local begins, or goes on. */
  find(first: number): void {
    const { writer } = this.#chunk;
    const { context, layout } = this.#context;
    const warp = wasm.op("i32.shr_u", wasm.local("i32", first), wasm.i32(5));
    const offset = wasm.op("i32.mul", warp, wasm.i32(warpWaitBytes));
    const start = wasm.op("i32.add", wasm.local("i32", context), wasm.i32(layout.warpWaits));
    writer.assign([{ local: this.#at, value: wasm.op("i32.add", start, offset) }]);
  }

  /** A block of threads begins. */
  beginBlock(): void {
    storeWord(this.#chunk.writer, this.#context, "stuck", wasm.i32(0));
  }

  /** No lane of the chunk can go on as long as nobody else does: takes note of those that still wait. */
  noteStuck(): void {
    const { writer } = this.#chunk;
    const { context, layout } = this.#context;
    writer.get(context);
    this.#pushStuck();
    writer.get(this.#at);
    writer.memory("i32.load", 4, warpWait.waiting);
    writer.op("i32.or");
    writer.memory("i32.store", 4, layout.words.stuck);
  }

  /** Nobody in the block can go on: ends the launch where lanes still wait. */
  endIfStuck(): void {
    const { writer } = this.#chunk;
    this.#pushStuck();
    writer.if(() => {
      writer.get(this.#context.context);
      callHost(writer, "deadlock");
    });
  }

  #pushStuck(): void {
    pushWord(this.#chunk.writer, this.#context, "stuck");
  }

  /** The active lanes begin. */
  begin(): void {
    const { writer } = this.#chunk;
    writer.get(this.#at);
    writer.i32(0);
    writer.i32(warpWaitBytes);
    writer.memoryFill();
    this.#store(warpWait.live, laneBits(this.#active));
  }

  /** Lanes end. */
  end(lanes: readonly Wasm[]): void {
    const { writer } = this.#chunk;
    const live = this.#load(warpWait.live);
    const left = wasm.op("i32.and", wasm.local("i32", live), wasm.op("i32.xor", laneBits(lanes), wasm.i32(-1)));
    this.#store(warpWait.live, left);
    writer.release(live);
  }

  /** Lanes of a block have ended: those that wait may go on. Others are active behind the block, or none. */
  settle(block: number, waker: Waker): void {
    const waiting = this.blocks.releasedBy(block);
    if (waiting.length === 0) return;
    const { writer } = this.#chunk;
    writer.get(this.#at);
    writer.memory("i32.load", 4, warpWait.waiting);
    writer.if(() => {
      writer.get(this.#context.context);
      callHost(writer, "settle");
      this.#wake(block, waiting, waker);
    });
  }

  /** The active lanes, those in which the guard holds, come to an operation. */
  gather(block: number, instruction: Instruction, op: WarpInstruction, waker: Waker): void {
    const chunk = this.#chunk;
    const { writer } = chunk;
    const guard = instruction.guard === null ? null : chunk.guardMask(instruction.guard);
    const lanes = bothMasks(this.#active, guard)!;
    const results = { block, dst: instruction.dst, guard };
    const arrived = writer.local("i32");
    writer.assign([{ local: arrived, value: laneBits(lanes) }]);
    this.#pushIsSimple(op, chunk.value(op.mask!), lanes, arrived);
    writer.if(
      () => this.#operations.perform(op.warp, lanes, results),
      () => this.#gatherSlowly(block, instruction, op, lanes, arrived, waker),
    );
    writer.release(arrived);
  }

  /** 1 where all lanes that have come name the same lanes, all of these have come, and nobody else is to be thought of. */
  #pushIsSimple(op: WarpInstruction, mask: Value, lanes: readonly Wasm[], arrived: number): void {
    const { writer, quads } = this.#chunk;
    const here = wasm.local("i32", arrived);
    const loads = [warpWait.live, warpWait.done, warpWait.kinds + 4 * warpWaitKinds.indexOf(kindOf(op.warp))];
    const [live, done, same] = loads.map((at) => this.#load(at)) as [number, number, number];
    const named = writer.local("i32");
    const agree = writer.local("i32");
    if (mask.kind === "uniform") {
      writer.assign([
        { local: named, value: mask.scalar },
        { local: agree, value: wasm.i32(1) },
      ]);
    } else {
      const masks = vectorOf(mask, quads).quads.flat();
      const any = foldWords("v128.or", bothMasks(masks, lanes)!);
      const every = foldWords(
        "v128.and",
        masks.map((part, q) => wasm.op("v128.or", part, wasm.op("v128.not", lanes[q]!))),
      );
      writer.assign([{ local: named, value: any }]);
      writer.assign([{ local: agree, value: wasm.op("i32.eq", wasm.local("i32", named), every) }]);
    }
    const elsewhere = wasm.op("i32.and", wasm.local("i32", live), wasm.op("i32.xor", here, wasm.i32(-1)));
    const missing = wasm.op("i32.and", wasm.local("i32", named), elsewhere);
    const others = wasm.op("i32.or", wasm.local("i32", done), wasm.local("i32", same));
    const none = wasm.op("i32.eqz", wasm.op("i32.or", missing, others));
    const some = wasm.op("i32.ne", here, wasm.i32(0));
    writer.value(wasm.op("i32.and", wasm.op("i32.and", none, some), wasm.local("i32", agree)));
    for (const local of [live, done, same, named, agree]) writer.release(local);
  }

  #gatherSlowly(
    block: number,
    { dst }: Instruction,
    op: WarpInstruction,
    lanes: readonly Wasm[],
    arrived: number,
    waker: Waker,
  ): void {
    const chunk = this.#chunk;
    const { writer } = chunk;
    this.#bring(op, lanes);
    tellEntry(writer, this.#context);
    writer.get(this.#context.context);
    writer.i32(this.#sites.get(block)!);
    writer.get(arrived);
    callHost(writer, "gather");

    // Those for whom it is done go on, the others stay.
    const done = this.#doneAt(block);
    const went = done.map((local) => wasm.local("v128", local));
    writer.assign(
      chunk.active.map((local, q) => ({
        local,
        value: wasm.op("v128.or", wasm.op("v128.andnot", wasm.local("v128", local), lanes[q]!), went[q]!),
      })),
    );
    const load = (at: number): number[] => went.map((_, q) => this.#loadVector(at + 16 * q));
    const loaded = [load(warpWait.first), load(warpWait.second)];
    const values = loaded.map((locals, i): Value => {
      const to = dst[i];
      const isPredicate = typeof to === "number" && chunk.function.registers[to]!.class === "pred";
      const parts = locals.map((local) => [wasm.local("v128", local)]);
      return { kind: "vector", ty: isPredicate ? "pred" : "i32", quads: parts };
    });
    chunk.write(block, dst, dst.length < 2 ? values.slice(0, dst.length) : values, went);
    this.#take(done);
    for (const local of [...done, ...loaded.flat()]) writer.release(local);
    this.#wake(
      block,
      this.blocks.releasedBy(block).filter((at) => at !== block),
      waker,
    );
  }

  /** What lanes bring to an operation. */
  #bring({ mask, warp }: WarpInstruction, lanes: readonly Wasm[]): void {
    const brought = [
      { at: warpWait.named, expr: mask! },
      ...warp.operands.map((expr, i) => ({ at: operandAt(i), expr })),
    ];
    const { quads } = this.#chunk;
    for (const { at, expr } of brought) {
      const parts = vectorOf(canonicalNan(this.#chunk.value(expr)), quads).quads.flat();
      const wide = parts.length > quads;
      parts.forEach((part, i) => {
        const here = wide ? wasm.op(widen[i & 1]!, lanes[i >> 1]!) : lanes[i]!;
        this.#storeIn(here, at + 16 * i, part);
      });
    }
  }

  /** Locals with the mask of the lanes for which the operation of a block is done. */
  #doneAt(block: number): number[] {
    const { writer, active } = this.#chunk;
    const site = wasm.i32x4(this.#sites.get(block)! + 1);
    return active.map((_, q) => {
      const local = this.#loadVector(warpWait.doneAt + 16 * q);
      writer.assign([{ local, value: wasm.op("i32x4.eq", wasm.local("v128", local), site) }]);
      return local;
    });
  }

  /** Lanes take note that it is done for them. */
  #take(lanes: readonly number[]): void {
    const { writer } = this.#chunk;
    const mask = lanes.map((local) => wasm.local("v128", local));
    mask.forEach((part, q) => {
      this.#storeIn(part, warpWait.doneAt + 16 * q, wasm.i32x4(0));
    });
    const done = this.#load(warpWait.done);
    const left = wasm.op("i32.and", wasm.local("i32", done), wasm.op("i32.xor", laneBits(mask), wasm.i32(-1)));
    this.#store(warpWait.done, left);
    writer.release(done);
  }

  /** Lanes for which an operation has been performed, at one of some blocks, go on there. */
  #wake(from: number, blocks: readonly number[], waker: Waker): void {
    const { writer } = this.#chunk;
    const woken = blocks.map((at) => ({ at, locals: this.#doneAt(at) }));
    waker.wake(
      from,
      woken.map(({ at, locals }) => ({ at, mask: locals.map((l) => wasm.local("v128", l)) })),
    );
    for (const { locals } of woken) for (const local of locals) writer.release(local);
  }

  /** The lanes of the warp that have not ended. */
  live(): readonly Wasm[] {
    const { writer, quads } = this.#chunk;
    const live = this.#load(warpWait.live);
    const mask = maskOfBits(wasm.local("i32", live), quads);
    writer.release(live);
    return mask;
  }

  get #active(): readonly Wasm[] {
    return this.#chunk.active.map((local) => wasm.local("v128", local));
  }

  #load(at: number): number {
    const { writer } = this.#chunk;
    const local = writer.local("i32");
    writer.get(this.#at);
    writer.memory("i32.load", 4, at);
    writer.set(local);
    return local;
  }

  #loadVector(at: number): number {
    const { writer } = this.#chunk;
    const local = writer.local("v128");
    writer.get(this.#at);
    writer.memory("v128.load", 16, at);
    writer.set(local);
    return local;
  }

  #store(at: number, value: Wasm): void {
    const { writer } = this.#chunk;
    writer.get(this.#at);
    writer.value(value);
    writer.memory("i32.store", 4, at);
  }

  /** Elements of a vector, in the lanes of a mask. */
  #storeIn(mask: Wasm, at: number, value: Wasm): void {
    const { writer } = this.#chunk;
    const old = this.#loadVector(at);
    writer.get(this.#at);
    writer.value(wasm.blend(mask, value, wasm.local("v128", old)));
    writer.memory("v128.store", 16, at);
    writer.release(old);
  }
}

const widen = ["i64x2.extend_low_i32x4_s", "i64x2.extend_high_i32x4_s"] as const;
