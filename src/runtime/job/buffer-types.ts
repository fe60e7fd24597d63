import { displayName } from "../../names/index.ts";
import { elementInfo } from "../data/element.ts";
import { UsageError } from "../data/errors.ts";
import { bufferMisfit } from "../data/parameter-type.ts";
import type { Kernel } from "../device/module.ts";
import type { Job, LaunchSpec } from "./job.ts";

/**
 * Checks that the buffers of a launch hold what the kernel's parameters point to, where its name says that.
 *
 * @throws UsageError that names the first one that does not, and what to give instead
 */
export function checkBufferTypes(kernel: Kernel, { args }: LaunchSpec, { buffers }: Job): void {
  const types = kernel.parameterTypes;
  if (types === null) return;
  args.forEach((arg, i) => {
    const type = types[i];
    if (arg.kind !== "buffer" || type === undefined) return;
    const { type: given, n } = buffers.get(arg.buffer)!;
    const problem = bufferMisfit(given, type);
    if (problem === null) return;
    const { element } = type;
    const bytes = n * elementInfo[given].size;
    throw new UsageError(
      `argument ${i} of ${displayName(kernel.name)}: ${problem}; give ${element}[${n}], or ${element}@FILE to convert a file, or u8[${bytes}] for bytes as they are`,
    );
  });
}
