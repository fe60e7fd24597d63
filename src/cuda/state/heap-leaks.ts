import type { DeviceMemory } from "../../machine/memory/memory.ts";
import { demangle } from "../../names/index.ts";

/** What device code has allocated and nobody has freed: a line for each kernel. */
export function heapLeaks(memory: DeviceMemory): readonly string[] {
  const byKernel = new Map<string, number>();
  for (const [offset, bytes] of memory.heap.entries()) {
    const kernel = memory.find(offset)?.origin?.kernel;
    if (kernel !== undefined) byKernel.set(kernel, (byKernel.get(kernel) ?? 0) + bytes);
  }
  return [...byKernel].map(([kernel, bytes]) => {
    const name = demangle(kernel)?.signature ?? kernel;
    return `${bytes} bytes that the kernel \`${name}\` has allocated by malloc are never freed`;
  });
}
