import { form, instruction } from "../define.ts";
import { unimplemented } from "./mma.ts";

const spaces = ["shared", "shared::cta"] as const;
const counts = ["x1", "x2", "x4"] as const;
const window = { "shared::cta": { since: "7.8" } };
const blackwell = { since: "8.6", target: ["sm_100f", "sm_101f", "sm_110f", "sm_120f"] } as const;

/** The registers of `num` matrices of 16 by 16 bytes, two for each. */
const doubled = ({ num }: { readonly num: string }): string => `b32[${2 * Number(num.slice(1))}]`;

/** Section 9.7.14.5.15. */
export const ldmatrix = instruction("ldmatrix", {
  summary: "loads matrices from shared memory into the lanes of a warp",
  section: "9.7.14.5.15",
  forms: [
    form("ldmatrix.sync.aligned.m8n8.num{.trans}{.ss}.b16 d, [a]", {
      where: { num: counts, ss: spaces },
      operands: { d: ({ num }) => `b32[${num.slice(1)}]`, a: "address shared" },
      anyOrder: true,
      since: "6.5",
      target: "sm_75",
      gates: window,
      unimplemented,
    }),
    form("ldmatrix.sync.aligned.m16n16.num.trans{.ss}.b8 d, [a]", {
      where: { num: ["x1", "x2"], ss: spaces },
      operands: { d: doubled, a: "address shared" },
      anyOrder: true,
      ...blackwell,
      unimplemented,
    }),
    form("ldmatrix.sync.aligned.m8n16.num{.ss}.b8x16.src_fmt d, [a]", {
      where: { num: counts, ss: spaces, src_fmt: ["b6x16_p32", "b4x16_p64"] },
      operands: { d: ({ num }) => `b32[${num.slice(1)}]`, a: "address shared" },
      anyOrder: true,
      ...blackwell,
      unimplemented,
    }),
    form("ldmatrix.sync.aligned.m16n16.num.trans{.ss}.b8x16.src_fmt d, [a]", {
      where: { num: ["x1", "x2"], ss: spaces, src_fmt: ["b6x16_p32", "b4x16_p64"] },
      operands: { d: doubled, a: "address shared" },
      anyOrder: true,
      ...blackwell,
      unimplemented,
    }),
  ],
});

/** Section 9.7.14.5.16. */
export const stmatrix = instruction("stmatrix", {
  summary: "stores matrices from the lanes of a warp to shared memory",
  section: "9.7.14.5.16",
  forms: [
    form("stmatrix.sync.aligned.m8n8.num{.trans}{.ss}.b16 [a], r", {
      where: { num: counts, ss: spaces },
      operands: { r: ({ num }) => `b32[${num.slice(1)}]`, a: "address shared" },
      anyOrder: true,
      since: "7.8",
      target: "sm_90",
      unimplemented,
    }),
    form("stmatrix.sync.aligned.m16n8.num.trans{.ss}.b8 [a], r", {
      where: { num: counts, ss: spaces },
      operands: { r: ({ num }) => `b32[${num.slice(1)}]`, a: "address shared" },
      anyOrder: true,
      ...blackwell,
      unimplemented,
    }),
  ],
});

/** Section 9.7.14.5.17. */
export const movmatrix = instruction("movmatrix", {
  summary: "transposes a matrix held by the lanes of a warp",
  section: "9.7.14.5.17",
  forms: [
    form("movmatrix.sync.aligned.m8n8.trans.b16 d, a", {
      operands: { d: "b32", a: "reg b32" },
      since: "7.8",
      target: "sm_75",
      unimplemented,
    }),
  ],
});
