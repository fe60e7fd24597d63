import { clusterWindows } from "../../../ir/index.ts";
import type { Expr, Kit } from "../../../semantics/index.ts";
import { form, instruction } from "../define.ts";
import { clusterRank, rankWindow } from "./windows.ts";

const type = ["u32", "u64"] as const;
const gate = { since: "7.8", target: "sm_90" } as const;

const low = (k: Kit, a: Expr): Expr => (a.ty === "i64" ? k.wrap(a) : a);

/** The address in the window of rank `b`, with the upper half of `a`. Ranks beyond all clusters have one window. */
export function addressInRank(k: Kit, a: Expr, b: Expr): Expr {
  const { ranks, stride, maxRank } = clusterWindows;
  const bits = Math.log2(stride);
  const rank = k.select(k.lt(b, k.i32(maxRank), false), b, k.i32(maxRank));
  const window = k.add(k.i32(ranks), k.shl(rank, k.i32(bits)));
  // The offset in the window is signed: all windows begin as far after a multiple of the stride.
  const lower = k.add(window, k.field(k.sub(low(k, a), k.i32(ranks % stride)), 0, bits, true));
  return a.ty === "i64" ? k.pair(lower, k.high(a)) : lower;
}

/** Section 9.7.9.23. */
export const mapa = instruction("mapa", {
  summary: "maps an address of shared memory to another block of the cluster",
  section: "9.7.9.23",
  forms: [
    form("mapa.shared::cluster.type d, a, b", {
      where: { type },
      ...gate,
      operands: { b: "u32" },
      sem: (k, { a, b }) => addressInRank(k, a, b),
    }),
    form("mapa.type d, a, b", {
      where: { type },
      ...gate,
      operands: { a: "reg type", b: "u32" },
      sem: (k, { a, b }) => addressInRank(k, a, b),
    }),
  ],
});

/** The rank of the block whose shared memory an address means: in no window of a rank it is the block's own. */
const rankOf = (k: Kit, a: Expr): Expr => {
  const rank = rankWindow(k, low(k, a));
  return k.select(k.lt(rank, k.i32(clusterWindows.maxRank + 1), false), rank, clusterRank);
};

/** Section 9.7.9.24. */
export const getctarank = instruction("getctarank", {
  summary: "returns the rank in the cluster of the block that an address of shared memory belongs to",
  section: "9.7.9.24",
  forms: [
    form("getctarank.shared::cluster.type d, a", {
      where: { type },
      ...gate,
      operands: { d: "u32" },
      sem: (k, { a }) => rankOf(k, a),
    }),
    form("getctarank.type d, a", {
      where: { type },
      ...gate,
      operands: { d: "u32", a: "reg type" },
      sem: (k, { a }) => rankOf(k, a),
    }),
  ],
});
