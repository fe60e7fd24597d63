import { describe, expect, test, vi } from "vitest";
import { HostWarpWaits } from "../../src/jit/run/host-warp-waits.ts";
import { Random } from "../fuzz/random.ts";
import { type Case, expectSame, inWarps } from "./harness.ts";

const store = (...values: string[]): string => values.map((v, i) => `st.global.b32 [%out+${4 * i}], ${v};`).join("\n");
const mixed = "mul.lo.u32 %r0, %t, 0x9e3779b1; shr.u32 %r1, %r0, 16; xor.b32 %r0, %r0, %r1; and.b32 %r2, %r0, 3;";

/** Operations of all kinds: what they read is in %r0, their results go to %r10 and %p10. */
const operations: readonly [name: string, operation: (mask: string) => string][] = [
  ["shfl.up", (m) => `shfl.sync.up.b32 %r10|%p10, %r0, 3, 0, ${m};`],
  ["shfl.down", (m) => `shfl.sync.down.b32 %r10|%p10, %r0, %r2, 31, ${m};`],
  ["shfl.bfly", (m) => `shfl.sync.bfly.b32 %r10|%p10, %r0, 16, 31, ${m};`],
  ["shfl.idx", (m) => `shfl.sync.idx.b32 %r10|%p10, %r0, %r2, 31, ${m};`],
  ["vote.all", (m) => `vote.sync.all.pred %p10, %p0, ${m};`],
  ["vote.uni", (m) => `vote.sync.uni.pred %p10, !%p0, ${m};`],
  ["ballot", (m) => `vote.sync.ballot.b32 %r10, %p0, ${m};`],
  ["match.any", (m) => `match.any.sync.b32 %r10, %r2, ${m};`],
  ["match.all", (m) => `match.all.sync.b64 %r10|%p10, %d0, ${m};`],
  ["redux.add", (m) => `redux.sync.add.u32 %r10, %r0, ${m};`],
  ["redux.max.f32", (m) => `redux.sync.max.abs.NaN.f32 %r10, %r0, ${m};`],
  ["elect", (m) => `elect.sync %r10|%p10, ${m};`],
  ["bar.warp", (m) => `bar.warp.sync ${m}; add.u32 %r10, %r0, 1;`],
];

const begin = `${mixed} mov.b64 %d0, {%r2, %r0}; setp.lt.u32 %p0, %r2, 2; mov.u32 %r10, 77; setp.eq.u32 %p10, %t, 3;
  mov.u32 %r20, -1;`;
/** Who is together after everything tells how lanes have met. */
const end = `activemask.b32 %r11; selp.b32 %r12, 1, 0, %p10; ${store("%r10", "%r12", "%r11", "%r20")} ret;`;

