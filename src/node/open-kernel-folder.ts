import { join } from "node:path";
import type { KernelStore } from "../jit/abi/kernel-store.ts";
import { buildId } from "./build-id.ts";
import { cacheFolder } from "./cache-folder.ts";
import { keepLibraryCode } from "./keep-library-code.ts";
import { hostPages } from "./host-pages.ts";
import { KernelFolder } from "./kernel-folder.ts";
import { version } from "./version.ts";

/** The default size of a folder in bytes: 64 MiB. */
const defaultBytes = 2 ** 26;

/** Lanewise's own code may take this share of what kernels may: by default five times what one version of Node has. */
const shareOfCode = 1 / 4;

/**
 * Opens a folder in which compiled kernels are kept for other processes of the user.
 *
 *     const device = new Device({ engine: "jit", kernelStore: openKernelFolder() });
 *
 * In Node, Lanewise's own code is kept there too, as V8 has compiled it, which takes a third off the time that a
 * process needs to load a module and launch a kernel for the first time: open the folder before. Writing it takes the
 * first process some 20 ms at its end.
 *
 * `path` is the folder; it is created when something is first written. Default: `cacheFolder()`. `mostBytes` is the
 * size that the compiled kernels may reach, in bytes; beyond it the least recently used ones are removed. Default: 64
 * MiB. The code may take a quarter of it besides. A folder to which other users can write is not used, as it holds code
 * that will run: `onRefused` is called once, with the reason. Default: a warning of the process.
 *
 * Returns null if there is no folder (`LANEWISE_CACHE` is empty or "off") or if Lanewise runs from sources that have
 * not been built. Never throws: kernels that cannot be read or written are compiled again.
 */
export function openKernelFolder(
  options: { readonly path?: string; readonly mostBytes?: number; readonly onRefused?: (why: string) => void } = {},
): KernelStore | null {
  const path = options.path ?? cacheFolder();
  const build = buildId();
  if (path === null || build === null) return null;
  const {
    mostBytes = defaultBytes,
    onRefused = (why) => process.emitWarning(`compiled kernels are not kept: ${why}`),
  } = options;
  const owner = `${version()} ${build}`;
  // What is wrong with the folder is said where kernels are kept.
  keepLibraryCode(new KernelFolder(join(path, "code"), owner, mostBytes * shareOfCode));
  return new KernelFolder(join(path, "kernels"), owner, mostBytes, onRefused, hostPages());
}
