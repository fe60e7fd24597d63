import { type FunctionWriter, limits, type Wasm, wasm } from "../../../wasm/index.ts";
import type { Item, Layout, Scope } from "../analysis/flow/block-layout.ts";

/** Whether something may branch to the item from before it, or into it. */
export function isTarget({ targets }: Layout, { start, end }: Item): boolean {
  for (let b = start; b <= end; b++) if (targets.has(b)) return true;
  return false;
}

/**
 * A scope that may be entered in its middle begins with the way there. `entry`: the block; 0 for the scope's beginning.
 * `labelled`: the items that have labels.
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
  const ways = inside.flatMap((target) => {
    const item = labelled.find((i) => target >= i.start && target <= i.end);
    return item === undefined ? [] : [{ target, label: scope.labels.get(item.start)! }];
  });
  const lowest = inside.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const highest = inside.reduce((a, b) => Math.max(a, b), 0);
  const count = highest - lowest + 1;
  if (ways.length < 3 || count > Math.min(4 * ways.length + 17, limits.brTableLabels)) {
    for (const { target, label } of ways) {
      writer.value(wasm.op("i32.eq", entry, wasm.i32(target)));
      writer.brIf(label);
    }
    return;
  }
  // The end of this block is where the scope begins.
  const begin = writer.begin("block");
  const labels = Array.from({ length: count }, () => begin);
  for (const { target, label } of ways) labels[target - lowest] = label;
  writer.value(wasm.op("i32.sub", entry, wasm.i32(lowest)));
  writer.brTable(labels, begin);
  writer.end();
}
