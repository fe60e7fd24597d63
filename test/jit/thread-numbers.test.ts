import { expect, test } from "vitest";
import { Device } from "../../src/index.ts";
import { expectSameReports, expectSameResults } from "./both-engines.ts";
import { expectSame } from "./harness.ts";

// Where all lanes of a warp find the same for their thread numbers, their branches are those of one scalar. The
// interpreter is the reference, and what comparisons and quotients are follows from the arithmetic of 32 bits.

const blocks = [
  [64, 1, 1],
  [96, 2, 1],
  [40, 1, 1],
] as const;

const same = (body: string): void => {
  for (const block of blocks) {
    expect(expectSame({ name: "", body, block, grid: [2, 1, 1], words: 1 }).reports).toEqual([]);
  }
};

/** Constants that are added, and bounds, about which all lanes of a chunk of some width agree or not. */
const added = [0, 1, 31, 32, 127, 128, -1, -16, -31, -32, -64, -100, 2 ** 30, 2 ** 31 - 32, -(2 ** 31)];
const bounds = [0, 1, 32, 95, 128, 159, 160, 255, -32, -1, 2 ** 31 - 1, -(2 ** 31)];

const relations = ["lt.u32", "le.u32", "lt.s32", "le.s32", "gt.u32", "ge.s32"];

test.each([1, 4, 16, 3].flatMap((factor) => relations.map((r) => [factor, r] as const)))(
  "comparisons of sums with %i times a number: %s",
  (factor, name) => {
    const [relation, type] = name.split(".") as [string, string];
    const around = [...added, ...(factor === 1 ? [] : [2, 5, factor - 1, 32 * factor, -32 * factor, 32 * factor + 3])];
    const pairs = around.flatMap((a) =>
      [...bounds, 32 * factor - 1, 64 * factor, 64 * factor + 1].map((b) => [a, b] as const),
    );
    const asked = pairs.map(
      ([a, b], i) => `mad.lo.s32 %r2, %r1, ${factor}, ${a}; setp.${name} %p1, %r2, ${b};
@!%p1 bra NEXT${i}; add.u32 %r3, %r3, 1; NEXT${i}: mad.lo.u32 %r3, %r3, 3, ${i};`,
    );
    const text = `.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
.maxntid 96
{
.reg .b32 %r<5>; .reg .b64 %d<3>; .reg .pred %p1;
mov.u32 %r1, %tid.x; mov.u32 %r3, 0;
${asked.join("\n")}
ld.param.u64 %d1, [out]; mul.wide.u32 %d2, %r1, 4; add.s64 %d1, %d1, %d2; st.global.u32 [%d1], %r3;
ret;
}`;
    const holds = (x: number, y: number): boolean => {
      const [a, b] = type === "u32" ? [x >>> 0, y >>> 0] : [x | 0, y | 0];
      return relation === "lt" ? a < b : relation === "le" ? a <= b : relation === "gt" ? a > b : a >= b;
    };
    const expected = Array.from({ length: 96 }, (_, lane) =>
      pairs.reduce((sum, [a, b], i) => (Math.imul(sum + (holds(factor * lane + a, b) ? 1 : 0), 3) + i) >>> 0, 0),
    );
    const [got] = expectSameResults({ text, buffers: [new Uint8Array(4 * 96)], launch: { grid: 1, block: 96 } });
    expect([...new Uint32Array(Uint8Array.from(got!).buffer)]).toEqual(expected);
  },
);

test.each([5, 6, 7, 31])("signed quotients by 2^%i, as compilers write them", (bits) => {
  same(`mov.u32 %r1, %tid.x; shr.s32 %r2, %r1, 31; shr.u32 %r3, %r2, ${32 - bits}; add.s32 %r4, %r1, %r3;
shr.s32 %r5, %r4, ${bits}; shl.b32 %r6, %r5, ${bits}; sub.s32 %r7, %r1, %r6; setp.eq.s32 %p1, %r5, 1;
@%p1 bra ONE; mad.lo.u32 %r7, %r7, 5, %r5; bra END; ONE: mad.lo.u32 %r7, %r7, 7, 3; END: st.global.u32 [%out], %r7; ret;`);
});

/** A signed quotient and rest of %r1 by 32, as compilers write them. */
const inWarps = `shr.s32 %r2, %r1, 31; shr.u32 %r3, %r2, 27; add.s32 %r4, %r1, %r3;
shr.s32 %r5, %r4, 5; and.b32 %r6, %r4, -32; sub.s32 %r7, %r1, %r6;`;

test.each([
  // Whole warps; blocks that end within a chunk; chunks of several rows; a size that is no power of two.
  [64, 1, 1],
  [40, 1, 1],
  [16, 16, 1],
  [8, 8, 2],
  [48, 2, 1],
] as const)("warps of the grid take turns over rows, with blocks of %i x %i x %i threads", (...block) => {
  const { reports } = expectSame({
    name: "",
    block,
    grid: [3, 1, 1],
    words: 2,
    body: `mov.u32 %r1, %u; ${inWarps}
mov.u32 %r8, 0; mov.u32 %r9, %r5; shr.u32 %r10, %r1, 5;
ROW: setp.ge.s32 %p1, %r9, 9; @%p1 bra END;
add.u32 %r11, %r7, 3;
ELEMENT: setp.ge.s32 %p2, %r11, 70; @%p2 bra NEXT;
mad.lo.u32 %r8, %r8, 3, %r11; add.u32 %r11, %r11, 32; bra ELEMENT;
NEXT: mad.lo.u32 %r8, %r8, 5, %r10; add.u32 %r9, %r9, 3; bra ROW;
END: st.global.u32 [%out], %r8; st.global.u32 [%out+4], %r7; ret;`,
  });
  expect(reports).toEqual([]);
});

