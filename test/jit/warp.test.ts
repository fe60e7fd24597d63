import { describe, expect, test } from "vitest";
import { type Case, expectSame, inWarps } from "./harness.ts";

const store = (...values: string[]): string => values.map((v, i) => `st.global.b32 [%out+${4 * i}], ${v};`).join("\n");
const flag = (p: string, r: string): string => `selp.b32 ${r}, 1, 0, ${p};`;
const mixed = "mul.lo.u32 %r0, %t, 0x9e3779b1; shr.u32 %r1, %r0, 16; xor.b32 %r0, %r0, %r1;";

const modes = ["up", "down", "bfly", "idx"] as const;
const clamps = { up: ["0", "0x1800", "0x1005"], down: ["31", "0x1807", "20"], bfly: ["31", "0x101f", "0x180b"] };
const shuffles: Case[] = modes.flatMap((mode) =>
  (mode === "idx" ? ["31", "0x181f", "0x100c"] : clamps[mode]).flatMap((c) =>
    ["1", "5", "16", "31", "uniform", "vector"].map((b) => ({
      name: `shfl.sync.${mode} by ${b}, ${c}`,
      body: `${mixed}
        mov.u32 %r2, ${b === "vector" ? "%r0" : b === "uniform" ? "%ctaid.x" : b};
        ${b === "uniform" ? "mad.lo.u32 %r2, %r2, 7, 3;" : ""}
        shfl.sync.${mode}.b32 %r3|%p0, %r0, %r2, ${c}, -1;
        ${flag("%p0", "%r4")} ${store("%r3", "%r4")} ret;`,
      block: [b === "5" ? 45 : 64, 1, 1] as const,
      grid: [3, 1, 1] as const,
    })),
  ),
);

const guarded: Case[] = modes.map((mode) => ({
  name: `shfl.${mode} in some lanes only`,
  body: `${mixed} mov.u32 %r3, -1; mov.u32 %r4, 5;
    setp.lt.u32 %p1, %t, 40; and.b32 %r5, %r0, 1; setp.eq.u32 %p2, %r5, 0;
    @!%p1 bra SKIP;
    activemask.b32 %r6;
    shfl.sync.${mode}.b32 %r3|%p0, %r0, 3, ${mode === "up" ? 0 : 31}, %r6; ${flag("%p0", "%r4")}
    SKIP: ${store("%r3", "%r4", "%r6")} ret;`,
  block: [72, 1, 1],
}));

const votes: Case[] = ["all", "any", "uni"].flatMap((mode) =>
  ["setp.lt.u32 %p0, %t, 70;", "setp.lt.u32 %p0, %t, 20;", "setp.eq.u32 %p0, %n, 80;"].map((p) => ({
    name: `vote.${mode} of ${p}`,
    body: `${p} vote.sync.${mode}.pred %p1, %p0, -1; vote.sync.${mode}.pred %p2, !%p0, -1;
      vote.sync.ballot.b32 %r2, %p0, -1;
      ${flag("%p1", "%r0")} ${flag("%p2", "%r1")} ${store("%r0", "%r1", "%r2")} ret;`,
    block: [80, 1, 1] as const,
  })),
);

const values32 = ["%t", "%r0", "7", "%ctaid.x"];
const matches: Case[] = values32.flatMap((v) => [
  {
    name: `match of ${v}`,
    body: `${mixed} and.b32 %r0, %r0, 3; mov.b32 %r5, ${v};
      match.any.sync.b32 %r1, %r5, -1; match.all.sync.b32 %r2|%p0, %r5, -1; ${flag("%p0", "%r3")}
      ${store("%r1", "%r2", "%r3")} ret;`,
    block: [48, 1, 1],
    grid: [2, 1, 1],
  },
  {
    name: `match of ${v}, 64 bits`,
    body: `${mixed} and.b32 %r0, %r0, 3; mov.b32 %r5, ${v}; mov.b64 %d0, {%r0, %r5};
      match.any.sync.b64 %r1, %d0, -1; match.all.sync.b64 %r2|%p0, %d0, -1; ${flag("%p0", "%r3")}
      ${store("%r1", "%r2", "%r3")} ret;`,
    block: [48, 1, 1],
    grid: [2, 1, 1],
  },
]);

