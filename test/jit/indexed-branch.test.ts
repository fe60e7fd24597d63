import { describe, expect, test } from "vitest";
import { type Case, expectSame } from "./harness.ts";

const store = (...values: string[]): string => values.map((v, i) => `st.global.b32 [%out+${4 * i}], ${v};`).join("\n");
const mixed = "mul.lo.u32 %r0, %t, 0x9e3779b1; shr.u32 %r1, %r0, 13; xor.b32 %r0, %r0, %r1; and.b32 %r2, %r0, 3;";
/** Four ways, the second of which falls through into the third. */
const ways = (branch: string, list = "A, B, C, D"): string => `mov.u32 %r5, 1; mov.u32 %r6, 0;
  LIST: .branchtargets ${list};
  AGAIN: ${branch} mad.lo.u32 %r5, %r5, 31, 100; bra END;
  A: mad.lo.u32 %r5, %r5, 31, 1; bra END;
  B: mad.lo.u32 %r5, %r5, 31, 2;
  C: mad.lo.u32 %r5, %r5, 31, 3; bra END;
  D: mad.lo.u32 %r5, %r5, 31, 4;
  END: add.u32 %r6, %r6, 1;`;
const done = `${store("%r5", "%r6")} ret;`;

const shapes = [
  { name: "rows", block: [64, 1, 1], grid: [4, 1, 1] },
  { name: "blocks of two dimensions", block: [5, 9, 1], grid: [3, 1, 1] },
] as const;
const indices = { vector: "%r2", "the same in a block": "%ctaid.x", constant: "2" };
const lists = {
  "four ways": "A, B, C, D",
  "ways that meet": "C, A, C, D",
  "some that lead to the end": "END, B, END, A",
};

const branches: Case[] = Object.entries(indices).flatMap(([how, index]) =>
  Object.entries(lists).flatMap(([what, list]) =>
    shapes.flatMap(({ name: where, ...shape }) => [
      {
        name: `${how}, ${what}, in ${where}`,
        body: `${mixed} mov.u32 %r3, ${index}; ${ways("brx.idx %r3, LIST;", list)} ${done}`,
        ...shape,
      },
      {
        name: `${how}, ${what}, in some lanes of ${where}`,
        body: `${mixed} mov.u32 %r3, ${index}; setp.lt.u32 %p0, %t, 21; ${ways("@%p0 brx.idx %r3, LIST;", list)} ${done}`,
        ...shape,
      },
      {
        name: `${how}, ${what}, in all lanes or none of ${where}`,
        body: `${mixed} mov.u32 %r3, ${index}; setp.eq.u32 %p0, %n, 64; ${ways("@%p0 brx.idx %r3, LIST;", list)} ${done}`,
        ...shape,
      },
    ]),
  ),
);

const rounds: Case[] = Object.entries(lists).map(([what, list]) => ({
  name: `again and again, ${what}`,
  body: `${mixed} ${ways("and.b32 %r3, %r0, 3; brx.idx %r3, LIST;", list)} shr.u32 %r0, %r0, 2; setp.ne.u32 %p0, %r0, 0;
    activemask.b32 %r8; xor.b32 %r9, %r9, %r8; @%p0 bra AGAIN; ${store("%r5", "%r6", "%r9")} ret;`,
  block: [40, 1, 1],
}));

const others: Case[] = [
  {
    name: "back and forth, without any other branch",
    body: `${mixed} mov.u32 %r5, 0; mov.u32 %r6, 20;
      LIST: .branchtargets A, B, OUT, B;
      A: mad.lo.u32 %r5, %r5, 3, 1; sub.u32 %r6, %r6, 1; shr.u32 %r3, %r0, %r6; and.b32 %r3, %r3, 3;
      setp.eq.u32 %p0, %r6, 0; @%p0 bra OUT; brx.idx %r3, LIST;
      B: mad.lo.u32 %r5, %r5, 5, 2; sub.u32 %r6, %r6, 1; shl.b32 %r3, %r5, %r6; and.b32 %r3, %r3, 1;
      setp.eq.u32 %p0, %r6, 0; @%p0 bra OUT; brx.idx %r3, LIST;
      OUT: ${done}`,
    block: [40, 1, 1],
  },
  {
    name: "ways to the end of the kernel",
    body: `${mixed} LIST: .branchtargets A, OUT, B, OUT; ${store("%r0")} brx.idx %r2, LIST;
      A: ${store("%r2", "%r1")} OUT: ret; B: ${store("%r1", "%r2")} ret;`,
    block: [40, 1, 1],
  },
  {
    name: "lanes that wait past a place at which nobody does",
    body: `${mixed} mov.u32 %r3, %ctaid.x; setp.eq.u32 %p0, %r3, 0; mov.u32 %r5, 0;
      setp.eq.u32 %p1, %r2, 1; @%p0 bra FIRST; @%p1 bra LAST; bra BOTH;
      FIRST: @%p1 bra MIDDLE;
      BOTH: add.u32 %r5, %r5, 3; setp.eq.u32 %p2, %r2, 2; @%p2 ret; @!%p2 st.global.b32 [%out+8], %r2; ret;
      MIDDLE: add.u32 %r5, %r5, 5; ${store("%r5")} ret;
      LAST: add.u32 %r5, %r5, 7; ${store("%r5")} ret;`,
    block: [40, 1, 1],
    grid: [2, 1, 1],
  },
];

describe.each(Object.entries({ branches, rounds, others }))("%s", (_, cases) => {
  test.each(cases.map((c) => [c.name, c] as const))("%s", (_name, c) => {
    expect(expectSame(c).reports).toEqual([]);
  });
});

const faults: Case[] = [
  {
    name: "an index beyond the list, in one lane",
    body: `mov.u32 %r2, %t; setp.ne.u32 %p0, %t, 5; @%p0 mov.u32 %r2, 1; ${ways("brx.idx %r2, LIST;")} ${done}`,
  },
  {
    name: "an index beyond the list, in all lanes",
    body: `mov.u32 %r2, %ctaid.x; sub.u32 %r2, %r2, 3; ${ways("brx.idx %r2, LIST;")} ${done}`,
    grid: [3, 1, 1],
  },
  {
    name: "an index beyond the list, in lanes with a guard",
    body: `setp.gt.u32 %p0, %t, 3; mov.u32 %r2, 4; ${ways("@%p0 brx.idx %r2, LIST;")} ${done}`,
    block: [7, 1, 1],
  },
  { name: "a trap", body: "trap;" },
  { name: "a trap in some lanes", body: `setp.eq.u32 %p0, %t, 6; @%p0 trap; ${store("%t")} ret;`, block: [8, 1, 1] },
  {
    name: "a trap behind a branch",
    body: `setp.lt.u32 %p0, %t, 6; @%p0 bra END; trap; END: ${store("%t")} ret;`,
    block: [8, 1, 1],
  },
  {
    name: "a trap that nobody comes to",
    body: `setp.lt.u32 %p0, %t, 6; brkpt; @!%p0 trap; ${store("%t")} ret;`,
    block: [6, 1, 1],
  },
];

test.each(faults.map((c) => [c.name, c] as const))("%s", (_, c) => {
  expect(expectSame(c).reports.length).toBe(c.name.includes("nobody") ? 0 : 1);
});
