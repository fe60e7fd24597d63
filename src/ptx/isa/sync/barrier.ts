import type { Op } from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";
import { form, instruction } from "../define.ts";

type Barrier = Extract<Op, { kind: "barrier" }>;
interface Operands {
  readonly a: Expr;
  readonly b?: Expr;
}

const barrierOf = (
  mode: Barrier["mode"],
  aligned: boolean,
  { a, b }: Operands,
  reduce: Barrier["reduce"] = null,
): Op => ({ kind: "barrier", mode, id: a, count: b ?? null, aligned, reduce });

/** The counts that a barrier can wait for: multiples of the warp size, up to the 1024 threads that a CTA can have. */
const counts = Array.from({ length: 33 }, (_, warps) => warps * 32).join("|");
const operands = { a: "u32 0..15", b: `u32 ${counts}`, c: "pred" };
/** Whoever arrives does not wait, so that the barrier must know for how many. */
const arriving = { ...operands, b: `u32 ${counts.slice("0|".length)}` };
const cta = { since: "7.8" };
const registerOperands = { since: "2.0", target: "sm_20" } as const;

/** Section 9.7.13.1: the older name of `barrier.aligned`. */
export const bar = instruction("bar", {
  summary: "waits for the threads of the block, which must all execute the same barrier",
  section: "9.7.13.1",
  forms: [
    form("bar{.cta}.sync a", {
      operands: { a: "imm u32 0..15" },
      since: "1.0",
      gates: { cta },
      effect: (_, src) => barrierOf("sync", true, src),
    }),
    form("bar{.cta}.sync a{, b}", {
      operands,
      ...registerOperands,
      gates: { cta },
      effect: (_, src) => barrierOf("sync", true, src),
    }),
    form("bar{.cta}.arrive a, b", {
      operands: arriving,
      ...registerOperands,
      gates: { cta },
      effect: (_, src) => barrierOf("arrive", true, src),
    }),
    form("bar{.cta}.red.popc.u32 d, a{, b}, {!}c", {
      operands,
      ...registerOperands,
      gates: { cta },
      effect: (_, src) => barrierOf("red", true, src, { op: "popc", a: src.c }),
    }),
    form("bar{.cta}.red.op.pred p, a{, b}, {!}c", {
      where: { op: ["and", "or"] },
      operands,
      ...registerOperands,
      gates: { cta },
      effect: (_, src, { op }) => barrierOf("red", true, src, { op, a: src.c }),
    }),
  ],
});

/** Section 9.7.13.1. */
export const barrier = instruction("barrier", {
  summary: "waits for the threads of the block",
  section: "9.7.13.1",
  forms: [
    form("barrier{.cta}.sync{.aligned} a{, b}", {
      operands,
      anyOrder: true,
      since: "6.0",
      target: "sm_30",
      gates: { cta },
      effect: (_, src, { aligned }) => barrierOf("sync", aligned, src),
    }),
    form("barrier{.cta}.arrive{.aligned} a, b", {
      operands: arriving,
      anyOrder: true,
      since: "6.0",
      target: "sm_30",
      gates: { cta },
      effect: (_, src, { aligned }) => barrierOf("arrive", aligned, src),
    }),
    form("barrier{.cta}.red.popc{.aligned}.u32 d, a{, b}, {!}c", {
      operands,
      anyOrder: true,
      since: "6.0",
      target: "sm_30",
      gates: { cta },
      effect: (_, src, { aligned }) => barrierOf("red", aligned, src, { op: "popc", a: src.c }),
    }),
    form("barrier{.cta}.red.op{.aligned}.pred p, a{, b}, {!}c", {
      where: { op: ["and", "or"] },
      operands,
      anyOrder: true,
      since: "6.0",
      target: "sm_30",
      gates: { cta },
      effect: (_, src, { aligned, op }) => barrierOf("red", aligned, src, { op, a: src.c }),
    }),
  ],
});

/** Section 9.7.13.3. */
export const barrierCluster = instruction("barrier.cluster", {
  summary: "waits for the threads of the cluster",
  section: "9.7.13.3",
  forms: [
    form("barrier.cluster.arrive{.sem}{.aligned}", {
      where: { sem: ["release", "relaxed"] },
      anyOrder: true,
      since: "7.8",
      target: "sm_90",
      gates: { release: { since: "8.0" }, relaxed: { since: "8.0" } },
      effect: (_k, _src, { sem = "release", aligned }) => ({
        kind: "cluster-barrier",
        mode: "arrive",
        aligned,
        order: sem,
      }),
    }),
    form("barrier.cluster.wait{.acquire}{.aligned}", {
      anyOrder: true,
      since: "7.8",
      target: "sm_90",
      gates: { acquire: { since: "8.0" } },
      effect: (_k, _src, { aligned }) => ({ kind: "cluster-barrier", mode: "wait", aligned, order: "acquire" }),
    }),
  ],
});
