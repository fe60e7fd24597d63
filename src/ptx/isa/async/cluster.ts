import { atAddress, clusterWindows } from "../../../ir/index.ts";
import { type Expr, type Kit, kit } from "../../../semantics/index.ts";
import { form, instruction, nothing, type OperandAccess, type Step } from "../define.ts";
import { accessOf } from "../memory/access.ts";
import { addressInRank } from "../move/cluster.ts";
import { clusterRanks } from "../move/windows.ts";
import { transactionOf } from "./store.ts";

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
      effect: nothing,
    }),
  ],
});

const blackwell = { since: "8.6", target: "sm_100" } as const;

const responseBytes = 16;

/**
 * Writes a response, and signals its arrival. It says that nothing was cancelled: 16 bytes of zeros. In a response that
 * said otherwise the first word would be 1, and the others a block's number.
 */
function respond(addr: Expr, mbar: Expr, space: string | undefined): readonly Step[] {
  const access = accessOf({ type: "b64", vec: "v2", ss: space });
  const zeros = [kit.i64(0n), kit.i64(0n)];
  return [
    { op: { kind: "store", access, place: atAddress(addr), values: zeros }, dst: [] },
    transactionOf(mbar, space, responseBytes),
  ];
}

/** Responds to each block of the cluster. */
function respondToAll(k: Kit, addr: Expr, mbar: Expr, space: string | undefined): readonly Step[] {
  const shared = space === undefined ? undefined : "shared::cluster";
  return Array.from({ length: clusterWindows.maxRank }, (_, rank) => {
    const where = k.lt(k.i32(rank), clusterRanks, false);
    const steps = respond(addressInRank(k, addr, k.i32(rank)), addressInRank(k, mbar, k.i32(rank)), shared);
    return steps.map((step) => ({ ...step, where }));
  }).flat();
}

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
        note: "all blocks of a grid run here: no launch is cancelled, and every request fails",
        effect: (k, { addr, mbar }, m) =>
          m["multicast::cluster::all"] ? respondToAll(k, addr, mbar, m.space) : respond(addr, mbar, m.space),
        gates: { "multicast::cluster::all": { target: ["sm_100f", "sm_110f", "sm_120f"] } },
      },
    ),
  ],
});

/** The words of a response. */
const words = (k: Kit, ops: OperandAccess): readonly Expr[] =>
  ops.vector("a").flatMap((half) => [k.wrap(half), k.high(half)]);

/** Section 9.7.13.18. */
const clusterlaunchcontrolQueryCancel = instruction("clusterlaunchcontrol.query_cancel", {
  summary: "decodes the response of clusterlaunchcontrol.try_cancel",
  section: "9.7.13.18",
  forms: [
    form("clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, a", {
      operands: { p: "pred", a: "reg b128" },
      ...blackwell,
      sem: (k, _, __, ops) => k.ne(k.and(words(k, ops)[0]!, k.i32(1)), k.i32(0)),
    }),
    form("clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 d, a", {
      operands: { d: "b32[4]", a: "reg b128" },
      ...blackwell,
      sem: (k, _, __, ops) => ({ d: [...words(k, ops).slice(1), k.i32(0)] }),
    }),
    form("clusterlaunchcontrol.query_cancel.dimension.b32.b128 d, a", {
      where: { dimension: ["get_first_ctaid::x", "get_first_ctaid::y", "get_first_ctaid::z"] },
      operands: { d: "b32", a: "reg b128" },
      ...blackwell,
      sem: (k, _, { dimension }, ops) => words(k, ops)["xyz".indexOf(dimension.at(-1)!) + 1]!,
    }),
  ],
});

export const clusterInstructions = [griddepcontrol, clusterlaunchcontrolTryCancel, clusterlaunchcontrolQueryCancel];
