import { displayName } from "../names/index.ts";
import type { Session } from "./session.ts";
import { describeAddress } from "./view/memory-view.ts";
import type { WatchOwner, Watched } from "./watchpoint.ts";

/** Describes what a watchpoint watches: "4 bytes at 0x7f1001000000, `tile`, of block (1,0,0) in launch 2". */
export function watchedText(session: Session, watched: Watched): string {
  if (watched.kind === "register") {
    const { register, owner } = watched;
    const what = `${register.name} of ${displayName(watched.function)}`;
    return `${what}, ${ownerText(session, owner, register.kind === "register" ? "lane" : "warp")}`;
  }
  const { owner, place, address, bytes } = watched;
  const { grid } = session.execution;
  const what = `${bytes} bytes at ${describeAddress({ grid, activation: null, lane: 0 }, address)}`;
  if (owner === null) return what;
  const unit = place.space === "shared" ? "block" : place.space === "local" ? "lane" : "launch";
  const whose = ownerText(session, owner, unit);
  return whose === "" ? what : `${what}, of ${whose}`;
}

/** Names the owner, as far down as it matters, and the launch if there are several. */
function ownerText(session: Session, owner: WatchOwner, unit: "lane" | "warp" | "block" | "launch"): string {
  const block = `block (${session.blockId(owner.block).join(",")})`;
  const who = {
    lane: `lane ${owner.lane} of warp ${owner.warp} of ${block}`,
    warp: `warp ${owner.warp} of ${block}`,
    block,
    launch: "",
  }[unit];
  const { count } = session.timeline.launch;
  return [who, ...(count > 1 ? [`launch ${owner.launch + 1}`] : [])].filter(Boolean).join(" in ");
}
