import type { Instruction, WarpOp } from "../../../ir/index.ts";
import type { KnownLanes } from "../analysis/values/known-lanes.ts";
import { sourceOf } from "../lanes/shuffle.ts";

type Shuffle = Extract<WarpOp, { op: "shfl" }>;

/**
 * Whether an operation of a warp does for all lanes at once what it does group by group: it is known which lanes each
 * lane names, these are groups of which every lane names its own, and no lane takes a value from another group. So it
 * is with shuffles in tiles of cooperative groups, which name `0xffff << (laneid & 16)`.
 */
export function keepsToOwnGroup({ op }: Instruction, known: KnownLanes): boolean {
  if (op.kind !== "warp" || op.mask?.kind !== "reg" || (op.warp.op !== "shfl" && op.warp.op !== "sync")) return false;
  const masks = known.values.get(op.mask.reg);
  if (masks?.length !== 32 || !areGroups(masks)) return false;
  return op.warp.op === "sync" || masks.every((mask, lane) => namesSources(op.warp as Shuffle, known, mask, lane));
}

const names = (mask: number, lane: number): boolean => ((mask >>> lane) & 1) === 1;

const areGroups = (masks: readonly number[]): boolean =>
  masks.every((mask, lane) => names(mask, lane) && masks.every((other, of) => !names(mask, of) || other === mask));

/** Whether a lane names all lanes from which it may take a value (PTX manual, section 9.7.9.6). */
function namesSources({ operands: [, b, c], mode }: Shuffle, known: KnownLanes, mask: number, lane: number): boolean {
  if (c.kind !== "const") return false;
  const range = c.value as number;
  const counts = b.kind === "reg" ? known.values.get(b.reg) : undefined;
  const count = b.kind === "const" ? (b.value as number) : counts?.[lane];
  if (count !== undefined) return names(mask, sourceOf(mode, lane, count, range).lane);
  // The others stay within their segment, wherever they begin.
  if (mode === "bfly") return false;
  const segment = (range >> 8) & 31;
  return Array.from({ length: 32 }, (_, of) => of).every((of) => ((of ^ lane) & segment) !== 0 || names(mask, of));
}
