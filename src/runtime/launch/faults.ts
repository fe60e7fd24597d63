import type { Report } from "../../machine/reports/report.ts";

/** What sanitizers report of launches that go on. All other errors are faults, which end a launch. */
const findings: ReadonlySet<string> = new Set([
  "divergent-uni",
  "noreturn-returned",
  "stack-imbalance",
  "uninitialized-read",
  "memory-leak",
  "async-in-flight",
  "data-race",
  "mbarrier-fence-missing",
  "proxy-fence-missing",
  "wgmma-missing-fence",
  "barrier-divergence",
  "shfl-inactive-source",
  "sync-mask-excludes-self",
  "division-by-zero",
  "operand-out-of-range",
  "register-out-of-bounds",
]);

/** Whether a report is of a fault, which has ended its launch. */
export const isFault = ({ code, severity }: Report): boolean => severity === "error" && !findings.has(code);
