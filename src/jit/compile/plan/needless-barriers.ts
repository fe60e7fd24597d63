import { inRegionOrder } from "../analysis/code/region-order.ts";
import { arrivesTogether, blockStepsOf } from "../analysis/flow/block-steps.ts";
import { invariantsOf } from "../analysis/values/invariant-code.ts";
import type { CompiledFunction } from "./compiled-functions.ts";
import type { KernelPlan } from "./kernel-plan.ts";
import type { KernelScope } from "./scope.ts";
import { resumeBlocks } from "./suspension-points.ts";
import { plansWithout } from "./without-barriers.ts";

/**
 * Plans a kernel without the barriers that its launch's shape says are needless; null where there are none, or where
 * threads may come to a barrier while others are at another one. `plan`: the kernel with all of its barriers.
 */
export function plansWithoutNeedless(kernel: CompiledFunction, { analysis, points }: KernelPlan, scope: KernelScope) {
  const { needlessBarriers: needless } = scope.shape;
  if (needless.length === 0 || !arrivesTogether(analysis, points)) return null;
  if (blockStepsOf(analysis, points.barriers, invariantsOf(analysis, resumeBlocks(points))) === null) return null;
  const barriers = kernel.ir.instructions.flatMap(({ op }, i) =>
    op.kind === "barrier" && needless.includes(kernel.origins?.[i] ?? i) ? [i] : [],
  );
  return plansWithout(kernel, barriers, inRegionOrder, scope);
}
