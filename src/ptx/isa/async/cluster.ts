import { form, instruction } from "../define.ts";

const unimplemented = "clusters of blocks are not modelled yet";

/** Section 9.7.13.13. */
const griddepcontrol = instruction("griddepcontrol", {
  summary: "lets dependent grids start, or waits for the grids that this one depends on",
  section: "9.7.13.13",
  forms: [
    form("griddepcontrol.action", {
      where: { action: ["launch_dependents", "wait"] },
      since: "7.8",
      target: "sm_90",
      note: "grids run one at a time here, so there is nothing to start or to wait for",
      effect: () => ({ kind: "nothing" }),
    }),
  ],
});

const blackwell = { since: "8.6", target: "sm_100", unimplemented } as const;

/** Section 9.7.13.17. */
const clusterlaunchcontrolTryCancel = instruction("clusterlaunchcontrol.try_cancel", {
  summary: "requests to cancel the launch of a cluster that has not started, in order to take over its work",
  section: "9.7.13.17",
  forms: [
    form(
      "clusterlaunchcontrol.try_cancel.async{.space}.mbarrier::complete_tx::bytes{.multicast::cluster::all}.b128 [addr], [mbar]",
      {
        where: { space: ["shared::cta"] },
        operands: { addr: "address shared", mbar: "address shared" },
        ...blackwell,
        gates: { "multicast::cluster::all": { target: ["sm_100f", "sm_110f", "sm_120f"] } },
      },
    ),
  ],
});

/** Section 9.7.13.18. */
const clusterlaunchcontrolQueryCancel = instruction("clusterlaunchcontrol.query_cancel", {
  summary: "decodes the response of clusterlaunchcontrol.try_cancel",
  section: "9.7.13.18",
  forms: [
    form("clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, a", {
      operands: { p: "pred", a: "reg b128" },
      ...blackwell,
    }),
    form("clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 d, a", {
      operands: { d: "b32[4]", a: "reg b128" },
      ...blackwell,
    }),
    form("clusterlaunchcontrol.query_cancel.dimension.b32.b128 d, a", {
      where: { dimension: ["get_first_ctaid::x", "get_first_ctaid::y", "get_first_ctaid::z"] },
      operands: { d: "b32", a: "reg b128" },
      ...blackwell,
    }),
  ],
});

export const clusterInstructions = [griddepcontrol, clusterlaunchcontrolTryCancel, clusterlaunchcontrolQueryCancel];
