import { axisOf, type LaunchRequest } from "../machine/launch.ts";
import type { Dim3, ThreadId } from "../machine/reports/report.ts";

/**
 * Finds threads by their numbers in the launch that was asked for, where compiled code runs them in other blocks. Null
 * where the blocks are those that were asked for.
 */
export function threadAsked({ asked, block: own }: LaunchRequest): ((thread: ThreadId) => ThreadId) | null {
  if (asked === undefined) return null;
  const along = axisOf(asked.placement);
  if (along !== null) {
    return ({ block: [x, y, z], thread }) => ({
      block: [x * own[along] + thread[along], y, z],
      thread: thread.map((n, i) => (i === along ? 0 : n)) as unknown as Dim3,
    });
  }
  return ({ block, thread }) => {
    const [x, y, z] = block.map((b, i) => b * own[i]! + thread[i]!) as unknown as Dim3;
    const index = asked.placement === "transposed" ? [y, x, z] : [x, y, z];
    const within = (of: (n: number, size: number) => number): Dim3 =>
      index.map((n, i) => of(n, asked.block[i]!)) as unknown as Dim3;
    return { block: within((n, size) => Math.floor(n / size)), thread: within((n, size) => n % size) };
  };
}