const places: Readonly<Record<string, (operation: (mask: string) => string) => string>> = {
  "at two places": (op) => `@%p0 bra ELSE; ${op("-1")} add.u32 %r20, %r0, 1; bra END;
    ELSE: ${op("-1")} activemask.b32 %r20; END:`,
  "at two places, each side with its own mask": (op) => `vote.sync.ballot.b32 %r5, %p0, -1; not.b32 %r6, %r5;
    @%p0 bra ELSE; ${op("%r6")} activemask.b32 %r20; bra END; ELSE: ${op("%r5")} activemask.b32 %r20; END:`,
  "with a mask for each quarter": (op) => `and.b32 %r5, %t, 24; mov.u32 %r6, 0xff; shl.b32 %r6, %r6, %r5;
    ${op("%r6")} activemask.b32 %r20;`,
  "with the lanes of the same value": (op) => `match.any.sync.b32 %r6, %r2, -1; ${op("%r6")} activemask.b32 %r20;`,
  "behind a guard": (op) => `@%p0 bra ELSE; bra JOIN; ELSE: vote.sync.ballot.b32 %r5, %p0, 0; JOIN:
    vote.sync.ballot.b32 %r5, %p0, -1; ${op("%r5").replace(/(^|; )(?!add)/, "$1@%p0 ")} activemask.b32 %r20;`,
  "where others end": (op) => `setp.eq.u32 %p1, %r2, 3; @%p1 bra ELSE; ${op("-1")} activemask.b32 %r20;
    @%p0 bra END; add.u32 %r20, %r20, 7; bra END; ELSE: add.u32 %r20, %r0, 5; @!%p0 ret; ${op("-1")} END:`,
  "in a loop that lanes leave one by one": (op) => `mov.u32 %r7, %r2;
    AGAIN: setp.eq.u32 %p2, %r7, 0; @%p2 bra OUT; sub.u32 %r7, %r7, 1; and.b32 %r8, %r0, 1; setp.eq.u32 %p3, %r8, 0;
    @%p3 bra SKIP; activemask.b32 %r6; ${op("%r6")} xor.b32 %r20, %r20, %r10;
    SKIP: activemask.b32 %r9; xor.b32 %r20, %r20, %r9; bra AGAIN; OUT:
    ${op("-1")}`,
  "in a loop, where those outside are waited for": (op) => `mov.u32 %r7, %r2; setp.eq.u32 %p4, %r2, 0;
    @%p4 bra LATE;
    AGAIN: sub.u32 %r7, %r7, 1; setp.ne.u32 %p2, %r7, 0; activemask.b32 %r9; xor.b32 %r20, %r20, %r9; @%p2 bra AGAIN;
    ${op("-1")} activemask.b32 %r20; bra END;
    LATE: activemask.b32 %r9; xor.b32 %r20, %r20, %r9; setp.lt.u32 %p5, %t, 12; @%p5 bra LAST; ${op("-1")} bra END;
    LAST: add.u32 %r20, %r20, 3; ${op("-1")} END:`,
};

describe.each(Object.entries(places))("%s", (_, place) => {
  test.each(operations)("%s", (name, operation) => {
    for (const block of [
      [43, 1, 1],
      [5, 3, 5],
    ] as const) {
      expect(expectSame({ name, body: `${begin} ${place(operation)} ${end}`, block }, inWarps).reports).toEqual([]);
    }
  });
});

/** Lanes that are chosen by their numbers alone, and the mask that names them. */
const partial: Readonly<Record<string, (operation: (mask: string) => string) => string>> = {
  "the first four lanes": (op) => `and.b32 %r7, %t, 31; setp.ge.u32 %p1, %r7, 4; @%p1 bra END; ${op("0xf")} END:`,
  "eight lanes of one warp": (op) => `and.b32 %r7, %t, 31; shr.u32 %r8, %t, 5; setp.ne.u32 %p1, %r8, 0;
    setp.gt.u32 %p2, %r7, 7; or.pred %p1, %p1, %p2; @%p1 bra END; ${op("0xff")} ${op("0xff")} END:`,
  "odd lanes, some of which have done more": (op) => `and.b32 %r7, %t, 1; setp.eq.u32 %p1, %r7, 0; @%p1 bra END;
    @%p0 bra SAME; xor.b32 %r0, %r0, 5; SAME: ${op("0xaaaaaaaa")} END:`,
  "lanes of which some come from a later place": (op) => `and.b32 %r7, %t, 31; setp.ge.u32 %p1, %r7, 8; @%p1 bra END;
    @%p0 bra LATE; HERE: ${op("0xff")} bra END; LATE: xor.b32 %r0, %r0, 5; bra HERE; END:`,
  "lanes in a loop whose rounds all count": (op) => `mov.u32 %r8, 0; AGAIN: and.b32 %r7, %t, 31;
    setp.lt.u32 %p1, %r7, 24; @%p1 bra SKIP; ${op("0xff000000")} xor.b32 %r20, %r20, %r10;
    SKIP: add.u32 %r8, %r8, 1; setp.lt.u32 %p2, %r8, 3; @%p2 bra AGAIN;`,
  "tiles of eight": (op) => `mov.u32 %r5, %laneid; and.b32 %r5, %r5, -8; mov.u32 %r6, 0xff; shl.b32 %r6, %r6, %r5;
    ${op("%r6")} activemask.b32 %r20;`,
  "odd and even lanes, some of which have done more": (op) => `and.b32 %r7, %t, 1; setp.eq.u32 %p1, %r7, 0;
    selp.b32 %r6, 0x55555555, 0xaaaaaaaa, %p1; @%p0 bra SAME; xor.b32 %r0, %r0, 5; SAME: ${op("%r6")}`,
  "tiles of four, of which some come from a later place": (op) => `and.b32 %r5, %t, 28; shl.b32 %r6, 15, %r5;
    @%p0 bra LATE; HERE: ${op("%r6")} bra END; LATE: xor.b32 %r0, %r0, 5; bra HERE; END:`,
  "tiles of eight, some lanes of which have ended": (op) => `and.b32 %r5, %t, 24; shl.b32 %r6, 255, %r5;
    setp.eq.u32 %p1, %r2, 3; @%p1 ret; ${op("%r6")} activemask.b32 %r20;`,
  "tiles in a loop, whose votes say how long": (op) => `and.b32 %r5, %t, 24; shl.b32 %r6, 255, %r5; mov.u32 %r7, %r2;
    AGAIN: ${op("%r6")} xor.b32 %r20, %r20, %r10; setp.ne.u32 %p1, %r7, 0; selp.b32 %r8, -1, 0, %p1;
    add.u32 %r7, %r7, %r8; vote.sync.any.pred %p2, %p1, %r6; @%p2 bra AGAIN;`,
  "lanes that are left when others have ended": (op) => `and.b32 %r7, %t, 31; setp.ge.u32 %p1, %r7, 8; @%p1 ret;
    ${op("0xff")}`,
};

