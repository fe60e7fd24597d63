import type { LaunchRequest } from "../../machine/launch.ts";
import type { CompiledKernel } from "../abi/compiled-kernel.ts";
import type { HostImport } from "../abi/host-imports.ts";

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
 * Whether launches that come to their end in one thread of the host change memory as they would again: by themselves,
 * and their blocks in an order that does not depend on time, unless they ask for the host's clock.
 */
export const isRepeatable = ({ mayGiveUp, waits, imports }: CompiledKernel): boolean =>
  !mayGiveUp && !waits && !unrepeatable.some((name) => imports.includes(name));
