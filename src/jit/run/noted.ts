import type { IrFunction } from "../../ir/index.ts";

/** Returns what is noted for a kernel and a key, which is found when it is first asked for. */
export function noted<T>(notes: Map<IrFunction, Map<string, T>>, kernel: IrFunction, key: string, find: () => T): T {
  let ofKernel = notes.get(kernel);
  if (ofKernel === undefined) notes.set(kernel, (ofKernel = new Map()));
  let found = ofKernel.get(key);
  if (found === undefined) ofKernel.set(key, (found = find()));
  return found;
}
