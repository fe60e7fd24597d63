import { readFileSync, writeFileSync } from "node:fs";

/** The files in which Linux reports the peak memory of this process, and through which the peak is reset. */
const status = "/proc/self/status";

const clear = { file: "/proc/self/clear_refs", peak: "5" };

/** Measures the peak memory of this process in excess of given data, as Linux counts it. */
export class HostMemory {
  /** In bytes; null if the system does not report it. */
  most: number | null = null;

  /**
   * `data` is the size of what stays in memory throughout; anything allocated or freed meanwhile must not be part of
   * it.
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
