import { displayName } from "../../names/index.ts";
import type { Counts, LineProfile } from "../../profiler/index.ts";
import { grouped, plural } from "../terminal/numbers.ts";

export const percent = (share: number | null): string =>
  share === null
    ? ""
    : `${share > 0.999 && share < 1 ? "99.9" : Number((share * 100).toPrecision(share < 0.1 ? 2 : 3))}%`;

/** An average of counts, with at most one decimal. */
const average = (sum: number, n: number): string => (sum / n).toFixed(sum % n === 0 ? 0 : 1);

const callees = 3;

/** Describes in short phrases how a line or function affects memory, its warp and others; costs are averages. */
export function notesOf({ counts: c, targets = [] }: Pick<LineProfile, "counts"> & Partial<LineProfile>): string[] {
  const notes: string[] = [];
  const traffic = (where: string, requests: number, sectors: number, min: number): void => {
    if (requests === 0) return;
    const best = sectors === min ? "" : `, could be ${average(min, requests)}`;
    notes.push(`${where}${average(sectors, requests)} sector${sectors === requests ? "" : "s"}${best}`);
  };
  traffic("", c.globalRequests, c.globalSectors, c.globalLeastSectors);
  traffic("local: ", c.localRequests, c.localSectors, c.localLeastSectors);
  if (c.sharedConflicts > 0) notes.push(`${average(c.sharedPasses, c.sharedRequests)} passes over the banks`);
  if (c.constantPasses > c.constantRequests) {
    notes.push(`${average(c.constantPasses, c.constantRequests)} different constants`);
  }
  if (c.atomicRequests > 0 && c.atomicRounds > c.atomicRequests) {
    notes.push(`${average(c.atomicRounds, c.atomicRequests)} lanes at one address`);
  }
  if (c.matrixProducts > 0) notes.push(`${average(c.multiplyAdds, c.matrixProducts)} multiply-adds`);
  if (c.asyncCopies > 0) notes.push(`copies ${average(c.asyncBytes, c.asyncCopies)} bytes a lane`);
  if (c.divergentBranches > 0) notes.push(`diverges ${grouped(c.divergentBranches)} of ${plural(c.branches, "time")}`);
  if (c.barrierArrivals > 0 && c.barrierWaited > 0) {
    const behind = c.barrierBehind === 0 ? "" : `, ${average(c.barrierBehind, c.barrierArrivals)} behind`;
    notes.push(`waits ${average(c.barrierWaited, c.barrierArrivals)}${behind}`);
  }
  if (targets.length > 0) {
    const more = targets.length > callees ? `, ${targets.length - callees} more` : "";
    notes.push(
      `-> ${targets
        .slice(0, callees)
        .map((t) => displayName(t.function))
        .join(", ")}${more}`,
    );
  }
  if (c.divergentCalls > 0) notes.push(`splits ${grouped(c.divergentCalls)} of ${plural(c.calls, "time")}`);
  return notes;
}

/** The totals of all lines, with the name of each number. */
export function totalsOf(c: Counts): [string, string][] {
  const rows: [string, string][] = [
    ["warp-instructions", grouped(c.warpInstructions)],
    ["thread-instructions", grouped(c.threadInstructions)],
    ["lanes in use", percent(c.laneSlots === 0 ? null : c.threadInstructions / c.laneSlots)],
  ];
  if (c.branches > 0)
    rows.push(["branches at which lanes agree", percent((c.branches - c.divergentBranches) / c.branches)]);
  const traffic = (name: string, requests: number, sectors: number, min: number): void => {
    if (requests === 0) return;
    const use = sectors === 0 ? "" : ` (${percent(min / sectors)} of what is moved is needed)`;
    rows.push([`${name} sectors`, `${grouped(sectors)} in ${plural(requests, "request")}${use}`]);
  };
  traffic("global", c.globalRequests, c.globalSectors, c.globalLeastSectors);
  traffic("local", c.localRequests, c.localSectors, c.localLeastSectors);
  if (c.sharedRequests > 0) {
    const conflicts = c.sharedConflicts === 0 ? "no conflicts" : `${grouped(c.sharedConflicts)} for conflicts`;
    rows.push(["shared passes", `${grouped(c.sharedPasses)} in ${plural(c.sharedRequests, "request")}, ${conflicts}`]);
  }
  if (c.atomicRequests > 0) {
    const rounds = average(c.atomicRounds, c.atomicRequests);
    rows.push([
      "atomic operations",
      `${grouped(c.atomicLanes)} in ${plural(c.atomicRequests, "request")}, ${rounds} lanes at one address on average`,
    ]);
  }
  if (c.matrixProducts > 0)
    rows.push(["multiply-adds", `${grouped(c.multiplyAdds)} in ${plural(c.matrixProducts, "product")} of matrices`]);
  if (c.asyncCopies > 0)
    rows.push(["copied asynchronously", `${grouped(c.asyncBytes)} bytes, ${grouped(c.asyncCopies)} times`]);
  if (c.barrierArrivals > 0) {
    rows.push([
      "barrier waits",
      `${grouped(c.barrierWaited)} warp-instructions at ${plural(c.barrierArrivals, "arrival")}, ${grouped(c.barrierBehind)} behind the last`,
    ]);
  }
  if (c.calls > 0) rows.push(["calls", `${grouped(c.calls)}, by ${plural(c.callLanes, "lane")}`]);
  return rows;
}
