import type { Instruction } from "../../../ir/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import { warpWait, warpWaitBytes, warpWaitKinds, kindOf, operandAt } from "../../abi/warp-wait-layout.ts";
import type { WarpWaitBlocks, WarpInstruction } from "../analysis/flow/warp-wait-blocks.ts";
import type { Chunk } from "../emit/chunk.ts";
import { canonicalNan } from "../lanes/canonical-nan.ts";
import { foldWords, laneBits, maskOfBits } from "../lanes/mask-bits.ts";
import { bothMasks } from "../lanes/mask.ts";
import { type Value, vectorOf } from "../lanes/value.ts";
import { type FunctionContext, pushWord, storeWord, storeEntry } from "../module/function-context.ts";
import { callHost } from "../module/host-calls.ts";
import { isForGroups, MaskGroups } from "./mask-groups.ts";
import type { Results } from "./matrix-operations.ts";
import { areInGroups } from "./own-groups.ts";
import type { WarpOperations } from "./warp-operations.ts";

/** Resumes lanes that have waited: from the end of the block `from`, each at the block at which it waited. */
export interface Waker {
  wake(from: number, woken: readonly { readonly at: number; readonly mask: readonly Wasm[] }[]): void;
}

/**
 * Lanes that wait for others of their warp at warp-wide operations. They store their operands in memory; the launcher
 * finds out whether all named lanes have arrived, and stores the results there. Lanes that arrive together and name no
 * others do without the launcher.
 */
export class WarpWaits {
  readonly blocks: WarpWaitBlocks;
  readonly #chunk: Chunk;
  readonly #context: FunctionContext;
  readonly #operations: WarpOperations;
  /** The local with the address of the warp's wait state: see `warpWait`. */
  readonly #at: number;
  /** By block, the number by which the launcher knows the operation. */
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

