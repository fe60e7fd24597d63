import { join } from "node:path";
import type { KernelStore } from "../jit/abi/kernel-store.ts";
import { buildId } from "./build-id.ts";
import { cacheFolder } from "./cache-folder.ts";
import { KernelFolder } from "./kernel-folder.ts";

export { cacheFolder } from "./cache-folder.ts";

/** Bytes of compiled kernels that are kept, if nothing else is said. */
const mostBytes = 2 ** 26;

/**
 * A folder in which compiled kernels are kept for other processes.
 *
 *     const device = new Device({ engine: "jit", kernelStore: openKernelFolder() });
 *
 * `path`: default: among the caches of the user, or what the environment's `LANEWISE_CACHE` says; `mostBytes`: those that were used
 * longest ago go when there are more. Null when there is to be none (`LANEWISE_CACHE` is empty or "off").
 */
export function openKernelFolder(
  options: { readonly path?: string; readonly mostBytes?: number } = {},
): KernelStore | null {
  const path = options.path ?? cacheFolder();
  const build = buildId();
  if (path === null || build === null) return null;
  return new KernelFolder(join(path, "kernels"), build, options.mostBytes ?? mostBytes);
}
