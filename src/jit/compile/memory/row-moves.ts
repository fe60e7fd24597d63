import { laneAddressOf } from "../../../ir/access.ts";
import type { Instruction, OpOf } from "../../../ir/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import { type Fragments, fragmentsOf, type RowMove, type RowMoves, rowMovesOf } from "../analysis/access/row-moves.ts";
import type { Chunk } from "../emit/chunk.ts";
import { bothMasks, type Mask } from "../lanes/mask.ts";
import type { Value } from "../lanes/value.ts";
import type { FunctionContext } from "../module/function-context.ts";
import type { AccessChecks } from "./access-checks.ts";
import { either } from "./checked-access.ts";
import type { LaneOffsets } from "./lane-offsets.ts";

/** Bytes of a row. */
const rowBytes = 16;

/**
 * Moves rows of 16 bytes as they are: from global to shared memory, as asynchronous copies do, and from shared memory
 * to the registers of a matrix (`ldmatrix`), which four lanes hold as the row lies in memory.
 */
export class RowMoveWriter {
  readonly #chunk: Chunk;
  readonly #context: FunctionContext;
  readonly #checks: AccessChecks;
  readonly #laneOffsets: LaneOffsets;
  readonly #known: RowMoves;

  constructor(chunk: Chunk, context: FunctionContext, checks: AccessChecks, laneOffsets: LaneOffsets) {
    this.#chunk = chunk;
    this.#context = context;
    this.#checks = checks;
    this.#laneOffsets = laneOffsets;
    this.#known = rowMovesOf(chunk.analysis.code);
  }

  /** Whether an instruction needs no code of its own. */
  isSkipped(index: number): boolean {
    return this.#known.skipped.has(index);
  }

  /** The move that an instruction completes; null if it is none. */
  at(index: number): RowMove | null {
    return this.#known.moves.get(index) ?? null;
  }

  /** Writes the copy that a store completes. */
  copy(block: number, index: number, { load, fillsZeros }: RowMove): void {
    const { writer, lanes } = this.#chunk;
    const from = this.#offsets(block, load, fillsZeros ? this.#zeros() : null);
    const to = this.#offsets(block, index, null);
    for (let lane = 0; lane < lanes; lane++) {
      this.#push(to, lane);
      this.#push(from, lane);
      writer.memory("v128.load", rowBytes);
      writer.memory("v128.store", rowBytes);
    }
    for (const local of [...from, ...to]) writer.release(local);
  }

  /** Loads the fragments that an exchange gives the lanes. The locals with the results are to be released. */
  fragments(block: number, index: number, { load }: RowMove): { values: readonly Value[]; locals: readonly number[] } {
    const { writer } = this.#chunk;
    const { op } = this.#chunk.analysis.code.instructions[index]!;
    if (op.kind !== "warp" || op.warp.op !== "arrange") throw new Error(`${op.kind} moves no rows`);
    const found: Fragments = fragmentsOf(op.warp.arrangement)!;
    const from = this.#offsets(block, load, null);
    const locals: number[] = [];
    const values = found.rows.map((rows): Value => {
      const own = rows.map(() => writer.local("v128"));
      locals.push(...own);
      rows.forEach((lane, q) => {
        this.#push(from, lane);
        writer.memory("v128.load", rowBytes);
        if (!found.isTransposed) writer.set(own[q]!);
      });
      if (found.isTransposed) {
        writer.call(this.#context.unit.recordHelpers.transpose());
        for (const local of own.toReversed()) writer.set(local);
      }
      return { kind: "vector", ty: "i32", quads: own.map((local) => [wasm.local("v128", local)]) };
    });
    for (const local of from) writer.release(local);
    return { values, locals };
  }

  /** Pushes the byte offset of a lane's row. */
  #push(offsets: readonly number[], lane: number): void {
    const { writer } = this.#chunk;
    writer.value(wasm.lane("i32x4.extract_lane", lane & 3, wasm.local("v128", offsets[lane >> 2]!)));
  }

  /** Writes zeros to the context for lanes that read nothing, and returns where they are, in each lane of a vector. */
  #zeros(): Wasm {
    const { writer, lanes } = this.#chunk;
    const { context, layout } = this.#context;
    // The last bytes of the exchange space: those that inactive lanes write are its first ones.
    const at = layout.values + 32 * lanes - rowBytes;
    writer.get(context);
    writer.value(wasm.i32x4(0));
    writer.memory("v128.store", rowBytes, at);
    return wasm.op("i32x4.splat", wasm.op("i32.add", wasm.local("i32", context), wasm.i32(at)));
  }

  /**
   * The byte offsets of an access in all lanes, in a local for each quad; those of lanes that make none are `otherwise`
   * (null: in spare bytes).
   */
  #offsets(block: number, index: number, otherwise: Wasm | null): readonly number[] {
    const chunk = this.#chunk;
    const { writer } = chunk;
    const { guard, op } = chunk.analysis.code.instructions[index]! as Instruction & { op: OpOf<"load" | "store"> };
    const active = chunk.activeMask(block);
    const mask: Mask = bothMasks(guard === null ? null : this.#guardMask(guard), active);
    const checked = this.#checks.check(index, active, mask);
    const locals = Array.from({ length: chunk.quads }, () => writer.local("v128"));
    either(
      writer,
      checked,
      () => {
        const { quads } = this.#laneOffsets.everyOf(checked);
        writer.assign(locals.map((local, q) => ({ local, value: quads[q]! })));
      },
      () => {
        this.#checks.lookUp(index, op.access, laneAddressOf(op.place), mask);
        this.#checks.loadOffsets(locals);
      },
    );
    checked.release();
    if (mask === null) return locals;
    const own = (q: number): Wasm => wasm.local("v128", locals[q]!);
    const safe = (q: number): Wasm =>
      otherwise === null ? this.#laneOffsets.safe(own(q), mask[q]!) : wasm.blend(mask[q]!, own(q), otherwise);
    writer.assign(locals.map((local, q) => ({ local, value: safe(q) })));
    return locals;
  }

  #guardMask(guard: NonNullable<Instruction["guard"]>): Mask {
    const lanes = this.#chunk.guardMask(guard);
    if (lanes !== null) return lanes;
    const all = wasm.op("i32.sub", wasm.i32(0), this.#chunk.guardScalar(guard));
    return this.#chunk.active.map(() => wasm.op("i32x4.splat", all));
  }
}
