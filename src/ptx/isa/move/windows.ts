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

/** Gates of the single spaces, for which `cvta` and `isspacep` agree. */
export const spaceGates = {
  const: { since: "3.1" },
  param: { since: "7.7", target: "sm_70" },
  "param::entry": { since: "8.3", target: "sm_70" },
  "shared::cta": { since: "7.8", target: "sm_30" },
  "shared::cluster": { since: "7.8", target: "sm_90" },
} as const;

/**
 * What is added to an address within the shared, local, constant or parameter space to make it generic: one number for all
 * of them, as their addresses do not overlap (machine/address-space.ts). It is 0 with 32-bit addresses.
 */
const window: Expr = { kind: "special", ty: "i64", name: "window" };

/** The offset between an address in `space` and its generic form. */
export const windowOf = (k: Kit, space: Space): Expr => (space === "global" ? k.i64(0n) : window);

const ranges: Readonly<Record<"const" | "local" | "shared" | "param", readonly [bigint, bigint]>> = {
  shared: [0x0100_0000n, 0x2000_0000n],
  local: [0x2000_0000n, 0x3000_0000n],
  const: [0x3000_0000n, 0x4000_0000n],
  param: [0x4000_0000n, 0x5000_0000n],
};

const within = (k: Kit, a: Expr, start: Expr, size: bigint): Expr => k.lt(k.sub(a, start), k.i64(size), false);

const inRange = (k: Kit, a: Expr, space: keyof typeof ranges): Expr => {
  const [start, end] = ranges[space];
  return within(k, a, k.add(window, k.i64(start)), end - start);
};

/** Whether a generic address (`i64`) lies in the window of a space. */
export function isInSpace(k: Kit, a: Expr, space: Space): Expr {
  if (space === "global") {
    // Global memory is the 4 GiB before the windows, or with 32-bit addresses the upper 2 GiB of all.
    const narrow = k.eq(window, k.i64(0n));
    const start = k.select(narrow, k.i64(0x8000_0000n), k.sub(window, k.i64(0x10_0000_0000n)));
    // The window of kernel parameters counts as global (9.7.9.19).
    return k.or(within(k, a, start, 1n << 32n), inRange(k, a, "param"));
  }
  if (space === "shared::cta" || space === "shared::cluster") return inRange(k, a, "shared");
  return inRange(k, a, space === "param::entry" ? "param" : space);
}
