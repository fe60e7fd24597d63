import type { Op, WarpOp } from "../../../ir/index.ts";
import type { Expr, Kit, Ty } from "../../../semantics/index.ts";
import { form, instruction } from "../define.ts";
import { extremum } from "../float/min-max.ts";

const warpOperation = (mask: Expr, warp: WarpOp): Op => ({ kind: "warp", mask, warp, aligned: false });

/** Section 9.7.13.2. */
export const barWarpSync = instruction("bar.warp.sync", {
  summary: "waits for lanes of the warp",
  section: "9.7.13.2",
  forms: [
    form("bar.warp.sync membermask", {
      operands: { membermask: "u32" },
      since: "6.0",
      target: "sm_30",
      effect: (_, { membermask }) => warpOperation(membermask, { op: "sync", operands: [] }),
    }),
  ],
});

/** Section 9.7.13.10. */
export const matchSync = instruction("match.sync", {
  summary: "finds the lanes of the warp that have the same value",
  section: "9.7.13.10",
  forms: [
    form("match.any.sync.type d, a, membermask", {
      where: { type: ["b32", "b64"] },
      operands: { d: "u32", membermask: "u32" },
      anyOrder: true,
      since: "6.0",
      target: "sm_70",
      effect: (_, { a, membermask }) => warpOperation(membermask, { op: "match", mode: "any", operands: [a] }),
    }),
    form("match.all.sync.type d{|p}, a, membermask", {
      where: { type: ["b32", "b64"] },
      operands: { d: "u32", p: "pred", membermask: "u32" },
      anyOrder: true,
      since: "6.0",
      target: "sm_70",
      effect: (_, { a, membermask }) => warpOperation(membermask, { op: "match", mode: "all", operands: [a] }),
    }),
  ],
});

/** An expression that combines the values of two lanes by `f`. */
const fold = (ty: Ty, f: (x: Expr, y: Expr) => Expr): Expr =>
  f({ kind: "old", ty, index: 0 }, { kind: "old", ty, index: 1 });

const arithmetic = {
  add: (k: Kit, x: Expr, y: Expr) => k.add(x, y),
  min: (k: Kit, x: Expr, y: Expr, signed: boolean) => k.min(x, y, signed),
  max: (k: Kit, x: Expr, y: Expr, signed: boolean) => k.max(x, y, signed),
} as const;

const family = ["sm_100a", "sm_100f"] as const;

/** Section 9.7.13.12. */
export const reduxSync = instruction("redux.sync", {
  summary: "reduces a value over lanes of the warp",
  section: "9.7.13.12",
  forms: [
    form("redux.sync.op.type d, a, membermask", {
      where: { op: ["add", "min", "max"], type: ["u32", "s32"] },
      operands: { membermask: "u32" },
      anyOrder: true,
      since: "7.0",
      target: "sm_80",
      effect: (k, { a, membermask }, { op, type }) =>
        warpOperation(membermask, {
          op: "redux",
          operands: [a],
          combine: fold("i32", (x, y) => arithmetic[op](k, x, y, type === "s32")),
        }),
    }),
    form("redux.sync.op.b32 d, a, membermask", {
      where: { op: ["and", "or", "xor"] },
      operands: { membermask: "u32" },
      anyOrder: true,
      since: "7.0",
      target: "sm_80",
      effect: (k, { a, membermask }, { op }) =>
        warpOperation(membermask, { op: "redux", operands: [a], combine: fold("i32", (x, y) => k[op](x, y)) }),
    }),
    form("redux.sync.op{.abs}{.NaN}.f32 d, a, membermask", {
      where: { op: ["min", "max"] },
      operands: { membermask: "u32" },
      anyOrder: true,
      since: "8.6",
      target: family,
      effect: (k, { a, membermask }, { op, abs, NaN: nan }) =>
        warpOperation(membermask, {
          op: "redux",
          operands: [abs ? k.op("f32.abs", a) : a],
          combine: fold("f32", (x, y) => extremum(k, op, nan, [x, y])),
        }),
    }),
  ],
});

/** Section 9.7.13.11. */
export const activemask = instruction("activemask", {
  summary: "returns the mask of the active lanes of the warp",
  section: "9.7.13.11",
  forms: [form("activemask.b32 d", { since: "6.2", target: "sm_30", effect: () => ({ kind: "activemask" }) })],
});

/** Section 9.7.13.14. */
export const electSync = instruction("elect.sync", {
  summary: "elects one of the lanes of a mask",
  section: "9.7.13.14",
  forms: [
    form("elect.sync d|p, membermask", {
      operands: { d: "u32", p: "pred", membermask: "u32" },
      since: "8.0",
      target: "sm_90",
      effect: (_, { membermask }) => warpOperation(membermask, { op: "elect", operands: [] }),
    }),
  ],
});
