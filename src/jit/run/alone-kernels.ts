import { type GlobalIndexUse, globalIndexUseOf, transposed } from "../../ir/flow/index.ts";
import { type IrFunction, leadsBack } from "../../ir/index.ts";
import type { Dim3 } from "../../machine/reports/report.ts";
import type { Program } from "../../program/program.ts";
import { specialsOf } from "../compile/analysis/values/special-registers.ts";
import { laneByLaneAccesses } from "../compile/analysis/access/lane-by-lane.ts";
import { isBetterAlongY } from "../compile/analysis/access/lane-order.ts";
import type { WarpConflicts } from "../compile/analysis/access/lane-meetings.ts";
import { hasBorders } from "../compile/analysis/versions/interior-version.ts";
import type { CompiledFunctions } from "../compile/plan/compiled-functions.ts";
import { isAlone, sharedNames } from "./own-work.ts";
import type { KnownThreads } from "./regrouping.ts";

/** A kernel that knows its threads by their global index alone. */
interface AloneKernel {
  readonly use: GlobalIndexUse;
  /** The same with x and y exchanged, where its lanes are better along y; else null. */
  readonly transposed: GlobalIndexUse | null;
}

/** Finds which kernels of a program know their threads by their global index alone. */
export class AloneKernels {
  readonly #program: Program;
  readonly #functions: CompiledFunctions;
  readonly #conflictsOf: (kernel: IrFunction, block: Dim3) => WarpConflicts;
  /** By kernel; null where it can tell. */
  readonly #kernels = new Map<string, AloneKernel | null>();

  /** `conflictsOf`: what lanes of a warp find of each other's accesses; kernels with `loads` stay as they are. */
  constructor(
    program: Program,
    functions: CompiledFunctions,
    conflictsOf: (kernel: IrFunction, block: Dim3) => WarpConflicts,
  ) {
    this.#program = program;
    this.#functions = functions;
    this.#conflictsOf = conflictsOf;
  }

  /** What a kernel knows of its threads in blocks of one size; null where it stays in them. */
  threadsIn(kernel: string, block: Dim3): KnownThreads | null {
    const known = this.#of(kernel);
    if (known === null) return null;
    const { use, transposed } = known;
    if (!use.sizes.every((size, i) => size === null || size === "any" || size === block[i])) return null;
    // A kernel that knows its blocks in one direction is written for blocks of one size there.
    if (use.sizes[0] === null || this.#conflictsOf(this.#functions.named(kernel)!.ir, block) === "order") return null;
    const { ir } = transposed ?? use;
    const borders = hasBorders(ir, transposed === null ? block : [block[1], block[0], block[2]]);
    return {
      sizes: use.sizes,
      hasLongRows: !borders && sharesLittleInRows(ir),
      hasBorders: borders,
      transposed: transposed?.sizes ?? null,
    };
  }

  /** The kernel that runs in such blocks: it knows its threads by their global index alone. */
  kernelIn(kernel: string, placement: "same" | "transposed"): IrFunction {
    const { use, transposed } = this.#of(kernel)!;
    return placement === "transposed" ? transposed!.ir : use.ir;
  }

  /** What a kernel knows of its blocks; null where it may know more than the numbers of its threads. */
  #of(kernel: string): AloneKernel | null {
    let known = this.#kernels.get(kernel);
    if (known === undefined) {
      const use = this.#find(kernel);
      this.#kernels.set(kernel, (known = use && { use, transposed: transposedUse(use) }));
    }
    return known;
  }

  #find(kernel: string): GlobalIndexUse | null {
    const compiled = this.#functions.named(kernel);
    if (compiled === null || compiled.ir.file !== undefined) return null;
    const { instructions } = compiled.ir;
    const shared = sharedNames(this.#program.module);
    if (!instructions.every((instruction) => isAlone(instruction, shared))) return null;
    return globalIndexUseOf(compiled.ir);
  }
}

/** The same kernel with its lanes along y, where that is better; else null. */
function transposedUse({ sizes: [x, y, z], ir }: GlobalIndexUse): GlobalIndexUse | null {
  if (!specialsOf(ir.instructions).has("tid.y")) return null;
  const other = transposed(ir);
  return isBetterAlongY(ir, other) ? { sizes: [y!, x!, z!], ir: other } : null;
}

/**
 * Whether a thread makes no loop, and neighbours in a row access neighbouring words, as in a step of a simulation on a
 * grid: rows have little in common but neighbours then, and long rows share what each begins with.
 */
function sharesLittleInRows(ir: IrFunction): boolean {
  return !ir.instructions.some(leadsBack) && laneByLaneAccesses(ir) === 0;
}
