import { flowGraphOf, livenessOf, sideBySide, withWebs } from "../../ir/flow/index.ts";
import { type IrFunction, windows } from "../../ir/index.ts";
import { axisOf } from "../../machine/launch.ts";
import type { Dim3 } from "../../machine/reports/report.ts";
import type { Program } from "../../program/program.ts";
import { foundOnce, noted } from "../compile/analysis/access/noted.ts";
import type { WarpConflicts } from "../compile/analysis/access/lane-meetings.ts";
import { findsOwnVariables, sharedRangeOf } from "../compile/analysis/access/shared-copies.ts";
import { comeToBarriersTogether } from "../compile/analysis/flow/common-barriers.ts";
import type { CompiledFunction, CompiledFunctions } from "../compile/plan/compiled-functions.ts";
import type { ProgramFacts } from "../compile/plan/program-facts.ts";
import { isOfOneBlock } from "./own-work.ts";
import { blockOf, extentOf, type KnownNeighbours } from "./regrouping.ts";

/** Threads of blocks that are better off with neighbours, at most: they fill half a chunk. */
const mostThreads = 8;

/** Threads of the blocks that lie side by side, at most: they are one chunk, so that nobody waits for others. */
const lanes = 16;

/** Kernels with more instructions are not examined. */
const maxInstructions = 2000;

/** Bytes of shared memory of all blocks that lie side by side, at most: those of a block of a GPU. */
const maxSharedBytes = 48 * 1024;

/** What a program's compiler knows. */
interface Compiling {
  readonly program: Program;
  readonly functions: CompiledFunctions;
  conflictsOf(kernel: IrFunction, block: Dim3): WarpConflicts;
  facts(functions: CompiledFunctions): ProgramFacts;
}

/** A kernel whose blocks are several of those that were asked for. */
export interface NeighbourKernel {
  readonly functions: CompiledFunctions;
  /** The shared variables of these blocks are one variable. */
  readonly facts: ProgramFacts;
}

/**
 * Finds which kernels cannot tell whether neighbouring blocks of few threads are one larger block, with barriers for
 * all of it: blocks keep to themselves, and each finds its own variables in shared memory and nothing else.
 */
export class SideBySideKernels {
  readonly #compiling: Compiling;
  /** By kernel and block; null where blocks stay what they are. */
  readonly #known = new Map<string, Map<string, KnownNeighbours | null>>();
  readonly #kernels = new Map<string, NeighbourKernel>();

  constructor(compiling: Compiling) {
    this.#compiling = compiling;
  }

  /** How blocks of one size may lie side by side; null where they stay what they are. */
  neighboursIn(name: string, block: Dim3): KnownNeighbours | null {
    return noted(this.#known, name, block.join(), () => {
      const kernel = this.#compiling.functions.named(name);
      return kernel === null ? null : this.#find(kernel, block);
    });
  }

  /** The kernel that runs in blocks of so many neighbours. `block`: that of the launch that was asked for. */
  kernelIn(kernel: CompiledFunction, block: Dim3, blocks: number): NeighbourKernel {
    return this.#kernelWith(kernel, block, this.neighboursIn(kernel.ir.name, block)!, blocks);
  }

  #find(kernel: CompiledFunction, block: Dim3): KnownNeighbours | null {
    const { program, conflictsOf } = this.#compiling;
    const { ir } = kernel;
    const threads = block[0] * block[1] * block[2];
    if (threads > mostThreads || block[2] > 1 || ir.file !== undefined) return null;
    if (ir.instructions.length > maxInstructions || !ir.instructions.every(isOfOneBlock)) return null;
    const shared = sharedRangeOf(ir, program);
    if (shared === null) return null;
    const mostBlocks = 2 ** Math.floor(Math.log2(lanes / threads));
    const stride = Math.ceil((shared.end - shared.start) / 16) * 16;
    if (mostBlocks * stride > maxSharedBytes) return null;
    const placement = threads === 1 ? "alongX" : block[1] === 1 ? "alongY" : "alongZ";
    const bytes = program.shared.dynamicStart - shared.start;
    const known = { placement, mostBlocks, stride, start: shared.start, bytes } as const;
    const whole = blockOf(block, known, mostBlocks);
    const larger = this.#kernelWith(kernel, block, known, mostBlocks).functions.list[kernel.number]!.ir;
    if (conflictsOf(larger, whole) === "order") return null;
    // People who write assembly use registers again.
    const [own, separated] = [ir, larger].map(withOwnRegisters);
    const copies = { of: { ir: own!, block }, in: { ir: separated!, block: whole }, stride };
    return findsOwnVariables(copies, program) && comeToBarriersTogether(separated!) ? known : null;
  }

  #kernelWith(kernel: CompiledFunction, block: Dim3, known: KnownNeighbours, blocks: number): NeighbourKernel {
    const key = `${kernel.ir.name} ${block.join()} ${blocks}`;
    return foundOnce(this.#kernels, key, () => {
      const { program, functions: all } = this.#compiling;
      const { placement, stride } = known;
      const along = axisOf(placement)!;
      const isShared = (name: string): boolean => program.variables.get(name)?.variable.space === "shared";
      const functions = all.withAnyBlocks(
        kernel,
        sideBySide(kernel.ir, { blocks, along, width: block[0], stride, isShared }),
      );
      const facts = this.#compiling.facts(functions);
      if (stride === 0) return { functions, facts };
      const shared = [extentOf(known, blocks)];
      const sharedBytes = Math.max(facts.sharedBytes, shared[0]!.end - windows.shared.start);
      return { functions, facts: { ...facts, shared, sharedBytes, sharedUse: { variables: shared, ofLaunch: false } } };
    });
  }
}

/** The code with a register for each of the unrelated values that one register holds in turn. */
function withOwnRegisters(ir: IrFunction): IrFunction {
  const graph = flowGraphOf(ir.instructions);
  return { ...ir, ...withWebs(ir, graph, livenessOf(ir, graph, []), { fixed: [], returned: [] }) };
}
