import { genericBases, windows } from "../../../ir/index.ts";
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

const within = (k: Kit, a: Expr, start: Expr, size: number): Expr => k.lt(k.sub(a, start), k.int(a, size), false);

const inWindow = (k: Kit, a: Expr, name: "const" | "local" | "shared" | "kernel-param"): Expr => {
  const { from, end } = windows[name];
  return within(k, a, k.add(window, k.int(window, from)), end - from);
};

/** Whether a generic address (`i64`) is in the window of a state space. */
export function isInSpace(k: Kit, a: Expr, space: Space): Expr {
  switch (space) {
    case "global": {
      const narrow = k.eq(window, k.i64(genericBases[32].window));
      const start = k.select(narrow, k.i64(genericBases[32].global), k.i64(genericBases[64].global));
      // Global memory is at most 4 GiB. The window of kernel parameters is part of it (9.7.9.19).
      return k.or(within(k, a, start, 2 ** 32), inWindow(k, a, "kernel-param"));
    }
    case "shared::cta":
    case "shared::cluster":
      return inWindow(k, a, "shared");
    case "param":
    case "param::entry":
      return inWindow(k, a, "kernel-param");
    default:
      return inWindow(k, a, space);
  }
}
