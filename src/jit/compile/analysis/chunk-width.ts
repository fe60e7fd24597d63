import { readsClock } from "../../../ir/clock.ts";
import { operandsOf, readsOf, writesOf } from "../../../ir/flow/accesses.ts";
import { callOrder } from "../../../ir/flow/call-order.ts";
import { type Instruction, type IrFunction, leadsBack, targetsIn, traitOf } from "../../../ir/index.ts";
import type { Dim3 } from "../../../machine/reports/report.ts";
import { isRow, type Quads } from "../../abi/launch-shape.ts";
import { laneByLaneAccesses } from "./access/lane-by-lane.ts";
import type { WarpConflicts } from "./access/lane-meetings.ts";
import type { Expr } from "../../../semantics/index.ts";
import { pressureOf } from "./values/register-pressure.ts";

/** Kernels with more instructions get narrow chunks: code grows with their width. */
const large = 2000;

/** Kernels with more instructions than this get the narrowest: hosts limit the size of a function. */
const huge = 50_000;

/**
 * Vectors that are live at once from which on a chunk of more than four lanes, eight, or sixteen does not pay, as
 * measured: each is one for every four lanes of the chunk, and the machine has sixteen.
 */
const highPressure = { narrowest: 19, narrower: 10, narrow: 4 };

/**
 * The same where threads wait for each other: between two barriers most values are read from memory and stored again,
 * so that wide chunks gain little and spill. Without any to speak of, as in a transposition, they move longer rows.
 */
const highPressureAtBarriers = { narrowest: 19, narrower: 19, narrow: 3 };

/**
 * The same where atomic operations give other results in another order of lanes: wide chunks keep the order in which
 * the lanes of a warp come one after the other.
 */
const highPressureAtAtomics = { narrowest: 19, narrower: 19, narrow: 12 };

/**
 * Accesses that are one for each lane from which on a chunk of more than eight lanes does not pay, where no thread
 * waits: their elements are put together, or taken apart, in registers.
 */
const manyLaneByLane = 4;

/** The properties of a kernel on which the width of its chunks depends. */
export interface WidthNeeds {
  /** Whether the lanes of a warp must run together. */
  readonly inWarps: boolean;
  /** Whether a function may be entered again before it returns: its frame should be small. */
  readonly recursive: boolean;
  /**
   * Whether what a loop does depends on what it loads: each lane accesses memory elsewhere, or goes its own way, and
   * often makes another number of rounds.
   */
  readonly isIrregular: boolean;
  /** Whether threads wait for each other at barriers. */
  readonly hasBarriers: boolean;
  /** Whether the results of an atomic operation depend on the order of lanes. */
  readonly hasOrderedAtomics: boolean;
  /** The number of instructions of the kernel and the functions that it calls. */
  readonly instructions: number;
  /** See `pressureOf`: of the function where it is highest. */
  readonly pressure: number;
  /** See `laneByLaneAccesses`: of all functions. */
  readonly laneByLane: number;
}

const widths = [8, 4, 2, 1] as const satisfies readonly Quads[];

/** The narrowest chunk that has as many lanes. */
const covering = (lanes: number): Quads => widths.findLast((quads) => 4 * quads >= lanes) ?? 8;

/**
 * The max chunk whose lanes lie in one row of the block, so that their addresses are regular. `conflicts`: where the
 * order of lanes may show, those of a warp run together; where one may overwrite what another has to load first, chunks
 * are no narrower than regular addresses ask for. With `order` they are never narrower than with another.
 */
export function chunkWidthFor(block: Dim3, needs: WidthNeeds, conflicts: WarpConflicts): Quads {
  const [x, y, z] = block;
  const { inWarps, instructions } = needs;
  if (inWarps) return 8;
  const whole = covering(Math.min(32, x * y * z));
  if (conflicts === "order") return whole;
  // In a block of one chunk nobody waits.
  if (needs.hasBarriers && x * y * z <= 32 && instructions <= large) return whole;
  if (instructions > huge) return 1;
  const max = Math.min(whole, maxWidthFor(needs, conflicts));
  for (const quads of [8, 4] as const) {
    if (quads <= max && (isRow(block) ? hasFewParts(x, 4 * quads, conflicts) : x % (4 * quads) === 0)) return quads;
  }
  return max === 1 ? 1 : 2;
}

/**
 * Chunks of a row from which on it does not matter that the last one is not full. A part of a chunk takes as long as
 * several whole ones, since it has masks.
 */
const manyChunks = 16;

/** Whether a row of threads has chunks of so many lanes: it fills them, or most of them, or there is only one. */
const hasFewParts = (x: number, lanes: number, conflicts: WarpConflicts): boolean =>
  x >= lanes && (x % lanes === 0 || x < 2 * lanes || x >= manyChunks * lanes || conflicts !== "none");

function maxWidthFor(needs: WidthNeeds, conflicts: WarpConflicts): Quads {
  const { recursive, hasBarriers, hasOrderedAtomics, instructions } = needs;
  if (instructions > large) return 2;
  const usual = recursive || needs.isIrregular ? 4 : 8;
  if (conflicts !== "none") return usual;
  const high = hasBarriers ? highPressureAtBarriers : hasOrderedAtomics ? highPressureAtAtomics : highPressure;
  const { pressure } = needs;
  if (pressure >= high.narrowest) return 1;
  if (needs.isIrregular || pressure >= high.narrower) return 2;
  if (!hasBarriers && !hasOrderedAtomics && needs.laneByLane >= manyLaneByLane) return 2;
  return pressure >= high.narrow ? 4 : usual;
}

