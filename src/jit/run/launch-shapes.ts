import { isCall } from "../../ir/calls.ts";
import type { Instruction, IrFunction } from "../../ir/index.ts";
import { axisOf, type LaunchRequest } from "../../machine/launch.ts";
import type { Dim3 } from "../../machine/reports/report.ts";
import type { Program } from "../../program/program.ts";
import { givenIn, type KnownParameter, valuesIn } from "../abi/known-parameter.ts";
import { type ChunkWidth, isIndexed, type LaunchShape, type Quads } from "../abi/launch-shape.ts";
import { addressParameters, withParameters } from "../compile/analysis/access/known-parameters.ts";
import { needlessBarriersOf } from "../compile/analysis/access/needless-barriers.ts";
import { hardwareThread, type LaneGroup, warp, type WarpConflicts } from "../compile/analysis/access/lane-meetings.ts";
import { warpConflictsOf } from "../compile/analysis/access/warp-conflicts.ts";
import { prepare } from "../compile/analysis/code/prepared-code.ts";
import type { SourceCode } from "../compile/analysis/code/source-code.ts";
import { hasLoopsBeforeExchange } from "../compile/analysis/flow/loops-before-exchange.ts";
import { chunkWidthFor, type WidthNeeds, widthNeedsOf } from "../compile/analysis/chunk-width.ts";
import { conflictsInBlocks } from "../compile/analysis/versions/decided-conflicts.ts";
import { mayHaveRounds, withKnownRounds } from "../compile/analysis/versions/known-rounds.ts";
import { withInteriorVersion } from "../compile/analysis/versions/interior-version.ts";
import type { CompiledFunctions } from "../compile/plan/compiled-functions.ts";
import { canRunAlone, isFasterAlone } from "../compile/analysis/scalar-threads.ts";
import { dependsOnBlock, hasDecidedLoops, readsThreads } from "./block-dependence.ts";
import { blockShape, hasMixedWarps, scalarShape, threadShape } from "./block-shapes.ts";
import { GivenParameters } from "./given-parameters.ts";
import { hasManyBlocks } from "./launch-traits.ts";
import { storesInFunction } from "./own-work.ts";
import { foundOnce, noted } from "../compile/analysis/access/noted.ts";

/** The block that is assumed where code is for blocks of any shape. */
const usualBlock: Dim3 = [256, 1, 1];

/** Shapes of blocks for which a kernel has code of its own, at most: a program may try many. */
const maxSpecialized = 4;

/** Kernels with more instructions are not examined: chunks of them are narrow, whatever lanes access. */
const maxLockstep = 20_000;

/** Kernels with more instructions are not examined for the parameters of a launch. */
const maxWithParameters = 2000;

/** Values of its parameters for which a kernel is examined, at most: another launch of it may have others each time. */
const maxValues = 4;

/** Instructions from which on chunks are narrower where loops are written round by round. */
const longRounds = 500;

const noParameters: readonly KnownParameter[] = [];

/** The shape for which a kernel is compiled for a launch. */
export interface FoundShape {
  readonly shape: LaunchShape;
  /** Whether launches like this one find this shape in any process, whatever that has launched before. */
  readonly isLasting: boolean;
  /** Whether it may be another one once the kernel has run for some time: code for loops that is larger, and faster. */
  readonly isEarly: boolean;
  /** The parameters that a launch has to have in common with this one to find it. */
  readonly parameters: readonly KnownParameter[];
}

