import { isCall } from "../../../ir/calls.ts";
import { accessesOf, type IrFunction, windows } from "../../../ir/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import { type BarrierRegion, touchedIn } from "../analysis/flow/barrier-regions.ts";
import { chunkInvariantsFor } from "../analysis/values/invariant-code.ts";
import type { KernelStacks } from "../memory/kernel-stacks.ts";
import { sharedUseOf } from "../plan/shared-use.ts";
import { computeInvariants, type KernelRun, local32 } from "./kernel-run.ts";

/** Bytes of shared memory that are cleared by single stores: filling memory is a call of the host. */
const mostStored = 512;

/** Writes the beginnings: of a block, before its chunks run, and of a chunk that begins or resumes. */
export class ChunkStart {
  readonly #run: KernelRun;
  readonly #stacks: KernelStacks;
  /** 1 where all lanes of the chunk have a thread. */
  readonly isWhole: Wasm;

  constructor(run: KernelRun, stacks: KernelStacks) {
    this.#run = run;
    this.#stacks = stacks;
    const { unit, chunk } = run.scope;
    this.isWhole = unit.shape.full
      ? wasm.i32(1)
      : wasm.op("i32.le_s", wasm.i32(chunk.lanes), wasm.op("i32.sub", local32(run.threads), local32(run.first)));
  }

  /** A block begins. */
  beginBlock(): void {
    this.#clearShared();
    this.#run.scope.body.warpWaits?.beginBlock();
  }

  /** A chunk begins, or resumes. `computed`: the invariant instructions whose results it needs. */
  prepare(computed: readonly number[] = this.#run.invariants.chunk): void {
    const { scope, first } = this.#run;
    scope.specials.startChunk();
    scope.hardwareThreads?.find();
    scope.body.warpWaits?.find(first);
    this.#stacks.place();
    computeInvariants(this.#run, computed);
  }

  /** All lanes that have a thread become active. */
  activate(): void {
    const { scope, threads, first } = this.#run;
    const { writer, active } = scope.chunk;
    const { full, width } = scope.unit.shape;
    const rest = wasm.op("i32x4.splat", wasm.op("i32.sub", local32(threads), local32(first)));
    const left = width === null || width === 4 * active.length ? rest : wasm.op("i32x4.min_s", rest, wasm.i32x4(width));
    const lanes = (q: number) => wasm.lanes([4 * q, 4 * q + 1, 4 * q + 2, 4 * q + 3]);
    writer.assign(
      active.map((local, q) => ({ local, value: full ? wasm.i32x4(-1) : wasm.op("i32x4.lt_s", lanes(q), left) })),
    );
  }

  /** A chunk begins, with the lanes that are active, in a kernel without barrier regions. */
  begin(): void {
    const { unit, chunk, dead } = this.#run.scope;
    const { ir, liveness } = chunk.analysis.code;
    // A chunk executes one of two versions; the registers of the other one would be kept for the next chunk.
    if (unit.shape.interior || dead.isWorthwhile(chunk.quads)) this.#forget(ir.registers.keys(), liveness.liveIn(0));
    this.#enter();
  }

  #enter(): void {
    const { compiled, frame, context, hardwareThreads, body } = this.#run.scope;
    this.#clearRegisters();
    hardwareThreads?.start();
    if (compiled.allocates) frame.open(context);
    if (compiled.ir.frameImage === undefined) frame.clear(null);
    body.flow.reset();
    body.begin();
    body.warpWaits?.begin();
  }