  /** Finds the wait state of a chunk that begins or resumes. `first`: the local with the number of its first thread. */
  find(first: number): void {
    const { writer } = this.#chunk;
    const { context, layout } = this.#context;
    const warp = wasm.op("i32.shr_u", wasm.local("i32", first), wasm.i32(5));
    const offset = wasm.op("i32.mul", warp, wasm.i32(warpWaitBytes));
    const start = wasm.op("i32.add", wasm.local("i32", context), wasm.i32(layout.warpWaits));
    writer.assign([{ local: this.#at, value: wasm.op("i32.add", start, offset) }]);
  }

  /** A block of the grid begins. */
  beginBlock(): void {
    storeWord(this.#chunk.writer, this.#context, "stuck", wasm.i32(0));
  }

  /** No lane of the chunk can continue unless others do: notes whether any of them waits for its warp. */
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

  /** No chunk of the block can continue: ends the launch if lanes still wait for their warp. */
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

  /** A warp begins with the active lanes. */
  begin(): void {
    const { writer } = this.#chunk;
    writer.get(this.#at);
    writer.i32(0);
    writer.i32(warpWaitBytes);
    writer.memoryFill();
    this.#store(warpWait.live, laneBits(this.#active));
  }

  /** Lanes exit. */
  end(lanes: readonly Wasm[]): void {
    const { writer } = this.#chunk;
    const live = this.#load(warpWait.live);
    const left = wasm.op("i32.and", wasm.local("i32", live), wasm.op("i32.xor", laneBits(lanes), wasm.i32(-1)));
    this.#store(warpWait.live, left);
    writer.release(live);
  }

  /**
   * Lanes of a block have exited, which may release others. Any lanes that are still active continue after the block.
   */
  settle(block: number, waker: Waker): void {
    const released = this.blocks.releasedBy(block);
    if (released.length === 0) return;
    const { writer } = this.#chunk;
    writer.get(this.#at);
    writer.memory("i32.load", 4, warpWait.waiting);
    writer.if(() => {
      writer.get(this.#context.context);
      callHost(writer, "settle");
      this.#wake(block, released, waker);
    });
  }

  /** The active lanes in which the guard holds arrive at an operation. */
  arrive(block: number, instruction: Instruction, op: WarpInstruction, waker: Waker): void {
    const chunk = this.#chunk;
    const { writer } = chunk;
    const guard = instruction.guard === null ? null : chunk.guardMask(instruction.guard);
    const lanes = bothMasks(this.#active, guard)!;
    const { start } = chunk.analysis.code.graph.blocks[block]!;
    const results = { block, instruction: start, dst: instruction.dst, guard };
    const arrived = writer.local("i32");
    writer.assign([{ local: arrived, value: laneBits(lanes) }]);
    const isApart = areInGroups(op.mask, chunk.known);
    this.#pushIsAlone(op, chunk.value(op.mask!), lanes, arrived, isApart);
    const atHost = (): void => this.#arriveAtHost(block, instruction, op, lanes, arrived, waker);
    const named = chunk.value(op.mask!);
    writer.if(
      () => {
        if (isApart) this.#operations.performApart(op.warp, op.mask!, lanes, results);
        else this.#operations.perform(op.warp, lanes, results);
      },
      () => {
        if (named.kind === "uniform" || isApart || !isForGroups(op.warp)) atHost();
        else this.#performInGroups(op, results, { lanes, arrived, named }, atHost);
      },
    );
    writer.release(arrived);
  }

  /**
   * Performs an operation for lanes that name different ones, group by group, if each group is complete and no lane
   * waits elsewhere; otherwise `atHost`.
   */
  #performInGroups(
    op: WarpInstruction,
    results: Results,
    { lanes, arrived, named }: { readonly lanes: readonly Wasm[]; readonly arrived: number; readonly named: Value },
    atHost: () => void,
  ): void {
    const { writer, quads } = this.#chunk;
    const of = (local: number): Wasm => wasm.local("i32", local);
    const groups = new MaskGroups(this.#chunk, vectorOf(named, quads).quads.flat(), lanes, arrived);
    groups.masks.forEach((part, q) => {
      this.#storeIn(lanes[q]!, warpWait.named + 16 * q, part);
    });
    const pushNamesOf = (lane: Wasm): void => {
      writer.value(wasm.op("i32.add", of(this.#at), wasm.op("i32.shl", lane, wasm.i32(2))));
      writer.memory("i32.load", 4, warpWait.named);
    };
    const [live, missing, same] = this.#states(op);
    writer.assign([{ local: missing, value: wasm.op("i32.or", of(missing), of(same)) }]);
    writer.value(of(arrived));
    writer.if(() => groups.addMissing(of(live), missing, pushNamesOf));
    const isComplete = wasm.op("i32.eqz", of(missing));
    writer.value(wasm.op("i32.and", wasm.op("i32.ne", of(arrived), wasm.i32(0)), isComplete));
    writer.if(() => {
      groups.each((group) => this.#operations.perform(op.warp, group, { ...results, guard: group }), pushNamesOf);
    }, atHost);
    groups.release();
    for (const local of [live, missing, same]) writer.release(local);
  }

  /** Loads which lanes live, for which an operation is done, and which wait at operations of the same kind. */
  #states({ warp }: WarpInstruction): [live: number, done: number, same: number] {
    const kind = warpWait.kinds + 4 * warpWaitKinds.indexOf(kindOf(warp));
    return [this.#load(warpWait.live), this.#load(warpWait.done), this.#load(kind)];
  }

  /**
   * Leaves 1 on the stack if the lanes that arrive name the same lanes, all of these arrive, and none waits elsewhere.
   * `isApart`: groups of lanes that name each other have nothing to do with others, so that they need not be the same.
   */
  #pushIsAlone(op: WarpInstruction, mask: Value, lanes: readonly Wasm[], arrived: number, isApart: boolean): void {
    const { writer, quads } = this.#chunk;
    const here = wasm.local("i32", arrived);
    const [live, done, same] = this.#states(op);
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
      const isSame = isApart ? wasm.i32(1) : wasm.op("i32.eq", wasm.local("i32", named), every);
      writer.assign([{ local: agree, value: isSame }]);
    }
    const elsewhere = wasm.op("i32.and", wasm.local("i32", live), wasm.op("i32.xor", here, wasm.i32(-1)));
    const missing = wasm.op("i32.and", wasm.local("i32", named), elsewhere);
    const others = wasm.op("i32.or", wasm.local("i32", done), wasm.local("i32", same));
    const none = wasm.op("i32.eqz", wasm.op("i32.or", missing, others));
    const some = wasm.op("i32.ne", here, wasm.i32(0));
    writer.value(wasm.op("i32.and", wasm.op("i32.and", none, some), wasm.local("i32", agree)));
    for (const local of [live, done, same, named, agree]) writer.release(local);
  }

  /** Lets the launcher perform the operation, once all lanes have arrived that it is for. */
  #arriveAtHost(
    block: number,
    { dst }: Instruction,
    op: WarpInstruction,
    lanes: readonly Wasm[],
    arrived: number,
    waker: Waker,
  ): void {
    const chunk = this.#chunk;
    const { writer } = chunk;
    this.#storeOperands(op, lanes);
    storeEntry(writer, this.#context);
    writer.get(this.#context.context);
    writer.i32(this.#sites.get(block)!);
    writer.get(arrived);
    callHost(writer, "arriveAtWarpWait");

    // Lanes for which the operation is done continue; the others wait.
    const done = this.#doneAt(block);
    const finished = done.map((local) => wasm.local("v128", local));
    writer.assign(
      chunk.active.map((local, q) => ({
        local,
        value: wasm.op("v128.or", wasm.op("v128.andnot", wasm.local("v128", local), lanes[q]!), finished[q]!),
      })),
    );
    const load = (at: number): number[] => finished.map((_, q) => this.#load(at + 16 * q, "v128"));
    const loaded = [load(warpWait.first), load(warpWait.second)];
    const values = loaded.map((locals, i): Value => {
      const to = dst[i];
      const isPredicate = typeof to === "number" && chunk.function.registers[to]!.class === "pred";
      const parts = locals.map((local) => [wasm.local("v128", local)]);
      return { kind: "vector", ty: isPredicate ? "pred" : "i32", quads: parts };
    });
    chunk.write(block, dst, dst.length < 2 ? values.slice(0, dst.length) : values, finished);
    this.#clearDone(done);
    for (const local of [...done, ...loaded.flat()]) writer.release(local);
    this.#wake(
      block,
      this.blocks.releasedBy(block).filter((at) => at !== block),
      waker,
    );
  }

  /** Stores the operands of lanes that arrive. */
  #storeOperands({ mask, warp }: WarpInstruction, lanes: readonly Wasm[]): void {
    const operands = [
      { at: warpWait.named, expr: mask! },
      ...warp.operands.map((expr, i) => ({ at: operandAt(i), expr })),
    ];
    const { quads } = this.#chunk;
    for (const { at, expr } of operands) {
      const parts = vectorOf(canonicalNan(this.#chunk.value(expr)), quads).quads.flat();
      const wide = parts.length > quads;
      parts.forEach((part, i) => {
        const here = wide ? wasm.op(widen[i & 1]!, lanes[i >> 1]!) : lanes[i]!;
        this.#storeIn(here, at + 16 * i, part);
      });
    }
  }

  /** Loads the mask of the lanes for which the operation of a block is done into locals. */
  #doneAt(block: number): number[] {
    const { writer, active } = this.#chunk;
    const site = wasm.i32x4(this.#sites.get(block)! + 1);
    return active.map((_, q) => {
      const local = this.#load(warpWait.doneAt + 16 * q, "v128");
      writer.assign([{ local, value: wasm.op("i32x4.eq", wasm.local("v128", local), site) }]);
      return local;
    });
  }

  /** Lanes have taken their results. */
  #clearDone(lanes: readonly number[]): void {
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

  /** Resumes the lanes for which the operation of one of these blocks is done. */
  #wake(from: number, blocks: readonly number[], waker: Waker): void {
    const { writer } = this.#chunk;
    const woken = blocks.map((at) => ({ at, locals: this.#doneAt(at) }));
    waker.wake(
      from,
      woken.map(({ at, locals }) => ({ at, mask: locals.map((l) => wasm.local("v128", l)) })),
    );
    for (const { locals } of woken) for (const local of locals) writer.release(local);
  }

  /** The lanes of the warp that have not exited. */
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

  /** A local with the word or vector at an offset. */
  #load(at: number, type: "i32" | "v128" = "i32"): number {
    const { writer } = this.#chunk;
    const local = writer.local(type);
    writer.get(this.#at);
    writer.memory(`${type}.load`, type === "i32" ? 4 : 16, at);
    writer.set(local);
    return local;
  }

  #store(at: number, value: Wasm): void {
    const { writer } = this.#chunk;
    writer.get(this.#at);
    writer.value(value);
    writer.memory("i32.store", 4, at);
  }

  /** Stores the elements of a vector in the lanes of a mask. */
  #storeIn(mask: Wasm, at: number, value: Wasm): void {
    const { writer } = this.#chunk;
    const old = this.#load(at, "v128");
    writer.get(this.#at);
    writer.value(wasm.blend(mask, value, wasm.local("v128", old)));
    writer.memory("v128.store", 16, at);
    writer.release(old);
  }
}

const widen = ["i64x2.extend_low_i32x4_s", "i64x2.extend_high_i32x4_s"] as const;
