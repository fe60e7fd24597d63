import { mbarrierBits, reachesCluster } from "../ir/index.ts";
import { maskText } from "../ir/lane-mask.ts";
import { Fault } from "../machine/faults/fault.ts";
import type { Site } from "../machine/state/code.ts";
import { ownerOf, TransactionLog } from "../machine/state/transaction-log.ts";
import { notAligned } from "./instruction-faults.ts";
import type { CallFrame, Cta, Wait, Warp } from "../machine/state/launch-state.ts";

/** Lanes of a warp that wait. */
export interface Waiting {
  readonly activation: CallFrame;
  readonly mask: number;
  readonly wait: Wait | null;
}

/** Whether threads of a block wait for others of their cluster. */
export const awaitsCluster = ({ cluster, warps }: Cta): boolean =>
  cluster.size > 1 && warps.some(({ groups }) => groups.some(({ wait }) => wait?.kind === "cluster"));

/** The blocks of a cluster that have not exited. */
function blocksOf({ cluster }: Cta): readonly Cta[] {
  const blocks = Array.from({ length: cluster.size }, (_, rank) => cluster.block(rank));
  return blocks.flatMap((block) => (block === null || typeof block === "string" ? [] : [block]));
}

/**
 * Makes the fault for a block in which no warp can continue; its notes say which lanes wait where, in all blocks of its
 * cluster. `waitingIn` lists the waiting lanes of a warp.
 */
export function deadlock(cta: Cta, waitingIn = (warp: Warp): readonly Waiting[] => warp.groups): Fault | Error {
  const notes: string[] = [];
  const waiting: Waiting[] = [];
  let first: Waiting | null = null;
  const together = awaitsCluster(cta);
  for (const block of together ? blocksOf(cta) : [cta]) {
    const where = together ? `block (${block.id}), ` : "";
    for (const warp of block.warps) {
      for (const group of waitingIn(warp)) {
        if (group.wait === null) continue;
        if (block === cta) first ??= group;
        waiting.push(group);
        notes.push(where + describe(warp, group, group.wait));
      }
      if (warp.lockstep && warp.live === 0) notes.push(`${name(warp, warp.lanes)} has ended`);
    }
  }
  if (first === null || first.wait === null) return new Error("a block neither runs nor waits");
  const notAll = waiting.find(({ wait }) => wait !== null && isAlignment(wait));
  if (notAll !== undefined) {
    const { activation, mask, wait } = notAll;
    return notAligned({ site: wait!.arrival.site, activation, lanes: mask }, notes.slice(0, 64));
  }
  const { activation, mask, wait } = first;
  const whose = together ? "cluster" : "block";
  const message = `no thread of the ${whose} can go on: all of them wait for each other`;
  return new Fault(
    "deadlock",
    message,
    { site: wait.arrival.site, activation, lanes: mask },
    { notes: notes.slice(0, 64) },
  );
}

/**
 * Makes the fault for a block whose threads all wait for the phase of an mbarrier, for tensor memory, for a fused
 * thread, or at barriers, so that nobody is left who could end it.
 */
export function mbarrierDeadlock(cta: Cta): Fault {
  const polling = cta.warps.find(({ polled, pollSite, live }) => (polled & live) !== 0 && pollSite !== null)!;
  const notes: string[] = [];
  for (const warp of cta.warps) {
    const lanes = warp.polled & warp.live;
    if (lanes !== 0 && warp.pollSite !== null) {
      const { line } = warp.pollSite.code.ir.source.position(warp.pollSite.instruction.span.start);
      const { what } = askedAt(warp.pollSite);
      const more = isAllocation(warp.pollSite) ? "" : missingFrom(warp.pollWord);
      notes.push(`${name(warp, lanes)} wait at line ${line} for ${what}${more}`);
      const bytes = transactionsAt(warp);
      if (bytes !== null && !notes.includes(bytes)) notes.push(bytes);
    }
    for (const group of warp.groups) if (group.wait !== null) notes.push(describe(warp, group, group.wait));
  }
  const group = polling.groups.find(({ wait, mask }) => wait === null && (mask & polling.polled) !== 0)!;
  const at = { site: polling.pollSite!, activation: group.activation, lanes: polling.polled & polling.live };
  const message = `no thread of the block can go on: ${askedAt(polling.pollSite!).missing}, and all threads wait`;
  return new Fault("deadlock", message, at, { notes: notes.slice(0, 64) });
}

