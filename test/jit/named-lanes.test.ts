import { expect, test } from "vitest";
import { expectSame } from "./harness.ts";

// Operations of warps whose masks name lanes that have ended, as data says: nobody waits for them. The interpreter is
// the reference.

const operations = [
  ["a vote", "vote.sync.ballot.b32 %r4, %p2, MASK;"],
  ["all agree", "vote.sync.all.pred %p3, %p2, MASK; selp.u32 %r4, 1, 2, %p3;"],
  ["any agrees", "vote.sync.any.pred %p3, %p2, MASK; selp.u32 %r4, 1, 2, %p3;"],
  ["a butterfly", "shfl.sync.bfly.b32 %r4, %r8, 1, 31, MASK;"],
  ["the next lane", "shfl.sync.down.b32 %r4|%p3, %r8, 1, 31, MASK; @!%p3 add.u32 %r4, %r4, 100;"],
  ["one lane", "shfl.sync.idx.b32 %r4, %r8, 5, 31, MASK;"],
  ["a sum", "redux.sync.add.u32 %r4, %r8, MASK;"],
  ["a match", "and.b32 %r5, %r8, 3; match.any.sync.b32 %r4, %r5, MASK;"],
  ["a barrier", "bar.warp.sync MASK; mov.u32 %r4, %r8;"],
  ["one is elected", "elect.sync %r4|%p3, MASK; @%p3 add.u32 %r4, %r4, 100;"],
] as const;

/** Threads for which `(t * 7) % 11` is small end; the others go on. Sometimes only the first eight lanes come. */
const body = (operation: string, mask: string, isPart: boolean): string => `mov.u32 %r8, %tid.x; mul.lo.u32 %r2, %r8, 7;
  st.global.u32 [%out], %r2; ld.global.u32 %r3, [%out]; rem.u32 %r3, %r3, 11; setp.lt.u32 %p1, %r3, 3;
  setp.gt.u32 %p2, %r3, 6; and.b32 %r9, %r8, 31; mov.u32 %r10, ${mask};
  ${isPart ? "setp.ge.u32 %p4, %r9, 8; @%p4 bra REST;" : ""} @%p1 ret; ${operation.replaceAll("MASK", "%r10")}
  st.global.u32 [%out], %r4; ${isPart ? "REST:" : ""} ret;`;

test.each(operations)("%s", (_, operation) => {
  for (const block of [32, 64]) {
    for (const [mask, isPart] of [
      ["-1", false],
      ["255", true],
    ] as const) {
      const { reports } = expectSame({
        name: "",
        before: "",
        body: body(operation, mask, isPart),
        block: [block, 1, 1],
        words: 1,
      });
      expect(reports).toEqual([]);
    }
  }
});

test("groups of eight, some of whose lanes have ended", () => {
  for (const [, operation] of operations) {
    if (operation.includes("elect")) continue;
    const mask = "0; and.b32 %r11, %r9, 24; mov.u32 %r10, 255; shl.b32 %r10, %r10, %r11";
    expect(
      expectSame({ name: "", before: "", body: body(operation, mask, false), block: [64, 1, 1], words: 1 }).reports,
    ).toEqual([]);
  }
});

test.each(operations)("%s, of those that have voted for it after others have ended", (_, operation) => {
  const voting = `mov.u32 %r8, %tid.x; mul.lo.u32 %r2, %r8, 7; st.global.u32 [%out], %r2; ld.global.u32 %r3, [%out];
    rem.u32 %r3, %r3, 11; setp.lt.u32 %p1, %r3, 3; setp.gt.u32 %p2, %r3, 6; and.b32 %r9, %r8, 31;
    setp.lt.u32 %p5, %r9, 20; @%p1 ret; vote.sync.ballot.b32 %r10, %p5, -1; @!%p5 bra REST;
    ${operation.replaceAll("MASK", "%r10")} st.global.u32 [%out], %r4; REST: ret;`;
  for (const block of [32, 64]) {
    const { reports } = expectSame({ name: "", before: "", body: voting, block: [block, 1, 1], words: 1 });
    expect(reports).toEqual([]);
  }
});

test.each(operations)("%s, of the only group of four whose lanes come", (_, operation) => {
  const only = `mov.u32 %r8, %tid.x; mov.u32 %r3, %laneid; and.b32 %r9, %r3, -4; mov.u32 %r10, 15;
    shl.b32 %r10, %r10, %r9; shr.u32 %r11, %r3, 2; setp.lt.u32 %p1, %r11, 1; setp.gt.u32 %p2, %r8, 1; @!%p1 bra REST;
    ${operation.replaceAll("MASK", "%r10")} st.global.u32 [%out], %r4; REST: ret;`;
  for (const block of [32, 64]) {
    const { reports } = expectSame({ name: "", before: "", body: only, block: [block, 1, 1], words: 1 });
    expect(reports).toEqual([]);
  }
});
