import { writesOf } from "../../../ir/flow/accesses.ts";
import type { FunctionWriter } from "../../../wasm/index.ts";
import { WarpWaitBlocks } from "../analysis/flow/warp-wait-blocks.ts";
import type { UniformityAnalysis } from "../analysis/values/uniformity.ts";

/** Vectors that the machine has room for: if no more pass from block to block, the host may as well keep them all. */
const machineVectors = 16;

/** Chunks of fewer quads gain nothing, as measured. */
const fewestQuads = 4;

/**
 * Forgets registers where they are dead. In code for any lanes ways meet that no lane takes one after the other, and
 * blocks keep old values of lanes that may be elsewhere: for all that the host knows, most registers of a kernel may
 * then be read at any time. It would keep them all, more than the machine has, and copy them wherever ways meet.
 */
export class DeadRegisters {
  readonly #writer: FunctionWriter;
  readonly #analysis: UniformityAnalysis;
  readonly #locals: (register: number) => readonly number[];
  readonly #lasting: ReadonlySet<number> | null;
  #passing: ReadonlySet<number> | null = null;
  #isWorthwhile: boolean | null = null;

  /** `lasting`: registers that are needed beyond where lanes read them; null if that is not known. */
  constructor(
    writer: FunctionWriter,
    analysis: UniformityAnalysis,
    locals: (register: number) => readonly number[],
    lasting: ReadonlySet<number> | null,
  ) {
    this.#writer = writer;
    this.#analysis = analysis;
    this.#locals = locals;
    this.#lasting = lasting;
  }

  /** Whether registers are worth forgetting wherever lanes diverge and chunks begin. `quads`: those of the chunk. */
  isWorthwhile(quads: number): boolean {
    this.#isWorthwhile ??= quads >= fewestQuads && this.#passingVectors() > machineVectors;
    return this.#isWorthwhile;
  }

  #passingVectors(): number {
    const locals = new Set<number>();
    for (const r of this.#passingRegisters()) {
      for (const local of this.#locals(r)) if (this.#writer.typeOf(local) === "v128") locals.add(local);
    }
    return locals.size;
  }

  #passingRegisters(): ReadonlySet<number> {
    this.#passing ??= passingRegisters(this.#analysis);
    return this.#passing;
  }

  /** Forgets those of some registers that are not kept, in all lanes. */
  forget(registers: Iterable<number>, isKept: (register: number) => boolean): void {
    const passing = this.#passingRegisters();
    const kept = new Set<number>();
    const forgotten = new Set<number>();
    for (const r of registers) {
      const to = isKept(r) ? kept : passing.has(r) ? forgotten : null;
      if (to !== null) for (const local of this.#locals(r)) to.add(local);
    }
    for (const local of forgotten) if (!kept.has(local)) this.#writer.forget(local);
  }

  /** Forgets what neither lanes at a block need nor those that may wait elsewhere meanwhile. */
  forgetBefore(block: number): void {
    const { code, divergence } = this.#analysis;
    const lasting = this.#lasting;
    if (lasting === null || divergence.isUnknown) return;
    const places = [block, ...divergence.waiting(block)].filter((b) => b < code.graph.blocks.length);
    const live = places.map((b) => code.liveness.liveIn(b));
    this.forget(code.ir.registers.keys(), (r) => lasting.has(r) || live.some((there) => there.has(r)));
  }
}

/**
 * Registers that seem to be read before anything is written to them in all lanes: those that pass from block to block,
 * or that an instruction writes in some lanes. None where liveness does not know all reads.
 */
function passingRegisters(analysis: UniformityAnalysis): ReadonlySet<number> {
  const { graph, instructions, liveness, ir } = analysis.code;
  const found = new Set<number>();
  if (ir.file !== undefined || new WarpWaitBlocks(analysis).all.length > 0) return found;
  for (const { index, start, end } of graph.blocks) {
    liveness.liveIn(index).forEach((r) => {
      found.add(r);
    });
    for (let i = start; i < end; i++) {
      const { guard } = instructions[i]!;
      writesOf(instructions[i]!, (r) => {
        if (guard !== null || analysis.merges(index, r)) found.add(r);
      });
    }
  }
  return found;
}
