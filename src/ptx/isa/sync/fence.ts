import type { Op } from "../../../ir/index.ts";
import { form, instruction, nothing } from "../define.ts";
import { scopes } from "../memory/access.ts";

type Fence = Extract<Op, { kind: "fence" }>;
const fenceOf = (order: Fence["order"], scope: Fence["scope"]): Op => ({ kind: "fence", order, scope });

// Fences between proxies have no effect, because here all memory is accessed through one proxy.

const cluster = { since: "7.8", target: "sm_90" } as const;
const acquireRelease = { since: "8.6", target: "sm_90" } as const;

/** Section 9.7.13.4. */
export const fence = instruction("fence", {
  summary: "orders memory accesses",
  section: "9.7.13.4",
  forms: [
    form("fence{.sem}.scope", {
      where: { sem: ["sc", "acq_rel", "acquire", "release"], scope: scopes },
      anyOrder: true,
      since: "6.0",
      target: "sm_70",
      gates: { cluster, acquire: acquireRelease, release: acquireRelease },
      effect: (_k, _src, { sem = "acq_rel", scope }) => fenceOf(sem, scope),
    }),
    form("fence.acquire.sync_restrict::shared::cluster.cluster", {
      ...acquireRelease,
      effect: () => fenceOf("acquire", "cluster"),
    }),
    form("fence.release.sync_restrict::shared::cta.cluster", {
      ...acquireRelease,
      effect: () => fenceOf("release", "cluster"),
    }),
    form("fence.mbarrier_init.release.cluster", {
      since: "8.0",
      target: "sm_90",
      effect: () => fenceOf("release", "cluster"),
    }),
    form("fence.proxy.alias", { since: "7.5", target: "sm_70", effect: nothing }),
    form("fence.proxy.async{.space}", {
      where: { space: ["global", "shared::cta", "shared::cluster"] },
      since: "8.0",
      target: "sm_90",
      effect: () => ({ kind: "nothing", proxy: "async" }),
    }),
    form("fence.proxy.tensormap::generic.release.scope", {
      where: { scope: scopes },
      since: "8.3",
      target: "sm_90",
      effect: (_k, _src, { scope }) => fenceOf("release", scope),
    }),
    form("fence.proxy.tensormap::generic.acquire.scope [addr], size", {
      where: { scope: scopes },
      operands: { size: "imm u32 128..128" },
      since: "8.3",
      target: "sm_90",
      effect: (_k, _src, { scope }) => fenceOf("acquire", scope),
    }),
    form("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster", {
      ...acquireRelease,
      effect: () => fenceOf("acquire", "cluster"),
    }),
    form("fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster", {
      ...acquireRelease,
      effect: () => fenceOf("release", "cluster"),
    }),
  ],
});

const membarScope = { cta: "cta", gl: "gpu", sys: "sys" } as const;

/** Section 9.7.13.4: the older name of `fence.sc`. */
export const membar = instruction("membar", {
  summary: "orders memory accesses",
  section: "9.7.13.4",
  forms: [
    form("membar.level", {
      where: { level: ["cta", "gl", "sys"] },
      since: "1.4",
      gates: { sys: { since: "2.0", target: "sm_20" } },
      effect: (_k, _src, { level }) => fenceOf("sc", membarScope[level]),
    }),
    form("membar.proxy.alias", { since: "7.5", target: "sm_60", effect: nothing }),
  ],
});
