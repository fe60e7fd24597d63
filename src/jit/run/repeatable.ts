import type { LaunchRequest } from "../../machine/launch.ts";
import type { CompiledKernel } from "../abi/compiled-kernel.ts";
import type { HostImport } from "../abi/host-imports.ts";
import type { JitResult } from "./launch-execution.ts";

/** A launch of whose reports nobody learns before its end. */
export function withoutReports({ onReport: _, ...request }: LaunchRequest): LaunchRequest {
  return request;
}

/** A launch of which nobody learns anything. */
export function quietly({
  onOutput: _,
  onReport: __,
  onProgress: ___,
  onDeviceWork: ____,
  ...request
}: LaunchRequest): LaunchRequest {
  return request;
}

/** Functions of the host that do more than change memory, or do not do the same again. */
const unrepeatable: readonly HostImport[] = ["external"];

/**
 * Whether a launch that has been run has changed memory as it would again: by itself, in one thread of the host, and
 * its blocks in an order that does not depend on time.
 */
export function isRepeatable(
  { mayGiveUp, waits, imports }: CompiledKernel,
  request: LaunchRequest,
  result: JitResult,
): boolean {
  if (!result.ok || result.hostThreads > 1 || mayGiveUp || waits || request.hostClock === true) return false;
  return !unrepeatable.some((name) => imports.includes(name));
}
