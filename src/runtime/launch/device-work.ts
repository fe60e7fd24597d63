import type { DeviceLaunch, DeviceOperation, DeviceWork } from "../../machine/state/device-work.ts";
import { isFault } from "./faults.ts";
import type { KernelResult } from "./launch-options.ts";
import type { PreparedLaunch } from "./prepared-launch.ts";

/** What is to be done next. */
export type LaunchStep<L> = { readonly kind: "launch"; readonly launch: L } | DeviceOperation;

/** Steps of a launch with all that its kernels hand over. The result of a launch comes back; null of what is none. */
export type LaunchSteps<L> = Generator<LaunchStep<L>, KernelResult, KernelResult | null>;

/**
 * A launch, and then what its kernel has handed to the device, one after the other: each with all that it hands over in
 * turn, and last what was to begin after the rest. A fault ends it.
 */
export function* launchSteps<L extends { readonly prepared: PreparedLaunch }>(
  root: L,
  prepare: (work: DeviceLaunch) => L,
): LaunchSteps<L> {
  let total = yield* launched(root);
  const todo = inTurn(root.prepared.deviceWork);
  for (let work = todo.pop(); work !== undefined && !total.reports.some(isFault); work = todo.pop()) {
    if (work.kind === "operation") {
      yield work;
      continue;
    }
    const next = prepare(work);
    total = together(total, yield* launched(next));
    todo.push(...inTurn(next.prepared.deviceWork));
  }
  return total;
}

function* launched<L>(launch: L): LaunchSteps<L> {
  const result = yield { kind: "launch", launch };
  if (result === null) throw new Error("a launch has a result");
  return result;
}

/** Work as it is taken from the end of a list. */
const inTurn = (work: readonly DeviceWork[]): DeviceWork[] =>
  [...work.filter((w) => !isTail(w)), ...work.filter(isTail)].reverse();

const isTail = (work: DeviceWork): boolean => work.kind === "launch" && work.isTail;

/** The result of a launch and of one that it has made. */
const together = (first: KernelResult, next: KernelResult): KernelResult => ({
  ...first,
  ok: first.ok && next.ok,
  interpreted: first.interpreted ?? next.interpreted,
  steps: first.steps === null || next.steps === null ? null : first.steps + next.steps,
  reports: [...first.reports, ...next.reports],
  threads: first.threads + next.threads,
  milliseconds: first.milliseconds + next.milliseconds,
  stdout: first.stdout + next.stdout,
});
