import type { WarpOp } from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";
import type { KnownLanes } from "../analysis/values/known-lanes.ts";
import { sourceOf } from "../lanes/shuffle.ts";

type Shuffle = Extract<WarpOp, { op: "shfl" }>;

/**
 * Whether it is known which lanes each lane of a warp names at an operation, and these are groups of which every lane
 * names its own, as in tiles of cooperative groups, which name `0xffff << (laneid & 16)`.
 */
export const areInGroups = (mask: Expr | null, known: KnownLanes): boolean => groupsOf(mask, known) !== null;

/** By lane, the lanes of its group. */
function groupsOf(mask: Expr | null, { values }: KnownLanes): readonly number[] | null {
  const masks = mask?.kind === "reg" ? values.get(mask.reg) : undefined;
  return masks?.length === 32 && areGroups(masks) ? masks : null;
}

/** Whether a shuffle does for all lanes at once what it does group by group: no lane takes a value from another one. */
export function keepsToOwnGroup(shuffle: Shuffle, mask: Expr, known: KnownLanes): boolean {
  const masks = groupsOf(mask, known);
  return masks?.every((own, lane) => namesSources(shuffle, known, own, lane)) ?? false;
}

/** Of how many lanes the groups are if they are tiles: all of one size, of lanes beside each other. Null for others. */
export function tileSizeOf(mask: Expr, known: KnownLanes): number | null {
  const masks = groupsOf(mask, known);
  const size = masks === null ? 0 : 32 - Math.clz32(masks[0]!);
  const isTiled = size > 0 && (size & (size - 1)) === 0 && size < 32;
  const tile = 2 ** size - 1;
  return isTiled && masks!.every((own, lane) => own === (tile << (lane & -size)) >>> 0) ? size : null;
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
