import { windows, type WorkItemModel } from "../../ir/index.ts";
import { axisOf, type LaunchRequest } from "../../machine/launch.ts";
import type { Dim3 } from "../../machine/reports/report.ts";
import { stackLimit } from "../../program/open-launch.ts";
import type { Program } from "../../program/program.ts";
import type { Features } from "../../wasm/index.ts";
import type { CompiledKernel } from "../abi/compiled-kernel.ts";
import type { ChunkWidth, LaunchShape, Quads } from "../abi/launch-shape.ts";
import type { WarpConflicts } from "../compile/analysis/access/lane-meetings.ts";
import { compileKernel } from "../compile/kernel/compile-kernel.ts";
import { type CompiledFunction, CompiledFunctions } from "../compile/plan/compiled-functions.ts";
import type { ProgramFacts } from "../compile/plan/program-facts.ts";
import { AloneKernels } from "./alone-kernels.ts";
import { globalsOf } from "./global-variables.ts";
import { type FoundShape, LaunchShapes } from "./launch-shapes.ts";
import type { KnownBlocks } from "./regrouping.ts";
import { type NeighbourKernel, SideBySideKernels } from "./side-by-side-kernels.ts";
import { orWhyNot } from "./why-not.ts";

/** A kernel that can be compiled for a launch. */
export interface CompilableKernel extends FoundShape {
  /** Compiles it for machines with certain features. */
  readonly compile: (features: Features) => CompiledKernel;
}

/**
 * Compiles the kernels of a program, and finds out about their code what launches need. Where kernels and findings are
 * kept, launches do without it.
 */
export class Compiler {
  readonly functions: CompiledFunctions;
  readonly #program: Program;
  readonly #constantsAt: () => number;
  readonly #shapes: LaunchShapes;
  readonly #alone: AloneKernels;
  /** Null where the width of chunks is asked for. */
  readonly #sideBySide: SideBySideKernels | null;

  /**
   * `width`: of chunks where nothing asks for whole warps; null: as wide as is good for the block.
   * `constantsAt`: the byte of memory where the module's constants lie.
   */
  constructor(program: Program, width: ChunkWidth | null, constantsAt: () => number) {
    this.#program = program;
    this.#constantsAt = constantsAt;
    this.functions = new CompiledFunctions(program);
    this.#shapes = new LaunchShapes(this.functions, program, width);
    this.#alone = new AloneKernels(
      program,
      this.functions,
      (kernel, block): WarpConflicts => (width === null ? this.#shapes.conflictsOf(kernel, block) : "order"),
    );
    this.#sideBySide =
      width !== null
        ? null
        : new SideBySideKernels({
            program,
            functions: this.functions,
            conflictsOf: (kernel, block) => this.#shapes.conflictsOf(kernel, block),
            facts: (functions) => this.facts(functions),
          });
  }

  /** What a kernel knows of its threads in blocks of one size; null where it stays in them. */
  threadsIn(kernel: string, block: Dim3): KnownBlocks | null {
    return this.#alone.threadsIn(kernel, block) ?? this.#sideBySide?.neighboursIn(kernel, block) ?? null;
  }

  /** The shape for which a kernel of the program is compiled as it is. */
  shapeOf(request: LaunchRequest): LaunchShape {
    return this.#shapes.of(this.functions.named(request.kernel)!.ir, request, true);
  }

  /** See `LaunchShapes.narrow`. */
  narrowShapeOf(request: LaunchRequest, quads: Quads): LaunchShape | null {
    return this.#shapes.narrow(this.functions.named(request.kernel)!.ir, request, quads);
  }

  /** Prepares the kernel of a launch. `isHot`: whether it has run for so long that better code is worth its time. */
  prepare(request: LaunchRequest, isHot: boolean): CompilableKernel {
    const kernel = this.functions.named(request.kernel)!;
    const neighbours = this.#neighboursFor(kernel, request);
    const functions = neighbours?.functions ?? this.#functionsFor(kernel, request);
    const { ir } = functions.list[kernel.number]!;
    const found = this.#shapes.find(ir, request, isHot);
    const facts = (): ProgramFacts => neighbours?.facts ?? this.facts(functions);
    return { ...found, compile: (features) => compileKernel(kernel, found.shape, facts(), features, "any") };
  }

  /**
   * The functions as a launch runs them: a kernel of vISA without threads, if its work items need none; one that runs
   * in other blocks than were asked for, without constants for their size.
   */
  #functionsFor(kernel: CompiledFunction, { threads, asked }: LaunchRequest): CompiledFunctions {
    if (asked?.placement === "same" || asked?.placement === "transposed") {
      return this.functions.withAnyBlocks(kernel, this.#alone.kernelIn(kernel.ir.name, asked.placement));
    }
    if (threads?.items === undefined) return this.functions;
    return this.functions.asWorkItems(kernel, threads.width, threads.items) ?? this.functions;
  }

  /** The kernel whose blocks are several of those that a launch was asked for; null if they are not. */
  #neighboursFor(kernel: CompiledFunction, { block, asked }: LaunchRequest): NeighbourKernel | null {
    const along = axisOf(asked?.placement ?? "same");
    return along === null ? null : this.#sideBySide!.kernelIn(kernel, asked!.block, block[along]);
  }

  /** See `JitProgram.compiled`. */
  portable(
    kernel: string,
    block: Dim3 | null,
    features: Features,
    threads: { readonly width: number; readonly items: WorkItemModel } | null,
  ): CompiledKernel | string {
    const compiled = this.functions.named(kernel);
    if (compiled === null) return "there is no such kernel";
    const functions = threads ? this.functions.asWorkItems(compiled, threads.width, threads.items) : this.functions;
    if (functions === null) return "its lanes need the hardware thread around them";
    const shape = this.#shapes.portable(functions.list[compiled.number]!.ir, block, threads?.width ?? null);
    return orWhyNot(() => compileKernel(compiled, shape, this.facts(functions), features, "one"));
  }

  /** What compiled code may know of the program. */
  facts(functions: CompiledFunctions): ProgramFacts {
    const { bindings, shared, module, constants } = this.#program;
    return {
      bindings,
      addressSize: module.addressSize,
      functions,
      stackLimit,
      shared: shared.extents,
      sharedBytes: shared.dynamicStart - windows.shared.start,
      constants: { extents: constants.extents, delta: this.#constantsAt() - constants.start },
      globals: globalsOf(this.#program),
    };
  }
}
