import { setFlagsFromString } from "node:v8";

/** By version, the flag of V8 by which a function runs eight times as long as usual before it is optimized. */
const flags: Readonly<Record<number, string>> = {
  11: "--interrupt-budget=540672",
  12: "--invocation-count-for-turbofan=24000",
};

/**
 * The flag of this process's V8 that delays optimizing: in Node 20 and 22. Null for later versions, which have a
 * quicker compiler for all but the hottest functions, and gain little.
 */
export const delayingFlag = (): string | null => flags[Number.parseInt(process.versions.v8, 10)] ?? null;

/**
 * Makes V8 optimize Lanewise's own functions later, in a process that ends soon. Optimizing them keeps other threads
 * busy for as long as all else takes the main one, which ends before that gains anything; where no core is idle, it is
 * held up instead.
 */
export function delayOptimization(): void {
  const flag = delayingFlag();
  if (flag !== null) setFlagsFromString(flag);
}