const integers = ["add.u32", "add.s32", "min.u32", "max.u32", "min.s32", "max.s32", "and.b32", "or.b32", "xor.b32"];
const reductions: Case[] = [
  ...integers.map((op) => ({
    name: `redux.${op}`,
    body: `${mixed} redux.sync.${op} %r1, %r0, -1; mov.u32 %r2, 0; setp.lt.u32 %p0, %t, 37; @!%p0 bra SKIP;
      activemask.b32 %r3; redux.sync.${op} %r2, %r0, %r3;
      SKIP: ${store("%r1", "%r2")} ret;`,
    block: [60, 1, 1] as const,
  })),
  ...["min", "max", "min.abs", "max.NaN", "min.abs.NaN"].map((op) => ({
    name: `redux.${op}.f32`,
    body: `${mixed} redux.sync.${op}.f32 %r1, %r0, -1; and.b32 %r0, %r0, 0xbfffffff; redux.sync.${op}.f32 %r2, %r0, -1;
      ${store("%r1", "%r2")} ret;`,
    block: [60, 1, 1] as const,
  })),
];

const others: Case[] = [
  {
    name: "elections, and who is there",
    body: `setp.ge.u32 %p0, %t, 5; @!%p0 bra SKIP; activemask.b32 %r0; elect.sync %r1|%p1, %r0; ${flag("%p1", "%r2")}
      SKIP: activemask.b32 %r3; ${store("%r0", "%r1", "%r2", "%r3")} ret;`,
    block: [40, 1, 1],
  },
  {
    name: "results that nobody wants, and guards that are the same in all lanes",
    body: `${mixed} elect.sync _|%p1, -1; ${flag("%p1", "%r1")} setp.eq.u32 %p2, %n, 32;
      mov.u32 %r2, 9; @%p2 shfl.sync.bfly.b32 %r2, %r0, 8, 31, -1; @!%p2 vote.sync.ballot.b32 %r2, %p1, -1;
      bar.warp.sync -1; ${store("%r1", "%r2")} ret;`,
  },
  {
    name: "the lanes that are left when some have ended",
    body: `${mixed} setp.lt.u32 %p0, %t, 50; @!%p0 ret; shfl.sync.down.b32 %r1|%p1, %r0, 7, 31, -1; ${flag("%p1", "%r2")}
      vote.sync.ballot.b32 %r3, %p0, -1; ${store("%r1", "%r2", "%r3")} ret;`,
    block: [64, 1, 1],
  },
  {
    name: "a sum over the warp, halving the distance in a loop",
    body: `${mixed} mov.u32 %r1, 16;
      AGAIN: shfl.sync.down.b32 %r2, %r0, %r1, 31, -1; add.u32 %r0, %r0, %r2; shr.u32 %r1, %r1, 1;
      setp.ne.u32 %p0, %r1, 0; @%p0 bra AGAIN; ${store("%r0")} ret;`,
    block: [96, 1, 1],
  },
  {
    name: "the old forms, in whatever lanes there are",
    before: "",
    body: `${mixed} and.b32 %r1, %r0, 3; setp.eq.u32 %p0, %r1, 1; mov.u32 %r2, 0; mov.u32 %r3, 0;
      @%p0 bra ELSE; activemask.b32 %r2; shfl.sync.idx.b32 %r3, %r0, 2, 31, %r2; bra END;
      ELSE: activemask.b32 %r2; shfl.sync.bfly.b32 %r3, %r0, 1, 31, %r2; not.b32 %r3, %r3;
      END: activemask.b32 %r4; ${store("%r2", "%r3", "%r4")} ret;`,
    block: [64, 1, 1],
  },
];

describe.each(Object.entries({ shuffles, guarded, votes, matches, reductions }))("%s", (_, cases) => {
  test.each(cases.map((c) => [c.name, c] as const))("%s", (_name, c) => {
    expect(expectSame(c, inWarps).reports).toEqual([]);
  });
});

test.each(others.map((c) => [c.name, c] as const))("%s, however wide chunks are to be", (_, c) => {
  expect(expectSame(c).reports).toEqual([]);
});
