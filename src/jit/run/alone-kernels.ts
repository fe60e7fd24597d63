import { type GlobalIndexUse, globalIndexUseOf, transposed } from "../../ir/flow/index.ts";
import { accessesOf, type Instruction, type IrFunction, leadsBack, type Op } from "../../ir/index.ts";
import { symbolsOf } from "../../ir/operands.ts";
import type { Dim3 } from "../../machine/reports/report.ts";
import type { Program } from "../../program/program.ts";
import { isOrderedAtomic } from "../compile/analysis/chunk-width.ts";
import { specialsOf } from "../compile/analysis/values/special-registers.ts";
import { laneByLaneAccesses } from "../compile/analysis/access/lane-by-lane.ts";
import { isBetterAlongY } from "../compile/analysis/access/lane-order.ts";
import type { WarpConflicts } from "../compile/analysis/access/lane-meetings.ts";
import { hasBorders } from "../compile/analysis/versions/interior-version.ts";
import type { CompiledFunctions } from "../compile/plan/compiled-functions.ts";
import type { KnownThreads, OtherBlocks } from "./regrouping.ts";

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
  kernelIn(kernel: string, { isTransposed }: Pick<OtherBlocks, "isTransposed">): IrFunction {
    const { use, transposed } = this.#of(kernel)!;
    return isTransposed ? transposed!.ir : use.ir;
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
    const { variables } = this.#program.module;
    const shared = new Set(variables.filter(({ space }) => space === "shared").map(({ name }) => name));
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

/** Kinds of operations that a thread does by itself. */
const ownKinds: ReadonlySet<Op["kind"]> = new Set<Op["kind"]>([
  ...(["pure", "load", "store", "atomic", "branch", "branch-indexed", "return", "exit", "trap", "nothing"] as const),
]);

/** Operations of units that only read. */
const readers: ReadonlySet<string> = new Set(["image-fetch", "surface-load", "image-query", "image-test"]);

/** Special registers that tell nothing of the division into blocks but what `globalIndexUseOf` finds. */
const ownSpecials = /^(tid|ntid|ctaid|nctaid)\.|^(envreg[12]|current_graph_exec|gridid|window)$/;

/** Whether what an instruction does for a thread depends neither on other threads of its block nor on their order. */
function isAlone(instruction: Instruction, shared: ReadonlySet<string>): boolean {
  const { op } = instruction;
  if (!ownKinds.has(op.kind) && !(op.kind === "unit" && readers.has(op.unit.op))) return false;
  if (isOrderedAtomic(instruction)) return false;
  const isPlain = accessesOf(op).every(
    ({ effect, access: { space, volatile, order } }) =>
      !space.startsWith("shared") && !volatile && order === (effect === "atomic" ? "relaxed" : "weak"),
  );
  if (!isPlain) return false;
  let namesShared = false;
  symbolsOf(op, (name) => (namesShared ||= shared.has(name)), new Set());
  return !namesShared && [...specialsOf([instruction])].every((name) => ownSpecials.test(name));
}
