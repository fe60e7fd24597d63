import { windows } from "../../ir/index.ts";
import { popcount } from "../../ir/lane-mask.ts";
import type { AddressParts } from "../../machine/memory/address-space.ts";
import type { Site } from "../../machine/state/code.ts";
import type { Cta, Warp } from "../../machine/state/launch-state.ts";
import { type AsyncEffect, isGroup, PendingEffects } from "../../machine/state/pending-effects.ts";
import { lanesText } from "./tables.ts";

/** Asynchronous operations of lanes of a warp, issued by one instruction and complete at the same time. */
export interface InFlight {
  readonly site: Site;
  readonly warp: Warp;
  /** The lanes, as bits. */
  readonly lanes: number;
  /** Of the first lane; null: no copy of memory. */
  readonly copy: { readonly from: bigint; readonly to: bigint; readonly bytes: number } | null;
  /** What completes them, in words: what a program waits for. */
  readonly completion: string;
}

/** Returns the asynchronous operations of a block that have been issued and have not taken effect, the oldest first. */
export function inFlight(cta: Cta): readonly InFlight[] {
  const pending = cta.units.existing(PendingEffects);
  const found: (InFlight & { lanes: number })[] = [];
  for (const effect of pending?.all ?? []) {
    const { site, warp, lane } = effect;
    const completion = completionText(cta, pending!, effect);
    const last = found.at(-1);
    if (
      last?.site === site &&
      last.warp === warp &&
      last.completion === completion &&
      (last.lanes & (1 << lane)) === 0
    ) {
      last.lanes |= 1 << lane;
      continue;
    }
    const copy = effect.copy?.() ?? null;
    const moved = copy && { from: addressOf(copy.from), to: addressOf(copy.to), bytes: copy.bytes };
    found.push({ site, warp, lanes: 1 << lane, copy: moved, completion });
  }
  return found;
}

const addressOf = ({ high, low }: AddressParts): bigint => (BigInt(high) << 32n) | BigInt(low >>> 0);

/** The waits for groups, by what is in them. */
const groupWaits = {
  copies: "cp.async.wait_group",
  bulk: "cp.async.bulk.wait_group",
  products: "wgmma.wait_group",
} as const;

function completionText(cta: Cta, pending: PendingEffects, effect: AsyncEffect): string {
  const { completion, mbarriers } = effect;
  if (isGroup(completion)) {
    const younger = pending.youngerGroups(effect);
    return younger === null ? "in no group yet" : `complete by ${groupWaits[completion]} ${younger}`;
  }
  switch (completion) {
    case "mbarrier":
      return `counted by ${mbarriers.map((one) => mbarrierName(cta, one)).join(", ")}`;
    case "tensor":
      return "complete by what tcgen05.commit arrives at";
    case "loads":
      return "complete by tcgen05.wait::ld";
    case "stores":
      return "complete by tcgen05.wait::st";
  }
}

function mbarrierName(cta: Cta, { views, at }: AsyncEffect["mbarriers"][number]): string {
  return views === cta.shared
    ? `the mbarrier at 0x${(windows.shared.start + at).toString(16)}`
    : "an mbarrier of another block";
}

/** Says in words what an operation moves, if it is a copy; `describe` names an address. */
export function inFlightText({ copy, completion }: InFlight, describe: (address: bigint) => string): string {
  if (copy === null) return completion;
  return `${copy.bytes} bytes from ${describe(copy.from)} to ${describe(copy.to)}; ${completion}`;
}

/** Says which lanes have issued operations. */
export const issuersText = ({ warp, lanes }: InFlight): string =>
  `${lanes === -1 ? "all lanes" : `${popcount(lanes) === 1 ? "lane" : "lanes"} ${lanesText(lanes)}`} of warp ${warp.index}`;

/** The instruction that has issued an operation, without its state spaces and operands, and its line. */
export function issuedBy({ site: { code, index } }: InFlight): { readonly opcode: string; readonly line: number } {
  const { source, instructions } = code.ir;
  const { span } = instructions[index]!;
  const [opcode] = source.text
    .slice(span.start, span.end)
    .replace(/^@!?\S+\s+/, "")
    .split(/\s/);
  return { opcode: opcode!.replace(/\.(shared|global|sync|cta_group).*/, ""), line: source.position(span.start).line };
}
