import { everyLeaf } from "../../../semantics/index.ts";
import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import { type RematerializedRegisters, straightRegisters } from "../analysis/access/straight-registers.ts";
import { registerIntervals } from "../analysis/flow/live-intervals.ts";
import { arrivesTogether, type BlockSteps, blockStepsOf } from "../analysis/flow/block-steps.ts";
import { WarpWaitBlocks } from "../analysis/flow/warp-wait-blocks.ts";
import { type Invariants, invariantsOf } from "../analysis/values/invariant-code.ts";
import { type KnownLanes, knownLanesOf } from "../analysis/values/known-lanes.ts";
import type { UniformityAnalysis } from "../analysis/values/uniformity.ts";
import type { Sharing } from "../emit/register-locals.ts";
import type { ModuleUnit } from "../module/module-unit.ts";
import type { CompiledFunction } from "../plan/compiled-functions.ts";
import type { KernelPlan } from "../plan/kernel-plan.ts";
import { resumeBlocks, type SuspensionPoints, stateBytesFor } from "../plan/suspension-points.ts";
import { type FunctionScope, openFunction } from "./function-scope.ts";

/** A kernel's `run` while it is written, as its loops share it: the parts that code is made with, and locals. */
export interface KernelRun {
  readonly scope: FunctionScope;
  readonly points: SuspensionPoints;
  readonly invariants: Invariants;
  /** Null where chunks do not go from barrier to barrier together. */
  readonly steps: BlockSteps | null;
  /** Where the context begins. */
  readonly context: number;
  /** The linear index of the block that runs, and that after the last block to run. */
  readonly blockIndex: number;
  readonly end: number;
  /** Threads of a block, and whether (0 or 1) they are one row. */
  readonly threads: number;
  readonly isOneRow: number;
  /** The first thread of the chunk that runs. */
  readonly first: number;
}

/** The parameters of `run`. */
export const [contextParam, blockIndexParam, endParam] = [0, 1, 2] as const;

/** Begins to write a kernel's `run`. */
export function openKernel(
  unit: ModuleUnit,
  writer: FunctionWriter,
  compiled: CompiledFunction,
  { analysis, points, matrices }: KernelPlan,
): Pick<KernelRun, "scope" | "invariants" | "steps"> {
  const resumed = resumeBlocks(points);
  const computed = invariantsOf(analysis, resumed);
  const fixed = withRematerialized(computed, straightRegisters(analysis, computed, resumed));
  const steps =
    unit.shape.width === null && arrivesTogether(analysis, points)
      ? blockStepsOf(analysis, points.barriers, fixed)
      : null;
  const predicted = steps === null ? fixed : withRematerialized(fixed, steps.predicates);
  const invariants = withKnown(predicted, knownLanesOf(analysis, unit.shape, unit.facts.bindings), analysis);
  const scope = openFunction(unit, writer, {
    compiled,
    analysis,
    points,
    canSuspend: resumed.size > 0,
    context: contextParam,
    entry: writer.local("i32"),
    exitsLanes: false,
    kernel: { invariants, sharing: sharingOf(analysis, invariants, resumed, steps?.shared), matrices },
  });
  const room = matrices.stateBytes + stateBytesFor(analysis, points, unit.quads, unit.shape.width !== null);
  if (scope.suspension !== null && scope.suspension.bytes > room) {
    throw new Error("the state of a chunk is larger than the room for it");
  }
  return { scope, invariants, steps };
}

/** Further registers that are rematerialized. */
const withRematerialized = (invariants: Invariants, { instructions, values }: RematerializedRegisters): Invariants => ({
  ...invariants,
  registers: new Set([...invariants.registers, ...values.keys()]),
  rematerialized: new Map([...invariants.rematerialized, ...values]),
  has: (i) => invariants.has(i) || instructions.has(i),
});

/** Further registers that are known, and those predicates of which branches want to know what they are. */
function withKnown(invariants: Invariants, known: KnownLanes, { code }: UniformityAnalysis): Invariants {
  const { values, instructions, registers } = known;
  if (values.size === 0) return invariants;
  const rematerialized = new Map(invariants.rematerialized);
  for (const i of instructions) {
    const { op, dst } = code.instructions[i]!;
    const [to] = dst as readonly number[];
    if (op.kind !== "pure" || dst.length !== 1 || op.values[0]!.ty !== "pred") continue;
    if (everyLeaf(op.values[0]!, (leaf) => leaf.kind !== "reg" || values.has(leaf.reg)))
      rematerialized.set(to!, op.values[0]!);
  }
  return {
    ...invariants,
    known,
    rematerialized,
    registers: new Set([...invariants.registers, ...registers]),
    has: (i) => invariants.has(i) || instructions.has(i),
  };
}

/** Which registers of a kernel share locals; null where none do. `kept`: registers that all chunks share. */
function sharingOf(
  analysis: UniformityAnalysis,
  { registers, splats }: Invariants,
  resumed: ReadonlySet<number>,
  kept: ReadonlySet<number> = new Set(),
): Sharing | null {
  const { ir, liveness } = analysis.code;
  // Liveness knows nothing of byte files, nor of lanes that wait for others with their operands in memory.
  if (ir.file !== undefined || new WarpWaitBlocks(analysis).all.length > 0) return null;
  const intervals = registerIntervals(analysis, resumed);
  return intervals === null
    ? null
    : { intervals, apart: new Set([...registers, ...splats, ...kept, ...liveness.acrossLanes]) };
}

/** Executes invariant instructions here. Results that are needed as vectors are kept as such. */
export function computeInvariants(
  { scope: { body, chunk }, invariants }: KernelRun,
  instructions: readonly number[],
): void {
  body.computeInvariants(instructions);
  for (const i of instructions) {
    for (const to of chunk.analysis.code.instructions[i]!.dst) {
      if (typeof to === "number" && invariants.splats.has(to)) chunk.keepSplat(to);
    }
  }
}

/** Whether lanes may yield, in the kernel or in what it calls. */
export const mayYield = ({ functionPlans }: ModuleUnit, { spins }: SuspensionPoints): boolean =>
  spins.size > 0 || [...functionPlans.values()].some(({ points }) => points.spins.size > 0);

export const local32 = (local: number): Wasm => wasm.local("i32", local);

/** Adds a constant to a local. */
export const increase = (w: FunctionWriter, local: number, by: number): void =>
  w.assign([{ local, value: wasm.op("i32.add", local32(local), wasm.i32(by)) }]);
