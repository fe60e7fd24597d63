import { type FunctionWriter, limits, type Wasm, wasm } from "../../../wasm/index.ts";
import type { Item, Layout, Scope } from "../analysis/flow/block-layout.ts";

/** Whether anything may branch to an item from before it, or into its middle. */
export function isTarget({ targets }: Layout, { start, end }: Item): boolean {
  for (let b = start; b <= end; b++) if (targets.has(b)) return true;
  return false;
}

/**
 * Writes the dispatch at the beginning of a scope that may be entered in its middle. `entry`: the block to enter; 0 for
 * the beginning of the scope. `labelled`: the items that have labels.
 */
export function dispatch(
  writer: FunctionWriter,
  layout: Layout,
  entry: Wasm,
  scope: Scope,
  labelled: readonly Item[],
): void {
  const { entries, entersLoops, targets } = layout;
  const candidates = scope.around === null || !entersLoops ? entries : [...targets];
  const inside = candidates.filter((t) => t > scope.start && t <= scope.end);
  const jumps = inside.flatMap((target) => {
    const item = labelled.find((i) => target >= i.start && target <= i.end);
    return item === undefined ? [] : [{ target, label: scope.labels.get(item.start)! }];
  });
  const lowest = inside.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const highest = inside.reduce((a, b) => Math.max(a, b), 0);
  const count = highest - lowest + 1;
  if (jumps.length < 3 || count > Math.min(4 * jumps.length + 17, limits.brTableLabels)) {
    for (const { target, label } of jumps) {
      writer.value(wasm.op("i32.eq", entry, wasm.i32(target)));
      writer.brIf(label);
    }
    return;
  }
  // After the end of this block the scope begins.
  const begin = writer.begin("block");
  const labels = Array.from({ length: count }, () => begin);
  for (const { target, label } of jumps) labels[target - lowest] = label;
  writer.value(wasm.op("i32.sub", entry, wasm.i32(lowest)));
  writer.brTable(labels, begin);
  writer.end();
}