test("in a grid of more blocks than 2^21 global indices have signs", () => {
  const text = `.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 first)
{
.reg .b32 %r<12>; .reg .b64 %d<3>; .reg .pred %p1;
mov.u32 %r8, %ctaid.x; ld.param.u32 %r9, [first]; setp.lt.u32 %p1, %r8, %r9; @%p1 bra END;
mov.u32 %r10, %ntid.x; mov.u32 %r11, %tid.x; mad.lo.s32 %r1, %r8, %r10, %r11;
${inWarps}
sub.u32 %r8, %r8, %r9; mad.lo.u32 %r8, %r8, %r10, %r11;
ld.param.u64 %d1, [out]; mul.wide.u32 %d2, %r8, 4; add.s64 %d1, %d1, %d2; st.global.u32 [%d1], %r5;
END: ret;
}`;
  const device = new Device();
  const kernel = device.load(text).kernel("k");
  const out = device.buffer(new Int32Array(2048));
  // The last two blocks of a grid.
  for (const grid of [20, 2 ** 21 + 1]) {
    const first = grid - 2;
    const { engine, reports } = kernel.launch({ grid, block: 1024, args: [out, first] });
    expect({ engine, reports }).toEqual({ engine: "jit", reports: [] });
    const expected = Array.from({ length: 2048 }, (_, i) => Math.trunc(((first * 1024 + i) | 0) / 32));
    expect([...out.read()]).toEqual(expected);
  }
});

/** A kernel whose threads that fulfil a condition wait for a phase of one of two mbarriers, which thread 0 completes. */
const waiting = (condition: string, address: string): string => `.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .b32 %r<9>; .reg .b64 %d<5>; .reg .pred %p<5>;
.shared .align 8 .b64 bars[2];
mov.u32 %r1, %tid.x; mov.u32 %r8, bars; mov.u32 %r7, 0;
setp.ne.u32 %p1, %r1, 0; @%p1 bra READY;
mbarrier.init.shared.b64 [%r8], 1; mbarrier.init.shared.b64 [%r8+8], 2;
READY: bar.sync 0;
and.b32 %r2, %r1, 31; ${condition} @!%p2 bra ARRIVE;
${address}
AGAIN: add.u32 %r7, %r7, 1; mbarrier.try_wait.parity.shared.b64 %p3, [%r3], 0; @!%p3 bra AGAIN;
min.u32 %r7, %r7, 1; mad.lo.u32 %r7, %r1, 10, %r7; bra END;
ARRIVE: setp.ne.u32 %p4, %r1, 64; @%p4 bra END;
mbarrier.arrive.shared.b64 _, [%r8]; mbarrier.arrive.shared.b64 _, [%r8+8]; mbarrier.arrive.shared.b64 _, [%r8+8];
END: ld.param.u64 %d1, [out]; mul.wide.u32 %d2, %r1, 4; add.s64 %d1, %d1, %d2; st.global.u32 [%d1], %r7; ret;
}`;

test.each([
  ["whole warps, one mbarrier", "setp.lt.u32 %p2, %r1, 64;", "mov.u32 %r3, %r8;", (x: number) => x < 64],
  ["some lanes of a warp", "setp.gt.u32 %p2, %r2, 11;", "add.u32 %r3, %r8, 8;", (x: number) => x % 32 > 11],
  [
    "lanes with mbarriers of their own",
    "setp.lt.u32 %p2, %r1, 50;",
    "and.b32 %r4, %r1, 1; mad.lo.u32 %r3, %r4, 8, %r8;",
    (x: number) => x < 50,
  ],
  [
    "a warp with mbarriers of its own",
    "setp.lt.u32 %p2, %r1, 64;",
    "shr.u32 %r4, %r1, 5; mad.lo.u32 %r3, %r4, 8, %r8;",
    (x: number) => x < 64,
  ],
])("waits for an mbarrier: %s", (_, condition, address, waits) => {
  const text = waiting(condition, address);
  const [got] = expectSameResults({ text, buffers: [new Uint8Array(4 * 96)], launch: { grid: 2, block: 96 } });
  expect([...new Uint32Array(Uint8Array.from(got!).buffer)]).toEqual(
    Array.from({ length: 96 }, (_, x) => (waits(x) ? 10 * x + 1 : 0)),
  );
});

test("a wait for what is no mbarrier is reported for all lanes that ask", () => {
  const text = waiting("setp.gt.u32 %p2, %r2, 11;", "add.u32 %r3, %r8, 8;").replace(
    "mbarrier.init.shared.b64 [%r8+8], 2;",
    "",
  );
  const reports = expectSameReports({ text, buffers: [new Uint8Array(4 * 32)], launch: { grid: 1, block: 32 } });
  expect(reports.map((r) => r.code)).toEqual(["mbarrier-uninitialized"]);
  expect(reports[0]!.count).toBe(20);
});