/** Finds the needs of a kernel and its callees. `named`: the function of a name; null where there is none. */
export function widthNeedsOf(kernel: IrFunction, named: (name: string) => IrFunction | null): WidthNeeds {
  let [inWarps, hasBarriers, hasOrderedAtomics, instructions] = [false, false, false, 0];
  const { functions, recursive } = callOrder(kernel, (f) => {
    const callees = new Set<IrFunction>();
    for (const { op } of f.instructions) {
      if (op.kind !== "call" || op.target.kind !== "direct") continue;
      const callee = named(op.target.function);
      // The launcher acts for a whole warp: it prints in the order of its lanes.
      if (callee === null || callee.external) inWarps = true;
      else callees.add(callee);
    }
    return callees;
  });
  for (const f of functions) {
    instructions += f.instructions.length;
    hasBarriers ||= f.instructions.some(({ op }) => op.kind === "barrier");
    hasOrderedAtomics ||= f.instructions.some(isOrderedAtomic);
    inWarps ||= f.instructions.some(needsWarp);
  }
  return new Needs(functions, { inWarps, recursive, hasBarriers, hasOrderedAtomics, instructions });
}

/** What is found out at once of the needs of functions. */
type PlainNeeds = Omit<WidthNeeds, "isIrregular" | "pressure" | "laneByLane">;

/** The needs of functions. What takes time to find is found when it is first asked for: most widths follow without. */
class Needs implements WidthNeeds {
  readonly inWarps: boolean;
  readonly recursive: boolean;
  readonly hasBarriers: boolean;
  readonly hasOrderedAtomics: boolean;
  readonly instructions: number;
  readonly #functions: readonly IrFunction[];
  #isIrregular: boolean | null = null;
  #pressure: number | null = null;
  #laneByLane: number | null = null;

  constructor(functions: readonly IrFunction[], plain: PlainNeeds) {
    this.#functions = functions;
    this.inWarps = plain.inWarps;
    this.recursive = plain.recursive;
    this.hasBarriers = plain.hasBarriers;
    this.hasOrderedAtomics = plain.hasOrderedAtomics;
    this.instructions = plain.instructions;
  }

  get isIrregular(): boolean {
    return (this.#isIrregular ??= this.#functions.some(hasIrregularLoop));
  }

  get pressure(): number {
    return (this.#pressure ??= this.#functions.reduce(
      (most, f) => (f.instructions.length <= large ? Math.max(most, pressureOf(f)) : most),
      0,
    ));
  }

  get laneByLane(): number {
    return (this.#laneByLane ??= this.#functions.reduce((sum, f) => sum + laneByLaneAccesses(f), 0));
  }
}

/** Whether an atomic operation gives other results in another order: all but sums of integers that nobody reads. */
export function isOrderedAtomic({ op, dst }: Instruction): boolean {
  if (op.kind !== "atomic") return false;
  const isOrderless = (e: Expr): boolean => e.kind === "prim" && /^i(32|64)\.(add|and|or|xor)$/.test(e.prim);
  return dst.length > 0 || !op.combine.every(isOrderless);
}

/** Whether the result or the cost of an instruction depends on all lanes of a warp running together, as stacks do. */
function needsWarp({ op, lanes }: Instruction): boolean {
  // Lanes of a warp share the order of indirect targets, and read the same time.
  const isShared = (op.kind === "call" && op.target.kind === "indirect") || operandsOf(op).some(readsClock);
  // Those of a hardware thread act for each other, and read each other's predicates.
  if (lanes !== undefined || operandsOf(op).some(readsWord)) return true;
  return isShared || traitOf(op, "warp") || traitOf(op, "stack");
}

const readsWord = (expr: Expr): boolean =>
  expr.kind === "lane-word" || (expr.kind === "prim" && expr.args.some(readsWord));

/** Whether the address of a load in a loop, or a way that lanes go in it, depends on a loaded value. */
function hasIrregularLoop({ instructions }: IrFunction): boolean {
  if (!instructions.some(leadsBack)) return false;
  const loaded = new Set<number>();
  const dependsOnLoad = (instruction: Instruction): boolean => {
    let found = false;
    readsOf(instruction, { register: (r) => (found ||= loaded.has(r)) });
    return found;
  };
  for (let size = -1; size < loaded.size; ) {
    size = loaded.size;
    for (const instruction of instructions) {
      const { op } = instruction;
      const isLoad = op.kind === "load" && op.access.space !== "kernel-param" && op.access.space !== "const";
      if (isLoad || (op.kind === "pure" && dependsOnLoad(instruction))) writesOf(instruction, (r) => loaded.add(r));
    }
  }
  /** The first instruction of the loops that contain the present one, seen from the end of the code. */
  let start = instructions.length;
  for (let i = instructions.length - 1; i >= 0; i--) {
    const instruction = instructions[i]!;
    const { op } = instruction;
    if (leadsBack(instruction, i)) start = Math.min(start, ...targetsIn(op));
    if ((op.kind === "load" || op.kind === "branch") && i >= start && dependsOnLoad(instruction)) return true;
  }
  return false;
}
