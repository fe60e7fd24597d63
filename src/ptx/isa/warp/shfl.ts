import { form, instruction } from "../define.ts";

const where = { mode: ["up", "down", "bfly", "idx"] } as const;
const operands = { b: "b32", c: "b32", p: "pred" };

/** Section 9.7.9.5. */
export const shfl = instruction("shfl", {
  summary: "exchanges values between the active lanes of a warp",
  section: "9.7.9.5",
  forms: [
    form("shfl.mode.b32 d{|p}, a, b, c", {
      where,
      operands,
      since: "3.0",
      target: "sm_30",
      until: "6.4",
      untilTarget: "sm_70",
      effect: (_, { a, b, c }, { mode }) => ({
        kind: "warp",
        mask: null,
        warp: { op: "shfl", mode, operands: [a, b, c] },
        aligned: false,
      }),
    }),
  ],
});

/** Section 9.7.9.6. */
export const shflSync = instruction("shfl.sync", {
  summary: "exchanges values between lanes of a warp",
  section: "9.7.9.6",
  forms: [
    form("shfl.sync.mode.b32 d{|p}, a, b, c, membermask", {
      where,
      operands: { ...operands, membermask: "u32" },
      anyOrder: true,
      since: "6.0",
      target: "sm_30",
      effect: (_, { a, b, c, membermask }, { mode }) => ({
        kind: "warp",
        mask: membermask,
        warp: { op: "shfl", mode, operands: [a, b, c] },
        aligned: false,
      }),
    }),
  ],
});
