import { clusterWindows, genericBases, windows } from "../../../ir/index.ts";
import type { Expr, Kit } from "../../../semantics/index.ts";

/** The state spaces of `cvta` and `isspacep`. */
export const spaces = [
  "const",
  "global",
  "local",
  "shared",
  "shared::cta",
  "shared::cluster",
  "param",
  "param::entry",
] as const;
export type Space = (typeof spaces)[number];

/** The gates of single state spaces, which `cvta` and `isspacep` share. */
export const spaceGates = {
  const: { since: "3.1" },
  param: { since: "7.7", target: "sm_70" },
  "param::entry": { since: "8.3", target: "sm_70" },
  "shared::cta": { since: "7.8", target: "sm_30" },
  "shared::cluster": { since: "7.8", target: "sm_90" },
} as const;

/**
 * The number to add to an address in the shared, local, constant or parameter space to make it generic. It is the same
 * for all of them, because their addresses do not overlap, and 0 with 32-bit addresses.
 */
export const window: Expr = { kind: "special", ty: "i64", name: "window" };

/** `%cluster_ctarank` and `%cluster_nctarank`. */
export const clusterRank: Expr = { kind: "special", ty: "i32", name: "cluster_ctarank" };
export const clusterRanks: Expr = { kind: "special", ty: "i32", name: "cluster_nctarank" };

const within = (k: Kit, a: Expr, start: Expr, size: number): Expr => k.lt(k.sub(a, start), k.int(a, size), false);

const inWindow = (k: Kit, a: Expr, name: "const" | "local" | "shared" | "kernel-param"): Expr => {
  const { from, end } = windows[name];
  return within(k, a, k.add(window, k.int(window, from)), end - from);
};

/**
 * The rank whose window an address of the shared space (`i32`) is in: more than the maximum, unsigned, if it is in
 * none.
 */
export function rankWindow(k: Kit, a: Expr): Expr {
  const { ranks, stride } = clusterWindows;
  return k.shr(k.sub(a, k.i32(ranks - stride / 2)), k.i32(Math.log2(stride)), false);
}

/** Whether a generic address is that of shared memory: of the block itself, or (`cluster`) of any block. */
function isShared(k: Kit, a: Expr, cluster: boolean): Expr {
  const { ranks, stride } = clusterWindows;
  const own = within(
    k,
    a,
    k.add(window, k.int(window, windows.shared.start - stride / 2)),
    ranks - windows.shared.start,
  );
  const isWindow = k.eq(k.high(k.sub(a, window)), k.i32(0));
  const rank = rankWindow(k, k.wrap(k.sub(a, window)));
  const isRank = cluster ? k.lt(rank, clusterRanks, false) : k.eq(rank, clusterRank);
  return k.or(own, k.op("pred.and", isWindow, isRank));
}

/**
 * Whether a generic address (`i64`) is in the window of a state space. `sm`: the target; older ones have no clusters.
 */
export function isInSpace(k: Kit, a: Expr, space: Space, sm: number): Expr {
  switch (space) {
    case "global": {
      const narrow = k.eq(window, k.i64(genericBases[32].window));
      const start = k.select(narrow, k.i64(genericBases[32].global), k.i64(genericBases[64].global));
      // Global memory is at most 4 GiB. The window of kernel parameters is part of it (9.7.9.19).
      return k.or(within(k, a, start, 2 ** 32), inWindow(k, a, "kernel-param"));
    }
    case "shared":
    case "shared::cta":
    case "shared::cluster":
      return sm < 90 ? inWindow(k, a, "shared") : isShared(k, a, space === "shared::cluster");
    case "param":
    case "param::entry":
      return inWindow(k, a, "kernel-param");
    default:
      return inWindow(k, a, space);
  }
}
