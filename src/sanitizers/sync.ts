import type { LaneEvent, Observer } from "../machine/events.ts";

/** Misuse of barriers and of warp-wide operations. */
export const syncSanitizer: Observer = {
  barrier: (e) => {
    if (!e.aligned || e.converged) return;
    report(
      e,
      "barrier-divergence",
      `an aligned barrier is executed by lanes ${hex(e.mask)}, and other lanes of the warp (${hex(e.warp.live & ~e.mask)}) ` +
        "have come to another barrier instruction",
      "move the barrier out of the divergent code, or use barrier.sync without .aligned",
    );
  },
  warp: (e) => {
    const outside = e.mask & ~e.named;
    if (outside !== 0) {
      const message = `the member mask ${hex(e.named)} leaves out lanes that execute the instruction: ${hex(outside)}`;
      report({ ...e, mask: outside }, "sync-mask-excludes-self", message);
    }
    if (e.sources === null) return;
    let lanes = 0;
    let example = "";
    for (let m = e.mask; m !== 0; m &= m - 1) {
      const lane = 31 - Math.clz32(m & -m);
      const source = e.sources[lane]!;
      if (((e.mask >>> source) & 1) !== 0) continue;
      if (lanes === 0) example = `lane ${lane} reads from lane ${source}`;
      lanes |= 1 << lane;
    }
    if (lanes === 0) return;
    const message = `${example}, which does not execute the instruction; lanes ${hex(e.mask)} do`;
    report({ ...e, mask: lanes }, "shfl-inactive-source", message);
  },
};

const hex = (mask: number): string => `0x${(mask >>> 0).toString(16).padStart(8, "0")}`;

function report(e: LaneEvent, code: string, message: string, help?: string): void {
  const { warp, site, activation, mask } = e;
  warp.cta.grid.reports.add({ code, severity: "error", message, help, site, activation, lanes: mask });
}