describe.each(Object.entries(partial))("in blocks of known size, %s", (_, place) => {
  test.each(operations)("%s", (name, operation) => {
    for (const block of [
      [64, 1, 1],
      [20, 2, 2],
    ] as const) {
      const body = `${begin} ${place(operation)} ${end}`;
      expect(expectSame({ name, body, block }, inWarps).reports).toEqual([]);
    }
  });
});

const deadlocks: readonly Case[] = [
  {
    name: "for one who never comes",
    body: `setp.ne.u32 %p0, %t, 40; @!%p0 bra OTHER; bar.warp.sync -1; bra END;
      OTHER: vote.sync.ballot.b32 %r1, %p0, -1; END: ret;`,
    block: [64, 1, 1],
  },
  {
    name: "for each other",
    body: `and.b32 %r1, %t, 1; setp.eq.u32 %p0, %r1, 0; @%p0 bra EVEN; shfl.sync.bfly.b32 %r2, %t, 1, 31, 3;
      bra END; EVEN: shfl.sync.bfly.b32 %r2, %t, 1, 31, 7; END: st.global.b32 [%out], %r2; ret;`,
  },
  {
    name: "for the rest of a tile",
    body: `mov.u32 %r5, %laneid; and.b32 %r5, %r5, -8; mov.u32 %r6, 255; shl.b32 %r6, %r6, %r5; setp.gt.u32 %p1, %t, 12;
      @%p1 bra OTHER; redux.sync.add.u32 %r2, %t, %r6; bra END; OTHER: vote.sync.ballot.b32 %r2, %p1, -1; END: ret;`,
    block: [64, 1, 1],
  },
  {
    name: "in one warp of several, at a barrier",
    // Who waits at the barrier is not told.
    tellsWho: false,
    body: `setp.lt.u32 %p0, %t, 40; @%p0 bra FEW; bar.warp.sync -1; FEW: bar.sync 0; ret;`,
    block: [96, 1, 1],
  },
];

test.each(deadlocks.map((c) => [c.name, c] as const))("lanes that wait for ever: %s", (_, c) => {
  const { reports } = expectSame(c, inWarps);
  expect(reports).toMatchObject([{ code: "deadlock" }]);
});

/**
 * Operations with masks that may be anybody's, in code that goes anywhere: some wait for ever, and all engines say so.
 */
