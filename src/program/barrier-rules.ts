import type { Barrier } from "../machine/state/barrier.ts";
import type { BarrierArrival, Cta, Warp } from "../machine/state/launch-state.ts";

/** A problem with an arrival at a barrier: the code and the message of the report. */
type Problem = readonly [code: string, message: string];

/** Checks a barrier's number, which is unsigned. */
export function idProblem({ barriers, grid }: Cta, id: number): Problem | null {
  if (id < barriers.length) return null;
  const owner = grid.threads === null ? "a block" : "a thread group";
  return ["barrier-bad-id", `there is no barrier ${id}: ${owner} has 0 to ${barriers.length - 1}`];
}

/**
 * Checks the count that lanes pass to a barrier. It is unsigned: threads in PTX (section 9.7.13.1), where 0 stands for
 * the whole block; arrivals in vISA. Null if they pass none.
 */
export function countProblem(cta: Cta, count: number | null, mode: BarrierArrival["mode"]): Problem | null {
  if (count === null || mode === "wait") return null;
  if (cta.grid.threads !== null) return threadCountProblem(cta, count);
  if (count % 32 !== 0) {
    const message = `the count of threads is ${count}, which is not a multiple of the warp size, 32`;
    return ["barrier-bad-count", message];
  }
  if (count > 0 || mode !== "arrive") return null;
  return ["barrier-bad-count", "arrive needs a count of threads that is not 0"];
}

/** The limit is two arrivals for each thread: one that both produces and consumes at a named barrier arrives twice. */
function threadCountProblem({ warps }: Cta, count: number): Problem | null {
  if (count > 0 && count <= 2 * warps.length) return null;
  return ["barrier-bad-count", `the barrier is for ${count} arrivals, and the group has ${warps.length} threads`];
}

/**
 * Checks that all arrivals in one round of a barrier pass the same count; null stands for all threads of the block or
 * group.
 */
export function mismatch({ grid }: Cta, barrier: Barrier<Warp>, count: number | null): Problem | null {
  if (barrier.arrived === 0 || barrier.count === count) return null;
  const { id, count: known } = barrier;
  const message =
    grid.threads === null
      ? `barrier ${id} waits for ${threadsText(known)}, and these threads say ${threadsText(count)}`
      : `barrier ${id} waits for ${known ?? "all"} arrivals, and this thread says ${count ?? "all"}`;
  return ["barrier-bad-count", message];
}

const threadsText = (count: number | null): string =>
  count === null ? "all threads of the block" : `${count} threads`;
