import { form, instruction } from "../define.ts";

const unimplemented = "mbarrier objects are not modelled yet";

const own = ["shared", "shared::cta"] as const;
const any = ["shared", "shared::cta", "shared::cluster"] as const;
const scopes = ["cta", "cluster"] as const;

const window = { "shared::cta": { since: "7.8" } } as const;
const ampere = { since: "7.0", target: "sm_80", anyOrder: true, unimplemented } as const;
const hopper = { since: "8.0", target: "sm_90", anyOrder: true, unimplemented } as const;

/** `.sem` and `.scope` must be written together. */
const semNeedsScope = ({ sem, scope }: { readonly sem?: string | undefined; readonly scope?: string | undefined }) =>
  (sem === undefined) === (scope === undefined)
    ? null
    : `'.${sem ?? scope}' must be written together with ${sem === undefined ? "a '.sem'" : "a '.scope'"}`;

const orderGates = (sem: string) => ({
  [sem]: { since: "8.0" },
  relaxed: { since: "8.6", target: "sm_90" },
  cta: { since: "8.0" },
  cluster: { since: "8.0", target: "sm_90" },
});

/** Section 9.7.13.15.9. */
const mbarrierInit = instruction("mbarrier.init", {
  summary: "initializes an mbarrier in memory",
  section: "9.7.13.15.9",
  forms: [
    form("mbarrier.init{.ss}.b64 [addr], count", {
      where: { ss: own },
      operands: { count: "u32" },
      ...ampere,
      gates: window,
    }),
  ],
});

/** Section 9.7.13.15.10. */
const mbarrierInval = instruction("mbarrier.inval", {
  summary: "invalidates an mbarrier, so that its memory can be reused",
  section: "9.7.13.15.10",
  forms: [form("mbarrier.inval{.ss}.b64 [addr]", { where: { ss: own }, ...ampere, gates: window })],
});

const transactionForm = (name: "expect_tx" | "complete_tx") =>
  form(`mbarrier.${name}{.sem}{.scope}{.space}.b64 [addr], txCount`, {
    where: { sem: ["relaxed"], scope: scopes, space: any },
    operands: { txCount: "u32" },
    ...hopper,
    invalid: semNeedsScope,
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
const arrival = { sem: ["release", "relaxed"], scope: scopes, ss: any } as const;
const arrivalGates = { ...orderGates("release"), ...window, "shared::cluster": { since: "8.0", target: "sm_90" } };

const arrivalForms = (name: "arrive" | "arrive_drop") => [
  form(`mbarrier.${name}{.sem}{.scope}{.ss}.b64 d, [addr]`, {
    where: arrival,
    ...ampere,
    gates: arrivalGates,
    invalid: semNeedsScope,
  }),
  form(`mbarrier.${name}{.sem}{.scope}{.ss}.b64 d, [addr], count`, {
    where: arrival,
    operands: { count: "u32" },
    ...ampere,
    since: "7.8",
    target: "sm_90",
    gates: { ...orderGates("release"), "shared::cluster": { since: "8.0" } },
    invalid: semNeedsScope,
  }),
  form(`mbarrier.${name}.expect_tx{.sem}{.scope}{.ss}.b64 d, [addr], txCount`, {
    where: arrival,
    operands: { txCount: "u32" },
    ...hopper,
    gates: { relaxed: { since: "8.6" } },
    invalid: semNeedsScope,
  }),
  form(`mbarrier.${name}.noComplete{.sem}{.scope}{.ss}.b64 d, [addr], count`, {
    where: { sem: ["release"], scope: ["cta"], ss: own },
    operands: { count: "u32" },
    ...ampere,
    gates: { release: { since: "8.0" }, cta: { since: "8.0" }, ...window },
    invalid: semNeedsScope,
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

const wait = { sem: ["acquire", "relaxed"], scope: scopes, ss: own } as const;
const waitOperands = { d: "pred", state: "b64", phaseParity: "u32" };
const tryOperands = { ...waitOperands, suspendTimeHint: "u32" };

/** Section 9.7.13.15.16. */
const mbarrierTestWait = instruction("mbarrier.test_wait", {
  summary: "tests whether a phase of an mbarrier is complete",
  section: "9.7.13.15.16",
  forms: [
    form("mbarrier.test_wait{.sem}{.scope}{.ss}.b64 d, [addr], state", {
      where: wait,
      operands: waitOperands,
      ...ampere,
      gates: { ...orderGates("acquire"), ...window },
      invalid: semNeedsScope,
    }),
    form("mbarrier.test_wait.parity{.sem}{.scope}{.ss}.b64 d, [addr], phaseParity", {
      where: wait,
      operands: waitOperands,
      ...ampere,
      since: "7.1",
      gates: { ...orderGates("acquire"), ...window },
      invalid: semNeedsScope,
    }),
  ],
});

/** Section 9.7.13.15.16. */
const mbarrierTryWait = instruction("mbarrier.try_wait", {
  summary: "waits for a limited time for a phase of an mbarrier, and tells whether it is complete",
  section: "9.7.13.15.16",
  forms: [
    form("mbarrier.try_wait{.sem}{.scope}{.ss}.b64 d, [addr], state{, suspendTimeHint}", {
      where: wait,
      operands: tryOperands,
      ...ampere,
      since: "7.8",
      target: "sm_90",
      gates: orderGates("acquire"),
      invalid: semNeedsScope,
    }),
    form("mbarrier.try_wait.parity{.sem}{.scope}{.ss}.b64 d, [addr], phaseParity{, suspendTimeHint}", {
      where: wait,
      operands: tryOperands,
      ...ampere,
      since: "7.8",
      target: "sm_90",
      gates: orderGates("acquire"),
      invalid: semNeedsScope,
    }),
  ],
});

/** Section 9.7.13.15.17. */
const mbarrierPendingCount = instruction("mbarrier.pending_count", {
  summary: "extracts the number of pending arrivals from an mbarrier's state",
  section: "9.7.13.15.17",
  forms: [
    form("mbarrier.pending_count.b64 d, state", {
      operands: { d: "u32", state: "reg b64" },
      since: "7.0",
      target: "sm_80",
      unimplemented,
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
