import type { Expr } from "../../../semantics/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { AccessGroup } from "../analysis/access/access-groups.ts";
import { BlockInduction } from "../analysis/values/block-induction.ts";
import type { Chunk } from "../emit/chunk.ts";
import type { Mask } from "../lanes/mask.ts";
import { extended, low } from "../lanes/scalar.ts";
import { type ByteOffsets, BoundsCheck, type ExpectedObject } from "./bounds-check.ts";

/** The offsets of a group of accesses in the first round, and the step (i32) from round to round. */
interface MovingAccess {
  readonly target: ExpectedObject;
  readonly offsets: ByteOffsets;
  readonly step: Wasm;
}

/** Groups of accesses that need no check for `count` rounds (i32) of a loop. */
export interface HoistedLoopChecks {
  readonly groups: ReadonlyMap<AccessGroup, MovingAccess>;
  readonly count: Wasm;
}

/**
 * Hoists the checks of a loop of one block: those of accesses whose addresses grow by the same step in each round. Null
 * if there are none. `groups`: the groups of the block, with the first instruction of each.
 */
export function hoistLoopChecks(
  chunk: Chunk,
  start: number,
  end: number,
  active: Mask,
  groups: ReadonlyMap<AccessGroup, { readonly index: number; readonly target: ExpectedObject }>,
): HoistedLoopChecks | null {
  const { analysis } = chunk;
  const { ir, instructions } = analysis.code;
  const values = new BlockInduction(ir, instructions.slice(start, end));
  const bases = new Map<AccessGroup, Expr>();
  for (const [group, { index }] of groups) {
    const base = values.early(group.address.base, index - start);
    if (base !== null) bases.set(group, base);
  }
  const found = new Map<AccessGroup, MovingAccess>();
  const counts: Wasm[] = [];
  for (const [group, base] of bases) {
    const step = values.step(base);
    const by = step === null || analysis.shape(step).kind !== "uniform" ? null : chunk.value(step);
    if (by?.kind !== "uniform") continue;
    const { target } = groups.get(group)!;
    // Nothing can be made invariant any more: code at the start of the function has been written, so all is computed
    // here.
    const { once: _, ...object } = target.object;
    const check = new BoundsCheck(chunk, group.range, { ...target, object });
    const bytes = by.scalar.ty === "i64" ? by.scalar : extended(by.scalar, true);
    const first = chunk.value(base);
    const rounds = check.rounds(first, active, bytes);
    if (rounds === null) continue;
    counts.push(rounds);
    found.set(group, { target, offsets: check.of(first, active).offsets, step: low(bytes) });
  }
  if (found.size === 0) return null;
  const least = (a: Wasm, b: Wasm): Wasm => wasm.select(wasm.op("i32.lt_u", a, b), a, b);
  return { groups: found, count: counts.reduce(least) };
}
