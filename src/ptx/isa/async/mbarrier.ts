import type { Op } from "../../../ir/index.ts";
import { type Expr, kit } from "../../../semantics/index.ts";
import { form, instruction } from "../define.ts";
import type { Ordering } from "../memory/access.ts";
import {
  arriving,
  badCount,
  begin,
  completing,
  expecting,
  incomplete,
  initialWord,
  maxCount,
  mbarrierOp,
  old,
  parityIn,
  pendingIn,
  settling,
} from "./mbarrier-word.ts";

const own = ["shared", "shared::cta"] as const;
const any = ["shared", "shared::cta", "shared::cluster"] as const;
const scopes = ["cta", "cluster"] as const;

const window = { "shared::cta": { since: "7.8" } } as const;
const ampere = { since: "7.0", target: "sm_80", anyOrder: true } as const;
const hopper = { since: "8.0", target: "sm_90", anyOrder: true } as const;

/** `.sem` and `.scope` must be written together. */
export const semNeedsScope = ({
  sem,
  scope,
}: {
  readonly sem?: string | undefined;
  readonly scope?: string | undefined;
}) =>
  (sem === undefined) === (scope === undefined)
    ? null
    : `'.${sem ?? scope}' must be written together with ${sem === undefined ? "a '.sem'" : "a '.scope'"}`;

const orderGates = (sem: string) => ({
  [sem]: { since: "8.0" },
  relaxed: { since: "8.6", target: "sm_90" },
  cta: { since: "8.0" },
  cluster: { since: "8.0", target: "sm_90" },
});

interface Modifiers {
  readonly sem?: Ordering["order"];
  readonly scope?: "cta" | "cluster" | undefined;
  readonly ss?: string | undefined;
}

/** Where an operation goes, and its order if none is written. */
const at = (address: Expr, { sem, scope, ss }: Modifiers, order: NonNullable<Ordering["order"]>) => ({
  address,
  space: ss,
  ordering: { order: sem ?? order, scope: scope ?? "cta" } as const,
});

/** Section 9.7.13.15.9. It is weak: nobody may use the mbarrier who is not ordered after it. */
const mbarrierInit = instruction("mbarrier.init", {
  summary: "initializes an mbarrier in memory",
  section: "9.7.13.15.9",
  forms: [
    form("mbarrier.init{.ss}.b64 [addr], count", {
      where: { ss: own },
      operands: { count: "u32" },
      ...ampere,
      gates: window,
      effect: (_, { addr, count }, m) =>
        mbarrierOp(at(addr, m, "weak"), { word: initialWord(count), problems: [badCount(count)] }),
    }),
  ],
});

/** Section 9.7.13.15.10. */
const mbarrierInval = instruction("mbarrier.inval", {
  summary: "invalidates an mbarrier, so that its memory can be reused",
  section: "9.7.13.15.10",
  forms: [
    form("mbarrier.inval{.ss}.b64 [addr]", {
      where: { ss: own },
      ...ampere,
      gates: window,
      effect: (_, { addr }, m) => mbarrierOp(at(addr, m, "relaxed"), { ...begin, word: kit.i64(0n) }),
    }),
  ],
});

const transactionForm = (name: "expect_tx" | "complete_tx") =>
  form(`mbarrier.${name}{.sem}{.scope}{.space}.b64 [addr], txCount`, {
    where: { sem: ["relaxed"], scope: scopes, space: any },
    operands: { txCount: "u32" },
    ...hopper,
    invalid: semNeedsScope,
    effect: (_, { addr, txCount }, { sem, scope, space }) =>
      mbarrierOp(
        at(addr, { sem, scope, ss: space }, "relaxed"),
        name === "expect_tx" ? expecting(begin, txCount) : settling(completing(begin, txCount)),
      ),
  });

/** Section 9.7.13.15.11. */
const mbarrierExpectTx = instruction("mbarrier.expect_tx", {
  summary: "increases the number of bytes that an mbarrier waits for",
  section: "9.7.13.15.11",
  forms: [transactionForm("expect_tx")],
});

/** Section 9.7.13.15.12. */
const mbarrierCompleteTx = instruction("mbarrier.complete_tx", {
  summary: "signals the arrival of bytes to an mbarrier",
  section: "9.7.13.15.12",
  forms: [transactionForm("complete_tx")],
});

/** For an mbarrier of another block of the cluster the destination must be `_`: the state is not returned. */
const stateIn = ({ ss }: { readonly ss?: string | undefined }) => (ss === "shared::cluster" ? "sink u64" : "u64");
const count = "u32 1..1048575";
const arrival = { sem: ["release", "relaxed"], scope: scopes, ss: any } as const;
const arrivalGates = { ...orderGates("release"), ...window, "shared::cluster": { since: "8.0", target: "sm_90" } };

const one = kit.i32(1);

const arrivalOp = (addr: Expr, m: Modifiers, change: Parameters<typeof mbarrierOp>[1]) =>
  mbarrierOp(at(addr, m, "release"), change);

/** An arrival without transactions. It says its count if that is known and later phases expect as many. */
const plainArrivalOp = (name: "arrive" | "arrive_drop", addr: Expr, m: Modifiers, count: Expr): Op => {
  const drops = name === "arrive_drop";
  const op = arrivalOp(addr, m, settling(arriving(begin, count, drops)));
  const arrivals = count.kind === "const" ? Number(count.value) : 0;
  return !drops && arrivals > 0 && arrivals <= maxCount ? { ...op, arrivals } : op;
};