/** Finds for which shape the kernels of a program are compiled, given a launch. */
export class LaunchShapes {
  readonly #functions: CompiledFunctions;
  readonly #program: Pick<Program, "memory" | "bindings" | "shared">;
  readonly #quads: Quads | null;
  readonly #asksScalar: boolean;
  /** By kernel, the shapes of blocks for which it has code of their own. */
  readonly #specialized = new Map<IrFunction, Set<string>>();
  /** Whether kernels depend on the size of their blocks, whatever that is. */
  readonly #dependent = new Map<IrFunction, boolean>();
  /** By kernel and shape of blocks: whether thread numbers decide how loops go. */
  readonly #decided = new Map<IrFunction, Map<string, boolean>>();
  /** Whether lanes may leave loops of theirs one by one before they exchange values. */
  readonly #leftBeforeExchange = new Map<IrFunction, boolean>();
  readonly #widthNeeds = new Map<IrFunction, WidthNeeds>();
  /** Whether the threads of kernels are better run one by one. */
  readonly #alone = new Map<IrFunction, boolean>();
  /** By kernel and shape of blocks. */
  readonly #conflicts = new Map<IrFunction, Map<string, WarpConflicts>>();
  /** The same: the parameters that may show that lanes do not meet, and what they have shown, by their values. */
  readonly #deciding = new Map<IrFunction, Map<string, readonly KnownParameter[]>>();
  readonly #conflictsGiven = new Map<IrFunction, Map<string, Map<string, WarpConflicts>>>();
  readonly #given = new GivenParameters();
  /** The same: the width where loops are written round by round. */
  readonly #byRound = new Map<IrFunction, Map<string, Quads>>();
  /** The same: whether the kernel is another one in the interior of a grid. */
  readonly #differing = new Map<IrFunction, Map<string, boolean>>();
  /** The same, and by what the launch gives of shared memory. */
  readonly #needless = new Map<IrFunction, Map<string, readonly number[]>>();

  /** `width`: of chunks where nothing asks for whole warps; null: as wide as is good for the block. */
  constructor(
    functions: CompiledFunctions,
    program: Pick<Program, "memory" | "bindings" | "shared">,
    width: ChunkWidth | null,
  ) {
    this.#functions = functions;
    this.#program = program;
    this.#asksScalar = width === "scalar";
    this.#quads = width === "scalar" ? null : width;
  }

