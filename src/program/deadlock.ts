import { maskText } from "../ir/lane-mask.ts";
import { Fault } from "../machine/faults/fault.ts";
import type { CallFrame, Cta, Wait, Warp } from "../machine/state/launch-state.ts";

/** Lanes of a warp that wait. */
export interface Waiting {
  readonly activation: CallFrame;
  readonly mask: number;
  readonly wait: Wait | null;
}

/**
 * Makes the fault for a block in which no warp can continue; its notes say which lanes wait where. `waitingIn` lists
 * the waiting lanes of a warp.
 */
export function deadlock(cta: Cta, waitingIn = (warp: Warp): readonly Waiting[] => warp.groups): Fault | Error {
  const notes: string[] = [];
  let first: Waiting | null = null;
  for (const warp of cta.warps) {
    for (const group of waitingIn(warp)) {
      if (group.wait === null) continue;
      first ??= group;
      notes.push(describe(warp, group, group.wait));
    }
    if (warp.lockstep && warp.live === 0) notes.push(`${name(warp, warp.lanes)} has ended`);
  }
  if (first === null || first.wait === null) return new Error("a block neither runs nor waits");
  const { activation, mask, wait } = first;
  const message = "no thread of the block can go on: all of them wait for each other";
  return new Fault(
    "deadlock",
    message,
    { site: wait.arrival.site, activation, lanes: mask },
    { notes: notes.slice(0, 64) },
  );
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
  }
}