  /**
   * A chunk begins a barrier region. `restore`: brings back the registers that the region touches; null where the block
   * begins. Returns the registers that the chunk changes.
   */
  beginRegion(region: BarrierRegion, restore: ((touched: ReadonlySet<number>) => void) | null): ReadonlySet<number> {
    const { chunk, body } = this.#run.scope;
    const { code } = chunk.analysis;
    const { touched, written } = touchedIn(code, region);
    this.prepare(chunkInvariantsFor(code, this.#run.invariants, touched));
    this.activate();
    if (restore === null) {
      this.#forget(code.ir.registers.keys(), code.liveness.liveIn(region.start));
      this.#enter();
      // Registers that are read before they are written have begun as zeros.
      const changed = new Set(written);
      code.liveness.liveIn(region.start).forEach((r) => {
        changed.add(r);
      });
      return changed;
    }
    body.flow.reset();
    restore(touched);
    this.#forget(touched, code.liveness.liveIn(region.start));
    body.begin();
    return written;
  }

  /** Shared memory, of which the launch may give a part, begins as zeros in every block. */
  #clearShared(): void {
    const { writer: w, unit } = this.#run.scope;
    const { ranges, ofLaunch } = clearedIn(this.#run);
    const bytes = ranges.reduce((sum, { from, to }) => sum + to - from, 0);
    if (bytes === 0 && !ofLaunch) return;
    const context = local32(this.#run.context);
    const { shared, words } = unit.layout;
    const last = unit.facts.sharedBytes - 16;
    if (bytes <= mostStored && last >= 0 && !ofLaunch) {
      for (const { from, to } of ranges) {
        for (let at = from; at < to; at += 16) {
          w.value(context);
          w.value(wasm.i32x4(0));
          w.memory("v128.store", 1, shared + Math.min(at, last));
        }
      }
      return;
    }
    const start = Math.min(...ranges.map(({ from }) => from));
    w.value(wasm.op("i32.add", context, wasm.i32(shared + start)));
    w.i32(0);
    w.i32(Math.max(...ranges.map(({ to }) => to)) - start);
    if (ofLaunch) {
      w.value(context);
      w.memory("i32.load", 4, words.dynamic_smem_size);
      w.op("i32.add");
    }
    w.memoryFill();
  }

  /**
   * Registers that hold nothing yet, other than the `live` ones, are forgotten: for all that V8 knows, what they held
   * for the chunk before may still be needed. It is done in barrier regions, since each has a loop over chunks, over
   * which V8 would keep the values of all the others, in kernels in two versions, and where there are many vectors.
   */
  #forget(registers: Iterable<number>, live: { has(register: number): boolean }): void {
    const { invariants, steps, scope } = this.#run;
    scope.dead.forget(registers, (r) => live.has(r) || invariants.registers.has(r) || steps?.shared.has(r) === true);
  }

  /** Registers that are read before they are written hold zeros. */
  #clearRegisters(): void {
    const { writer, analysis, locals } = this.#run.scope.chunk;
    const zero = { i32: wasm.i32(0), i64: wasm.i64(0n), v128: wasm.i32x4(0), f32: wasm.f32(0), f64: wasm.f64(0) };
    analysis.code.liveness.liveIn(0).forEach((r) => {
      writer.assign(locals(r).map((l) => ({ local: l, value: zero[writer.typeOf(l)] })));
    });
  }
}

/** Bytes of shared memory, from its beginning on. */
interface SharedBytes {
  readonly from: number;
  readonly to: number;
}

/**
 * What is cleared before a block begins: all of shared memory, or what the kernel can find of it. `ofLaunch`: what the
 * launch gives, which lies after all else, is a part of it.
 */
function clearedIn({ scope: { unit, compiled } }: KernelRun): {
  readonly ranges: readonly SharedBytes[];
  readonly ofLaunch: boolean;
} {
  const { facts, graph } = unit;
  const { sharedBytes, functions } = facts;
  const whole = { from: 0, to: sharedBytes };
  if (compiled.asLoaded.file !== undefined) return { ranges: [whole], ofLaunch: mayUseLocalMemory(compiled.ir) };
  const { module, shared } = functions.program;
  // In watched kernels shadow memory follows the variables, and no name stands for it.
  const isWatched = facts.shared !== shared.extents;
  const use = facts.sharedUse ?? (isWatched ? null : sharedUseOf(graph.functions, functions.program));
  if (use === null) return { ranges: [whole], ofLaunch: module.variables.some((v) => v.dynamicShared) };
  const { start } = windows.shared;
  const ranges = use.variables.map((v) => ({
    from: (v.start - start) & -16,
    to: Math.min((v.end - start + 15) & -16, sharedBytes),
  }));
  return {
    ranges: use.ofLaunch ? [...ranges, { from: sharedBytes, to: sharedBytes }] : ranges,
    ofLaunch: use.ofLaunch,
  };
}

/** Whether a kernel may access the local memory of a group, whose size the launch says (vISA). */
const mayUseLocalMemory = ({ file, instructions }: IrFunction): boolean =>
  instructions.some(
    ({ op }) =>
      (file !== undefined && isCall(op)) ||
      accessesOf(op).some(({ place, access }) => place.kind === "surface" || access.space === "shared"),
  );