/** What threads wait for that ask again and again at an instruction, and what there is not. */
function askedAt(site: Site): { readonly what: string; readonly missing: string } {
  if (isFused(site)) {
    return {
      what: "the registers of the thread that it is fused with",
      missing: "a fused thread has not come to the same dpasw",
    };
  }
  if (!isAllocation(site)) {
    return { what: "the phase of an mbarrier", missing: "the phase of an mbarrier is not complete" };
  }
  return isForPair(site)
    ? {
        what: "tensor memory, together with the other block of the pair",
        missing: "the blocks of a pair do not both have tensor memory",
      }
    : { what: "tensor memory", missing: "no tensor memory is free" };
}

/**
 * Whether an instruction at which threads ask again and again allocates tensor memory, or is for fused threads; else it
 * is about an mbarrier.
 */
const isAllocation = ({ instruction: { op } }: Site): boolean => op.kind === "unit";

const isFused = ({ instruction: { op } }: Site): boolean => op.kind === "unit" && op.unit.op === "fused-take";

const isForPair = ({ instruction: { op } }: Site): boolean => op.kind === "unit" && reachesCluster(op.unit);

const arrivalBits = 20;
const transactionBias = 2 ** 20;

/** What an mbarrier, as a warp last found it, still waits for. */
function missingFrom(word: bigint): string {
  const pending = Number(BigInt.asUintN(arrivalBits, word >> BigInt(mbarrierBits.pending)));
  const bytes = Number(BigInt.asUintN(arrivalBits + 1, word >> BigInt(mbarrierBits.transactions))) - transactionBias;
  const arrivals = pending === 0 ? [] : [`${pending} ${pending === 1 ? "arrival" : "arrivals"}`];
  const sent = bytes === 0 ? [] : [bytes > 0 ? `${bytes} bytes` : `the expectation of ${-bytes} bytes that have come`];
  return [...arrivals, ...sent].length === 0 ? "" : `, which lacks ${[...arrivals, ...sent].join(" and ")}`;
}

/** Which lines have announced and sent bytes to the mbarrier that a warp waits for; null: none are pending. */
function transactionsAt({ cta, pollPlace, pollWord, pollSite }: Warp): string | null {
  if (pollPlace === null || isAllocation(pollSite!) || !missingFrom(pollWord).includes("bytes")) return null;
  const { expected, sent } = ownerOf(cta, pollPlace.views)!.units.of(TransactionLog).at(pollPlace.at);
  const list = (bytes: ReadonlyMap<Site, number>): string =>
    [...bytes].map(([site, count]) => `line ${lineOf(site)}: ${count} bytes`).join(", ");
  const senders = pollSite!.code.ir.instructions.flatMap((instruction, index) => {
    const { op } = instruction;
    const sends = op.kind === "unit" && (op.unit.op === "box-load" || op.unit.op === "bulk-copy");
    const site = { code: pollSite!.code, index, instruction };
    return sends && ![...sent.keys()].some((one) => lineOf(one) === lineOf(site)) ? [lineOf(site)] : [];
  });
  const others = senders.length === 0 ? "" : `; not by now: line ${[...new Set(senders)].join(", ")}`;
  const has = sent.size === 0 ? "nothing has been sent" : `sent by ${list(sent)}`;
  return `in this phase of the mbarrier, expected by ${list(expected)}; ${has}${others}`;
}

const lineOf = ({ code, instruction }: Site): number => code.ir.source.position(instruction.span.start).line;

/** Whether lanes wait for the others that must execute an instruction with them. */
function isAlignment({ arrival }: Wait): boolean {
  const { op } = arrival.site.instruction;
  return op.kind === "warp" && op.warp.op === "align";
}

const name = ({ lockstep, index }: Warp, mask: number): string =>
  `${lockstep ? "thread" : "warp"} ${index}, lanes ${maskText(mask)}`;

function describe(warp: Warp, group: Waiting, wait: Wait): string {
  const { ir } = wait.arrival.site.code;
  const { line } = ir.source.position(wait.arrival.site.instruction.span.start);
  const who = name(warp, group.mask);
  const where = `in \`${group.activation.code.ir.name}\`, line ${line}`;
  const missing = warp.live & ~group.mask;
  switch (wait.kind) {
    case "converge":
      return `${who} wait ${where} at barrier ${wait.barrier} for lanes ${maskText(missing)} of their warp`;
    case "barrier": {
      const { arrived, count, weight } = warp.cta.barriers[wait.barrier]!;
      const of = count ?? warp.cta.expectedWarps * weight;
      return `${who} wait ${where} at barrier ${wait.barrier}, where ${arrived} of ${of} threads have arrived`;
    }
    case "lanes":
      return `${who} wait ${where} for lanes ${maskText(wait.arrival.named & missing)}`;
    case "cluster": {
      const { arrived, live } = warp.cta.cluster.barrier;
      return `${who} wait ${where} for their cluster, of which ${arrived} of ${live} threads have arrived`;
    }
  }
}
