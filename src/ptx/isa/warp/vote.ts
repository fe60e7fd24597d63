import type { Op, WarpOp } from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";
import { form, instruction } from "../define.ts";

type Mode = Extract<WarpOp, { op: "vote" }>["mode"];

const vote = (mode: Mode, a: Expr, mask: Expr | null): Op => ({
  kind: "warp",
  mask,
  warp: { op: "vote", mode, operands: [a] },
  aligned: false,
});

const where = { mode: ["all", "any", "uni"] } as const;
const operands = { a: "pred" };
const syncOperands = { a: "pred", membermask: "u32" };
const removed = { until: "6.4", untilTarget: "sm_70" } as const;

/** Section 9.7.13.8. */
export const voteOld = instruction("vote", {
  summary: "combines a predicate over the active lanes of a warp",
  section: "9.7.13.8",
  forms: [
    form("vote.mode.pred d, {!}a", {
      where,
      operands,
      since: "1.2",
      target: "sm_12",
      ...removed,
      effect: (_, { a }, { mode }) => vote(mode, a, null),
    }),
    form("vote.ballot.b32 d, {!}a", {
      operands,
      since: "2.0",
      target: "sm_20",
      ...removed,
      effect: (_, { a }) => vote("ballot", a, null),
    }),
  ],
});

/** Section 9.7.13.9. */
export const voteSync = instruction("vote.sync", {
  summary: "combines a predicate over lanes of a warp",
  section: "9.7.13.9",
  forms: [
    form("vote.sync.mode.pred d, {!}a, membermask", {
      where,
      operands: syncOperands,
      anyOrder: true,
      since: "6.0",
      target: "sm_30",
      effect: (_, { a, membermask }, { mode }) => vote(mode, a, membermask),
    }),
    form("vote.sync.ballot.b32 d, {!}a, membermask", {
      operands: syncOperands,
      anyOrder: true,
      since: "6.0",
      target: "sm_30",
      effect: (_, { a, membermask }) => vote("ballot", a, membermask),
    }),
  ],
});