const arrivalForms = (name: "arrive" | "arrive_drop") => [
  form(`mbarrier.${name}{.sem}{.scope}{.ss}.b64 d, [addr]`, {
    where: arrival,
    operands: { d: stateIn },
    ...ampere,
    gates: arrivalGates,
    invalid: semNeedsScope,
    effect: (_, { addr }, m) => plainArrivalOp(name, addr, m, one),
  }),
  form(`mbarrier.${name}{.sem}{.scope}{.ss}.b64 d, [addr], count`, {
    where: arrival,
    operands: { d: stateIn, count },
    ...ampere,
    since: "7.8",
    target: "sm_90",
    gates: { ...orderGates("release"), "shared::cluster": { since: "8.0" } },
    invalid: semNeedsScope,
    effect: (_, { addr, count }, m) => plainArrivalOp(name, addr, m, count),
  }),
  form(`mbarrier.${name}.expect_tx{.sem}{.scope}{.ss}.b64 d, [addr], txCount`, {
    where: arrival,
    operands: { d: stateIn, txCount: "u32" },
    ...hopper,
    gates: { relaxed: { since: "8.6" } },
    invalid: semNeedsScope,
    effect: (_, { addr, txCount }, m) =>
      arrivalOp(addr, m, settling(arriving(expecting(begin, txCount), one, name === "arrive_drop"))),
  }),
  form(`mbarrier.${name}.noComplete{.sem}{.scope}{.ss}.b64 d, [addr], count`, {
    where: { sem: ["release"], scope: ["cta"], ss: own },
    operands: { d: "u64", count },
    ...ampere,
    gates: { release: { since: "8.0" }, cta: { since: "8.0" }, ...window },
    invalid: semNeedsScope,
    effect: (_, { addr, count }, m) => arrivalOp(addr, m, incomplete(arriving(begin, count, name === "arrive_drop"))),
  }),
];

/** Section 9.7.13.15.13. */
const mbarrierArrive = instruction("mbarrier.arrive", {
  summary: "arrives at an mbarrier",
  section: "9.7.13.15.13",
  forms: arrivalForms("arrive"),
});

/** Section 9.7.13.15.14. */
const mbarrierArriveDrop = instruction("mbarrier.arrive_drop", {
  summary: "arrives at an mbarrier and decrements its expected arrival count",
  section: "9.7.13.15.14",
  forms: arrivalForms("arrive_drop"),
});

const testing = {
  where: { sem: ["acquire", "relaxed"], scope: scopes, ss: own },
  operands: { d: "pred", state: "u64", phaseParity: "u32 0..1" },
  ...ampere,
  gates: { ...orderGates("acquire"), ...window },
  invalid: semNeedsScope,
} as const;
const trying = {
  ...testing,
  operands: { ...testing.operands, suspendTimeHint: "u32" },
  since: "7.8",
  target: "sm_90",
  gates: orderGates("acquire"),
} as const;

/**
 * Whether the phase with a parity is complete: then the current phase has the other one. "The valid values of
 * phaseParity operand are 0 and 1", but Triton writes -1 for 1: the lowest bit counts.
 */
const waitOp = (addr: Expr, m: Modifiers, parity: Expr): Op =>
  mbarrierOp(at(addr, m, "acquire"), begin, kit.not(kit.eq(parityIn(old), kit.and(parity, one))));

/** Section 9.7.13.15.16. */
const mbarrierTestWait = instruction("mbarrier.test_wait", {
  summary: "tests whether a phase of an mbarrier is complete",
  section: "9.7.13.15.16",
  forms: [
    form("mbarrier.test_wait{.sem}{.scope}{.ss}.b64 d, [addr], state", {
      ...testing,
      effect: (_, { addr, state }, m) => waitOp(addr, m, parityIn(state)),
    }),
    form("mbarrier.test_wait.parity{.sem}{.scope}{.ss}.b64 d, [addr], phaseParity", {
      ...testing,
      since: "7.1",
      effect: (_, { addr, phaseParity }, m) => waitOp(addr, m, kit.and(phaseParity, one)),
    }),
  ],
});

/** Section 9.7.13.15.16. */
const mbarrierTryWait = instruction("mbarrier.try_wait", {
  summary: "waits for a limited time for a phase of an mbarrier, and tells whether it is complete",
  section: "9.7.13.15.16",
  forms: [
    form("mbarrier.try_wait{.sem}{.scope}{.ss}.b64 d, [addr], state{, suspendTimeHint}", {
      ...trying,
      effect: (_, { addr, state }, m) => waitOp(addr, m, parityIn(state)),
    }),
    form("mbarrier.try_wait.parity{.sem}{.scope}{.ss}.b64 d, [addr], phaseParity{, suspendTimeHint}", {
      ...trying,
      effect: (_, { addr, phaseParity }, m) => waitOp(addr, m, kit.and(phaseParity, one)),
    }),
  ],
});

/** Section 9.7.13.15.17. */
const mbarrierPendingCount = instruction("mbarrier.pending_count", {
  summary: "extracts the number of pending arrivals from an mbarrier's state",
  section: "9.7.13.15.17",
  forms: [
    form("mbarrier.pending_count.b64 d, state", {
      operands: { d: "u32", state: "reg u64" },
      since: "7.0",
      target: "sm_80",
      sem: (_, { state }) => pendingIn(state),
    }),
  ],
});

export const mbarrierInstructions = [
  mbarrierInit,
  mbarrierInval,
  mbarrierExpectTx,
  mbarrierCompleteTx,
  mbarrierArrive,
  mbarrierArriveDrop,
  mbarrierTestWait,
  mbarrierTryWait,
  mbarrierPendingCount,
];
