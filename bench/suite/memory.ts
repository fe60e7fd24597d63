import { readFileSync, writeFileSync } from "node:fs";

/** Where the kernel of Linux keeps how much memory this process has taken at most, and where one has it begin anew. */
const status = "/proc/self/status";

const clear = { file: "/proc/self/clear_refs", peak: "5" };

/** The memory that this process takes besides given data: the most at any time, as Linux counts it. */
export class HostMemory {
  /** Bytes; null where nobody counts them. */
  most: number | null = null;

  /**
   * `data`: bytes that are in memory in any case while something runs; those that come or go meanwhile are not among
   * them.
   */
  during<T>(data: number, run: () => T): T {
    const counts = beginAnew();
    const value = run();
    const peak = counts ? peakBytes() : null;
    if (peak !== null) this.most = Math.max(this.most ?? 0, peak - data);
    return value;
  }
}

function beginAnew(): boolean {
  try {
    writeFileSync(clear.file, clear.peak);
    return true;
  } catch {
    return false;
  }
}

function peakBytes(): number | null {
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(status, "utf8"))?.[1];
  return kilobytes === undefined ? null : 1024 * Number(kilobytes);
}