function randomCase(seed: number): Case {
  const random = new Random(seed);
  const lines: string[] = [];
  let labels = 0;
  const r = (): string => `%r${random.between(10, 15)}`;
  const statement = (depth: number): void => {
    const kind = random.weighted({
      operation: 6,
      branch: depth < 3 ? 3 : 0,
      loop: depth < 2 ? 1 : 0,
      leave: 0.4,
      mix: 3,
    });
    const p = `%p${random.between(1, 4)}`;
    switch (kind) {
      case "operation": {
        const mask = random.pick(["%r30", "%r30", "%r31", "%r32", "-1", `${0xff << (8 * random.below(4))}`]);
        if (mask === "%r30") lines.push("activemask.b32 %r30;");
        const guard = random.chance(0.15) ? `@${p} ` : "";
        const [, operation] = random.pick(operations);
        const text = operation(mask).split(";")[0]!.replaceAll("%r10", r());
        lines.push(`${guard}${text};`);
        return;
      }
      case "branch": {
        const [otherwise, end] = [`L${labels++}`, `L${labels++}`];
        lines.push(`@${p} bra ${otherwise};`);
        statement(depth + 1);
        if (random.chance(0.6)) {
          lines.push(`bra ${end};`, `${otherwise}:`);
          statement(depth + 1);
          lines.push(`${end}:`);
        } else lines.push(`${otherwise}:`);
        return;
      }
      case "loop": {
        const [top, count] = [`L${labels++}`, `%r${20 + depth}`];
        lines.push(`and.b32 ${count}, ${r()}, 3;`, `${top}:`);
        statement(depth + 1);
        statement(depth + 1);
        lines.push(
          `setp.gt.s32 %p${6 + depth}, ${count}, 0; sub.s32 ${count}, ${count}, 1; @%p${6 + depth} bra ${top};`,
        );
        return;
      }
      case "leave":
        lines.push(`@${p} st.global.b32 [%out+12], ${r()}; @${p} ${random.pick(["ret", "exit"])};`);
        return;
      case "mix":
        lines.push(`mad.lo.u32 ${r()}, ${r()}, 5, ${r()}; activemask.b32 ${r()}; setp.gt.s32 ${p}, ${r()}, ${r()};`);
    }
  };
  for (let i = random.between(5, 12); i > 0; i--) statement(0);
  const fill = [10, 11, 12, 13, 14, 15].map((n) => `mul.lo.u32 %r${n}, %r0, ${2 * random.below(99) + 1};`).join(" ");
  const predicates = [1, 2, 3, 4].map(
    (n) => `and.b32 %r2, %r${9 + n}, ${random.pick([1, 3, 7])}; setp.eq.u32 %p${n}, %r2, 0;`,
  );
  return {
    name: `seed ${seed}`,
    tellsWho: false,
    body: `${begin} ${fill} ${predicates.join(" ")} mov.u32 %r30, -1; and.b32 %r3, %t, 16; mov.u32 %r31, 0xffff;
      shl.b32 %r31, %r31, %r3; match.any.sync.b32 %r32, %r2, -1;
      ${lines.join("\n")}
      ${store("%r10", "%r11", "%r12", "%r13")} ret;`,
    block: random.pick([
      [32, 1, 1],
      [32, 1, 1],
      [64, 1, 1],
      [20, 1, 1],
    ] as const),
  };
}

test("programs that gather at random do it alike", () => {
  const ended = Array.from({ length: 25 }, (_, seed) => expectSame(randomCase(seed), inWarps)).map(
    ({ reports }) => reports.length,
  );
  // Some of them wait for ever, others do not.
  expect(new Set(ended).size).toBe(2);
});

test("groups that are all there, each with its own mask, are not the launcher's work", () => {
  const arrive = vi.spyOn(HostWarpWaits.prototype, "arrive");
  try {
    const groups = "match.any.sync.b32 %r6, %r2, -1; shfl.sync.idx.b32 %r10|%p10, %r0, %r2, 31, %r6;";
    expectSame({ name: "groups", body: `${begin} ${groups} ${end}`, block: [64, 1, 1] }, inWarps);
    expect(arrive).not.toHaveBeenCalled();
    // Lanes of which some come later wait with the launcher.
    const parts = places["at two places"]!(() => "vote.sync.ballot.b32 %r10, %p0, -1;");
    expectSame({ name: "parts", body: `${begin} ${parts} ${end}`, block: [64, 1, 1] }, inWarps);
    expect(arrive).toHaveBeenCalled();
  } finally {
    arrive.mockRestore();
  }
});