  /** `isHot`: whether the kernel has run for so long that larger code is worth the time that it takes to compile. */
  find(kernel: IrFunction, request: LaunchRequest, isHot: boolean): FoundShape {
    const shape = this.of(kernel, request, isHot);
    const isFull = (this.#specialized.get(kernel)?.size ?? 0) >= maxSpecialized;
    // The width for loops that are written round by round is the same for all values.
    const decides = !shape.byRound;
    const hasManyValues =
      (decides && this.#decidesNothing(kernel, request)) || (isHot && this.#given.hasManyValues(kernel, request.block));
    return {
      shape,
      isLasting: (shape.block !== null || !isFull) && !hasManyValues,
      isEarly: !isHot && (mayHaveRounds(kernel) || this.#isLeftBeforeExchange(kernel)),
      parameters: [
        ...(decides ? this.#decidingFor(kernel, request) : []),
        ...(isHot ? this.#given.parametersFor(kernel, request.block) : []),
      ],
    };
  }

  /** The shape alone. */
  of(kernel: IrFunction, request: LaunchRequest, isHot: boolean): LaunchShape {
    return { ...this.#plain(kernel, request, isHot), maskedRounds: isHot && this.#isLeftBeforeExchange(kernel) };
  }

  #plain(kernel: IrFunction, request: LaunchRequest, isHot: boolean): LaunchShape {
    const { block, grid, threads, cluster, matrix, sharedBytes } = request;
    const { isShared } = this.#program.memory;
    if (threads !== undefined && kernel.file === undefined) {
      const quads = this.#quadsWithin(threads.width, kernel, block);
      const specialization = this.#specialization(kernel, block, grid);
      return {
        ...blockShape(block, quads, isShared),
        ...specialization,
        indexed: isIndexed(grid),
        single: false,
        byRound: isHot && specialization.block !== null && hasRounds(kernel, block),
        needlessBarriers: this.#needlessBarriersOf(kernel, block, sharedBytes),
      };
    }
    if (threads !== undefined) return threadShape(this.#instructionsFrom(kernel), block, threads.width, isShared);
    const [, y, z] = cluster ?? kernel.bounds.reqnctapercluster ?? [1, 1, 1];
    const specialization = this.#specialization(kernel, block, grid);
    const mayKnow = isHot && specialization.block !== null && this.#quads === null;
    const { given, ir } = mayKnow ? this.#given.of(kernel, block, request.params) : { given: [], ir: kernel };
    if (this.#isScalar(kernel, block)) {
      const { block: known } = specialization;
      return { ...scalarShape(isShared), block: known, indexed: isIndexed(grid), clustered: y * z > 1, given };
    }
    const byRound = isHot && specialization.block !== null && hasRounds(ir, block);
    const quads = byRound ? this.#quadsByRound(kernel, ir, block) : this.#quadsGiven(kernel, request);
    const shape = { ...blockShape(block, quads, isShared), ...specialization, byRound, indexed: isIndexed(grid) };
    const needlessBarriers = shape.single ? [] : this.#needlessBarriersOf(kernel, block, sharedBytes);
    return { ...shape, clustered: y * z > 1, exactSums: matrix === "exact", needlessBarriers, given };
  }

  /**
   * The same with chunks of a width, where lanes may access what others of their warp store: this must not matter, as
   * where it is found out. Null if the kernel asks for whole warps.
   */
  narrow(kernel: IrFunction, request: LaunchRequest, quads: Quads): LaunchShape | null {
    const { inWarps, hasOrderedAtomics } = this.#needsOf(kernel);
    if (inWarps || hasOrderedAtomics) return null;
    return new LaunchShapes(this.#functions, this.#program, quads).of(kernel, request, true);
  }

  /** Whether each thread of a kernel is a chunk: lanes of a warp must not access what others of it store. */
  #isScalar(kernel: IrFunction, block: Dim3): boolean {
    if (this.#quads !== null) return false;
    const isAlone = foundOnce(this.#alone, kernel, () => {
      const needs = this.#needsOf(kernel);
      const may = !needs.inWarps && canRunAlone(kernel);
      return may && (this.#asksScalar || (needs.isIrregular && isFasterAlone(kernel)));
    });
    return isAlone && this.conflictsOf(kernel, block) === "none";
  }

  #specialization(kernel: IrFunction, block: Dim3, grid: Dim3): Pick<LaunchShape, "block" | "interior"> {
    if (!this.#isSpecialized(kernel, block)) return { block: null, interior: false };
    return { block, interior: hasManyBlocks(grid) && this.#differsInside(kernel, block) };
  }

  /** Whether a kernel has a version for blocks in the interior of a grid. */
  #differsInside(ir: IrFunction, block: Dim3): boolean {
    return noted(this.#differing, ir, block.join(), () => withInteriorVersion({ ir, origins: null }, block).ir !== ir);
  }

  /** Whether a kernel has code for blocks of a shape alone: for the first of those where it pays. */
  #isSpecialized(kernel: IrFunction, block: Dim3): boolean {
    const blocks = foundOnce(this.#specialized, kernel, () => new Set<string>());
    if (blocks.has(block.join())) return true;
    if (blocks.size >= maxSpecialized || !this.#pays(kernel, block)) return false;
    blocks.add(block.join());
    return true;
  }

  /** Whether code for blocks of a shape alone pays. */
  #pays(kernel: IrFunction, block: Dim3): boolean {
    const isDependent = foundOnce(this.#dependent, kernel, () => this.#dependsOnBlock(kernel));
    if (isDependent || (hasMixedWarps(block) && readsThreads(kernel)) || this.#differsInside(kernel, block))
      return true;
    const { bindings } = this.#program;
    return noted(this.#decided, kernel, block.join(), () => hasDecidedLoops(kernel, block, bindings));
  }

  /** Whether a kernel, or a function that it may call, uses the size of blocks or shared variables. */
  #dependsOnBlock(kernel: IrFunction): boolean {
    const instructions = this.#withCalled(kernel).flatMap((f) => f.instructions);
    return dependsOnBlock(instructions);
  }

  /** Whether lanes may leave a loop one by one before they exchange values, in a kernel or in what it may call. */
  #isLeftBeforeExchange(kernel: IrFunction): boolean {
    return foundOnce(this.#leftBeforeExchange, kernel, () => this.#withCalled(kernel).some(hasLoopsBeforeExchange));
  }

  /** A kernel, and if it calls any, the functions of the program. */
  #withCalled(kernel: IrFunction): readonly IrFunction[] {
    if (!kernel.instructions.some(({ op }) => isCall(op))) return [kernel];
    return [kernel, ...this.#functions.list.map(({ ir }) => ir)];
  }

  /**
   * For a launcher that is not this one: a block of one shape, or (null) of any. `width`: of the hardware threads
   * (vISA) whose work items run; null for PTX.
   */
  portable(kernel: IrFunction, block: Dim3 | null, width: number | null): LaunchShape {
    const given = block ?? usualBlock;
    const byRound = block !== null && hasRounds(kernel, block);
    const usual = (): Quads =>
      byRound ? this.#quadsByRound(kernel, kernel, given) : this.#quadsAsWritten(kernel, given);
    const quads = width === null ? usual() : this.#quadsWithin(width, kernel, given);
    const isOne = width === null ? {} : { single: false };
    const isExact = block !== null;
    const maskedRounds = this.#isLeftBeforeExchange(kernel);
    const shape = {
      ...{ ...blockShape(given, quads, false), ...isOne },
      ...{ block, interior: isExact, byRound: isExact, maskedRounds },
    };
    return block === null ? { ...shape, rows: false, rowLength: null, full: false, single: false } : shape;
  }

  /** All that a kernel of vISA may execute. */
  #instructionsFrom(kernel: IrFunction): readonly Instruction[] {
    const { instructions } = kernel;
    if (!instructions.some(({ op }) => op.kind === "file-call")) return instructions;
    return [kernel, ...this.#functions.list.map((f) => f.ir).filter((f) => f.kind === "function")].flatMap(
      (f) => f.instructions,
    );
  }

  /**
   * The width of chunks that are parts of hardware threads, so that reports name the lanes that a thread has. Where
   * these access what others of them store, before or after it, a chunk has all of them, as they go together.
   */
  #quadsWithin(width: number, kernel: IrFunction, block: Dim3): Quads {
    const widest = ([8, 4, 2] as const).find((quads) => 4 * quads <= width) ?? 1;
    const quads = this.#quadsAt(kernel, block, () => "none");
    return quads >= widest || this.#mayMeetWithin(width, kernel, block) ? widest : quads;
  }

  /** Whether lanes of a hardware thread may access what others of them store. */
  #mayMeetWithin(width: number, kernel: IrFunction, block: Dim3): boolean {
    if (kernel.instructions.length > maxLockstep) return false;
    if (kernel.instructions.some(({ op }) => isCall(op)) && this.#functions.list.some(({ ir }) => storesInFunction(ir)))
      return true;
    const group = hardwareThread(width);
    if (this.#conflictsWithin(kernel, block, group) === "none") return false;
    // Few kernels need it.
    return this.#conflictsSeparated({ ir: kernel, origins: null }, block, group) !== "none";
  }

  #quadsAsWritten(kernel: IrFunction, block: Dim3): Quads {
    return this.#quadsAt(kernel, block, () => this.conflictsOf(kernel, block));
  }

  /**
   * The width for a kernel of which loops are written round by round in blocks of one size: each round is code of its
   * own, so that wide chunks take long to compile, but one for all needs no barriers. `ir`: with what launches give.
   */
  #quadsByRound(kernel: IrFunction, ir: IrFunction, block: Dim3): Quads {
    return noted(this.#byRound, ir, block.join(), () => {
      const source = withKnownRounds({ ir, origins: null }, block);
      const usual = this.#quadsAt(kernel, block, () => "none");
      const isOne = block[0] * block[1] * block[2] <= 4 * usual;
      if (isOne || this.#quads !== null || this.#needsOf(kernel).inWarps) return usual;
      const quads = Math.min(usual, source.ir.instructions.length > longRounds ? 2 : 4) as Quads;
      const conflicts = this.#conflictsSeparated(source, block, { ...warp, together: 4 * quads });
      return conflicts === "none" ? quads : this.#quadsAt(kernel, block, () => conflicts);
    });
  }

  /** The same where the parameters of a launch may show that lanes do not meet. */
  #quadsGiven(kernel: IrFunction, request: LaunchRequest): Quads {
    const { block, params } = request;
    const apart = this.#quadsApart(kernel, request);
    if (apart !== null) return apart;
    const parameters = this.#decidingFor(kernel, request);
    if (parameters.length === 0) return this.#quadsAsWritten(kernel, block);
    const known = noted(this.#conflictsGiven, kernel, block.join(), () => new Map<string, WarpConflicts>());
    const values = valuesIn(params, parameters);
    const conflicts = foundOnce(known, values, () => {
      // One more shows that others are no use.
      if (known.size === maxValues) return this.conflictsOf(kernel, block);
      const pays = (found: WarpConflicts): boolean => this.#isWider(kernel, block, found);
      const given = withParameters(kernel, givenIn(params, parameters));
      return conflictsInBlocks(given, block, this.#program.bindings, warp, { solves: true, pays });
    });
    return this.#quadsAt(kernel, block, () => conflicts);
  }

  /**
   * The width for threads in other blocks than were asked for: warps have been taken apart, but for rows of the blocks.
   * Null where chunks would be narrower than these, and for blocks side by side, whose warps stay what they are.
   */
  #quadsApart(kernel: IrFunction, { block, asked }: LaunchRequest): Quads | null {
    if (asked === undefined || axisOf(asked.placement) !== null) return null;
    const quads = this.#quadsAt(kernel, block, () => "none");
    return 4 * quads >= asked.block[asked.placement === "transposed" ? 1 : 0] ? quads : null;
  }

  /** The parameters of launches like one by which the width of chunks is decided. */
  #decidingFor(kernel: IrFunction, launch: LaunchRequest): readonly KnownParameter[] {
    const { block, threads } = launch;
    const isLong = kernel.instructions.length > maxWithParameters;
    const decidesNothing =
      threads !== undefined || this.#quads !== null || isLong || this.#decidesNothing(kernel, launch);
    if (decidesNothing || this.#quadsApart(kernel, launch) !== null) return noParameters;
    return noted(this.#deciding, kernel, block.join(), () => {
      const conflicts = this.#quadsAsWritten(kernel, block) > this.#quadsAt(kernel, block, () => "none");
      return conflicts ? addressParameters(kernel) : noParameters;
    });
  }

  /** Whether a kernel has had so many values of them that they decide nothing any more in this process. */
  #decidesNothing(kernel: IrFunction, { block }: Pick<LaunchRequest, "block">): boolean {
    return (this.#conflictsGiven.get(kernel)?.get(block.join())?.size ?? 0) > maxValues;
  }

  #quadsAt(kernel: IrFunction, block: Dim3, conflicts: () => WarpConflicts): Quads {
    const needs = this.#needsOf(kernel);
    if (this.#quads !== null && !needs.inWarps) return this.#quads;
    const [narrowest, widest] = [chunkWidthFor(block, needs, "none"), chunkWidthFor(block, needs, "order")];
    return narrowest === widest ? widest : chunkWidthFor(block, needs, conflicts());
  }

  #needsOf(kernel: IrFunction): WidthNeeds {
    return foundOnce(this.#widthNeeds, kernel, () =>
      widthNeedsOf(kernel, (name) => this.#functions.named(name)?.ir ?? null),
    );
  }

  #needlessBarriersOf(kernel: IrFunction, block: Dim3, sharedBytes: number): readonly number[] {
    if (!kernel.instructions.some(({ op }) => op.kind === "barrier")) return [];
    const { bindings, shared } = this.#program;
    const key = `${block.join()} ${sharedBytes}`;
    return noted(this.#needless, kernel, key, () => {
      const { extents, dynamicStart } = shared;
      const given = { start: dynamicStart, end: dynamicStart + sharedBytes };
      return needlessBarriersOf(kernel, block, bindings, [...extents, given]);
    });
  }

  /** What lanes of a warp find of each other's accesses. */
  conflictsOf(kernel: IrFunction, block: Dim3): WarpConflicts {
    return this.#conflictsWithin(kernel, block, warp);
  }

  /** The same for lanes of a group. */
  #conflictsWithin(kernel: IrFunction, block: Dim3, group: LaneGroup): WarpConflicts {
    const key = `${block.join()} ${group.lanes} ${group.ordersStores}`;
    const pays = (found: WarpConflicts): boolean => this.#isWider(kernel, block, found);
    return noted(this.#conflicts, kernel, key, () =>
      conflictsInBlocks(kernel, block, this.#program.bindings, group, { pays }),
    );
  }

  /**
   * Whether chunks are wider for what lanes find of each other's accesses than they would be if that were nothing, and
   * could be narrower: atomic operations that several lanes do in turn keep the order of a warp.
   */
  #isWider(kernel: IrFunction, block: Dim3, found: WarpConflicts): boolean {
    if (this.#needsOf(kernel).hasOrderedAtomics) return false;
    return this.#quadsAt(kernel, block, () => found) > this.#quadsAt(kernel, block, () => "none");
  }

  /** The same where registers that hold one value after the other are told apart, which takes time. */
  #conflictsSeparated(source: SourceCode, block: Dim3, group: LaneGroup): WarpConflicts {
    const { ir, instructions } = prepare(source, this.#program.bindings, { endsBlock: () => false, separates: true });
    return warpConflictsOf({ ...ir, instructions }, block, this.#program.bindings, group);
  }
}

/** Whether there are loops in a kernel that are written round by round in blocks of one size. */
const hasRounds = (ir: IrFunction, block: Dim3): boolean => withKnownRounds({ ir, origins: null }, block).ir !== ir;
