import { describe, expect, test } from "vitest";
import { expectSameReports, expectSameResults, type PtxCase } from "./both-engines.ts";

// Where all threads of many blocks go the same way and access what they should, this is tested once for all of them,
// and blocks of which each goes on where the last one ended are one long row. Whatever the tests say, the results are
// those of the interpreter.

const registers =
  ".reg .pred %p<9>; .reg .b32 %i, %j, %k, %n, %m, %t, %u, %v, %w; .reg .f32 %f<9>; .reg .b64 %x, %y, %a, %b, %c, %d;";

/** Addresses of two buffers are in `%x` and `%y`, numbers of the launch in `%n` and `%m`. */
const kernelOf = (body: string): string => `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y, .param .align 4 .b8 blob[8]) {
${registers}
ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; ld.param.u32 %n, [blob]; ld.param.u32 %m, [blob+4];
${body}
END: ret;
}`;

const words = (count: number, at: (i: number) => number): Uint8Array =>
  new Uint8Array(Uint32Array.from({ length: count }, (_, i) => at(i)).buffer);
const mixed = (i: number): number => Math.imul(i + 1, 0x9e37_79b1) >>> 0;

interface Shape {
  readonly n: number;
  readonly m?: number;
  readonly grid: PtxCase["launch"]["grid"];
  readonly block: PtxCase["launch"]["block"];
  readonly hostThreads?: number;
}

function caseOf(body: string, { n, m = 0, ...launch }: Shape, size: number): PtxCase {
  const blob = words(2, (i) => (i === 0 ? n : m));
  return { text: kernelOf(body), buffers: [words(size, mixed), words(size, (i) => i)], blob, launch };
}

const along = "mov.u32 %j, %ntid.x; mov.u32 %k, %ctaid.x; mov.u32 %t, %tid.x; mad.lo.s32 %i, %k, %j, %t;";
const down = "mov.u32 %j, %ntid.y; mov.u32 %k, %ctaid.y; mov.u32 %t, %tid.y; mad.lo.s32 %u, %k, %j, %t;";
const addresses = "mul.wide.s32 %d, %i, 4; add.s64 %a, %x, %d; add.s64 %b, %y, %d;";
const copy = "ld.global.u32 %v, [%a]; st.global.u32 [%b], %v;";
const inside = "setp.ge.s32 %p1, %i, %n; @%p1 bra END;";

describe("blocks of one row", () => {
  test.each([
    ["all of them", `${along} ${inside} ${addresses} ${copy}`],
    [
      "by number, which is data too",
      `${along} ${inside} ${addresses} ld.global.u32 %v, [%a]; add.u32 %v, %v, %i; st.global.u32 [%b], %v;`,
    ],
    ["with numbers in the block", `${along} ${inside} ${addresses} mov.u32 %w, %tid.x; st.global.u32 [%b], %w;`],
    ["with numbers of the block", `${along} ${inside} ${addresses} mov.u32 %w, %ctaid.x; st.global.u32 [%b], %w;`],
    [
      "with places in the warp",
      `${along} ${inside} ${addresses} mov.u32 %w, %laneid; mov.u32 %v, %warpid; shl.b32 %v, %v, 8; or.b32 %w, %w, %v; st.global.u32 [%b], %w;`,
    ],
    [
      "at offsets in bytes",
      `${along} ${inside} shl.b32 %w, %i, 2; cvt.u64.u32 %d, %w; add.s64 %a, %x, %d; add.s64 %b, %y, %d; ${copy}`,
    ],
    ["backwards", `${along} ${inside} sub.s32 %i, %n, %i; sub.s32 %i, %i, 1; ${addresses} ${copy}`],
    [
      "over one another",
      `${along} ${inside} mov.u32 %w, %ctaid.x; mul.lo.s32 %w, %w, 16; mov.u32 %t, %tid.x; add.s32 %i, %w, %t; ${addresses} ld.global.u32 %v, [%b]; add.u32 %v, %v, 1; st.global.u32 [%b], %v;`,
    ],
    ["every third", `${along} ${inside} mul.lo.s32 %i, %i, 3; ${addresses} ${copy}`],
    [
      "unsigned",
      `${along} setp.ge.u32 %p1, %i, %n; @%p1 bra END; mul.wide.u32 %d, %i, 4; add.s64 %a, %x, %d; add.s64 %b, %y, %d; ${copy}`,
    ],
    [
      "two sides of a branch",
      `${along} ${inside} ${addresses} setp.lt.s32 %p2, %i, %m; @%p2 bra A; ld.global.u32 %v, [%a]; xor.b32 %v, %v, 85; bra B; A: mov.u32 %v, 7; B: st.global.u32 [%b], %v;`,
    ],
  ])("%s", (_, body) => {
    for (const [n, grid, block] of [
      [1000, 10, 100],
      [1001, 8, 128],
      [1024, 8, 128],
      [1, 16, 64],
      [700, 32, 32],
    ] as const) {
      expectSameResults(caseOf(body, { n, m: 333, grid, block }, 3200));
    }
  });

  test("in several rows of the grid, by several threads of the host", () => {
    const body = `${along} mov.u32 %w, %ctaid.y; mov.u32 %u, %nctaid.x; mul.lo.u32 %u, %u, %j; mad.lo.s32 %i, %w, %u, %i; ${inside} ${addresses} ${copy}`;
    for (const hostThreads of [1, 2])
      expectSameResults(caseOf(body, { n: 3000, grid: [6, 8], block: 64, hostThreads }, 3072));
  });

  test("in the interior of a picture, where nothing is clamped", () => {
    // Each register is written once, as compilers do: those of a neighbour have its number.
    const neighbour = (n: number, dx: number, dy: number): string => `.reg .b32 %c${n}_<8>; .reg .b64 %d_${n}, %a_${n};
add.s32 %c${n}_0, %i, ${dx}; max.s32 %c${n}_1, %c${n}_0, 0; min.s32 %c${n}_2, %c${n}_1, %right;
add.s32 %c${n}_3, %u, ${dy}; max.s32 %c${n}_4, %c${n}_3, 0; min.s32 %c${n}_5, %c${n}_4, %low;
mad.lo.s32 %c${n}_6, %c${n}_5, %n, %c${n}_2; mul.wide.s32 %d_${n}, %c${n}_6, 4; add.s64 %a_${n}, %x, %d_${n};
ld.global.u32 %c${n}_7, [%a_${n}];`;
    const places = `.reg .b32 %right, %low, %tx, %ty, %bx, %by, %wx, %wy, %at; .reg .b32 %s<9>;
mov.u32 %tx, %tid.x; mov.u32 %bx, %ctaid.x; mov.u32 %wx, %ntid.x; mad.lo.s32 %i, %bx, %wx, %tx;
mov.u32 %ty, %tid.y; mov.u32 %by, %ctaid.y; mov.u32 %wy, %ntid.y; mad.lo.s32 %u, %by, %wy, %ty;
sub.s32 %right, %n, 1; sub.s32 %low, %m, 1;`;
    const body = `${places} setp.ge.s32 %p1, %i, %n; setp.ge.s32 %p2, %u, %m; or.pred %p3, %p1, %p2; @%p3 bra END;
${neighbour(1, -1, 0)} ${neighbour(2, 1, -2)} ${neighbour(3, 0, 1)}
sub.s32 %s1, %c1_7, %c2_7; xor.b32 %s2, %s1, %c3_7;
mad.lo.s32 %at, %u, %n, %i; mul.wide.s32 %d, %at, 4; add.s64 %b, %y, %d; st.global.u32 [%b], %s2;`;
    for (const [n, m, grid, block] of [
      [96, 32, [6, 4], [16, 8]],
      [75, 30, [5, 8], [16, 4]],
      [200, 12, [7, 6], [32, 2]],
      [1, 40, [1, 20], [32, 2]],
      [2100, 3, [33, 1], [64, 4]],
    ] as const) {
      expectSameResults(caseOf(body, { n, m, grid, block }, n * m));
    }
  });

  test("numbers that pass the end of 32 bits", () => {
    // The index is 2^29 times the thread's number: it comes back to where it began.
    const body = `${along} mul.lo.s32 %i, %i, 536870912; and.b32 %w, %i, 0; add.s32 %i, %i, %w; shr.u32 %i, %i, 29; ${addresses} ${copy}`;
    expectSameResults(caseOf(body, { n: 0, grid: 4, block: 64 }, 64));
    const around = `${along} mad.lo.s32 %u, %i, 1073741824, 5; setp.lt.s32 %p1, %u, 0; @%p1 bra END; ${addresses} ${copy}`;
    expectSameResults(caseOf(around, { n: 0, grid: 4, block: 64 }, 256));
    const shifted = `${along} shl.b32 %u, %i, 30; setp.gt.u32 %p1, %u, 5; @%p1 bra END; ${addresses} ${copy}`;
    expectSameResults(caseOf(shifted, { n: 0, grid: 4, block: 64 }, 256));
  });

  test("an access between words is reported where it is, though the first and the last are none", () => {
    const body = `${along} mul.lo.u32 %w, %i, 6; cvt.u64.u32 %d, %w; add.s64 %a, %x, %d; add.s64 %b, %y, %d; ${copy}`;
    expect(expectSameReports(caseOf(body, { n: 0, grid: 1, block: 33 }, 64))).toHaveLength(1);
    expect(expectSameReports(caseOf(body, { n: 0, grid: 3, block: 65 }, 400))).toHaveLength(1);
  });

  test("an access beyond the end is reported where it is", () => {
    const body = `${along} ${addresses} ${copy}`;
    expect(expectSameReports(caseOf(body, { n: 0, grid: 8, block: 128 }, 1000))).toHaveLength(1);
  });
});

describe("blocks of several rows", () => {
  const place = "mad.lo.s32 %i, %u, %n, %i;";
  const field = `${along} mov.u32 %w, %i; ${down} setp.ge.s32 %p1, %w, %n; setp.ge.s32 %p2, %u, %m; or.pred %p3, %p1, %p2; @%p3 bra END; ${place} ${addresses}`;
  /** Its neighbours, too, where it has all. */
  const neighbours = `${field} ld.global.u32 %v, [%a]; setp.lt.s32 %p4, %u, 1; setp.lt.s32 %p5, %w, 1; or.pred %p4, %p4, %p5;
    sub.s32 %t, %n, 1; setp.ge.s32 %p5, %w, %t; or.pred %p4, %p4, %p5; sub.s32 %t, %m, 1; setp.ge.s32 %p5, %u, %t; or.pred %p4, %p4, %p5; @%p4 bra B;
    ld.global.u32 %j, [%a+4]; add.u32 %v, %v, %j; ld.global.u32 %j, [%a+-4]; add.u32 %v, %v, %j; sub.s32 %k, %i, %n; mul.wide.s32 %d, %k, 4;
    add.s64 %c, %x, %d; ld.global.u32 %j, [%c]; add.u32 %v, %v, %j; mul.wide.s32 %d, %n, 4; add.s64 %c, %a, %d; ld.global.u32 %j, [%c];
    add.u32 %v, %v, %j; B: st.global.u32 [%b], %v;`;
  const places = `${field} mov.u32 %w, %laneid; mov.u32 %v, %warpid; shl.b32 %v, %v, 8; or.b32 %w, %w, %v; st.global.u32 [%b], %w;`;

  test.each([
    ["all of them", `${field} ${copy}`],
    ["with their neighbours", neighbours],
    ["with places in the warp", places],
  ])("%s", (_, body) => {
    for (const [n, m, grid, block] of [
      [64, 24, [2, 3], [32, 8]],
      [90, 21, [3, 3], [32, 8]],
      [96, 33, [3, 5], [32, 7]],
      [100, 20, [2, 5], [64, 4]],
      [40, 24, [3, 6], [16, 4]],
      [33, 9, [5, 3], [8, 3]],
    ] as const) {
      expectSameResults(caseOf(body, { n, m, grid, block }, 3300));
    }
  });
});

describe("rows of which tests hold for a part", () => {
  // Each block is a row of the grid, as where small squares are regrouped: `n` words of row `u` count, or as many as
  // its number says, and the rows from `m` on have nothing to do.
  const begin = `${along} ${down} setp.ge.s32 %p2, %u, %m; @%p2 bra END;`;
  const place = "mad.lo.s32 %w, %u, 300, %i; mul.wide.s32 %d, %w, 4; add.s64 %a, %x, %d; add.s64 %b, %y, %d;";
  const add = "ld.global.u32 %v, [%a]; add.u32 %v, %v, %u; st.global.u32 [%b], %v;";
  const limits = {
    "one length": "mov.u32 %k, %n;",
    longer: "add.s32 %k, %u, %n;",
    shorter: "sub.s32 %k, %n, %u;",
    "longer by three": "mad.lo.s32 %k, %u, 3, %n;",
    "of words of memory": "mul.wide.s32 %d, %u, 4; add.s64 %c, %x, %d; ld.global.u32 %k, [%c]; and.b32 %k, %k, 255;",
  };
  test.each(Object.entries(limits))("%s", (_, limit) => {
    const body = `${begin} ${limit} setp.ge.s32 %p1, %i, %k; @%p1 bra END; ${place} ${add}`;
    for (const [n, m, width] of [
      [256, 40, 256],
      [200, 40, 256],
      [100, 33, 208],
      [65, 17, 96],
      [31, 9, 64],
      [0, 40, 256],
      [97, 0, 128],
    ] as const) {
      for (const hostThreads of [1, 2]) {
        expectSameResults(caseOf(body, { n, m, grid: [1, 40], block: width, hostThreads }, 300 * 40));
      }
    }
  });

  test("in the last of several blocks of a row", () => {
    const body = `${begin} setp.ge.s32 %p1, %i, %n; @%p1 bra END; ${place} ${add}`;
    for (const n of [300, 290, 257, 256, 160, 129, 128, 90, 5]) {
      expectSameResults(caseOf(body, { n, m: 19, grid: [3, 20], block: 128 }, 300 * 21 + 84));
    }
  });

  test("what one lane does besides", () => {
    // As where the first column belongs to a right-hand side.
    const first =
      "setp.ne.s32 %p3, %i, 0; @%p3 bra END; ld.global.u32 %t, [%b]; xor.b32 %t, %t, %n; st.global.u32 [%b], %t;";
    const later =
      "setp.ne.s32 %p3, %i, 77; @%p3 bra END; ld.global.u32 %t, [%b]; xor.b32 %t, %t, %n; st.global.u32 [%b], %t;";
    const changed = `add.s32 %i, %i, 1; ${first}`;
    for (const [n, m] of [
      [208, 30],
      [150, 30],
      [70, 21],
      [33, 3],
    ] as const) {
      for (const then of [first, later, changed]) {
        const body = `${begin} setp.ge.s32 %p1, %i, %n; @%p1 bra END; ${place} ${add} ${then}`;
        expectSameResults(caseOf(body, { n, m, grid: [1, 30], block: 208 }, 300 * 30));
      }
    }
  });

  test("an access beyond the end is reported where it is", () => {
    const body = `${begin} setp.ge.s32 %p1, %i, %n; @%p1 bra END; ${place} ${add}`;
    for (const size of [300 * 29 + 150, 300 * 20, 300 * 29 + 32]) {
      expect(expectSameReports(caseOf(body, { n: 200, m: 30, grid: [1, 30], block: 256 }, size))).toHaveLength(1);
    }
  });
});

describe("blocks that each lane may leave out", () => {
  const place = `${along} ${down} mad.lo.s32 %w, %u, %n, %i; mul.wide.u32 %d, %w, 4; add.s64 %a, %x, %d; add.s64 %b, %y, %d;`;
  // A word that all threads of a row share.
  const ofRow = "mad.lo.s32 %t, %u, %n, %m; mul.wide.u32 %d, %t, 4; add.s64 %c, %x, %d; ld.global.u32 %j, [%c];";
  const fewer = "ld.global.u32 %v, [%a]; add.u32 %t, %v, %j; setp.ge.u32 %p1, %t, %v; @%p1 bra END;";
  // What is read is not written, whoever comes first.
  const update = "st.global.u32 [%b], %t; st.global.u32 [%b+BEHIND], %m;";
  const shapes = [
    [64, 24, [2, 3], [32, 8]],
    [64, 6, [4, 3], [16, 2]],
    [96, 16, [3, 2], [32, 8]],
    [40, 24, [5, 3], [8, 8]],
    [256, 4, [1, 1], [256, 4]],
  ] as const;
  const run = (body: string): void => {
    for (const [n, rows, grid, block] of shapes) {
      for (const hostThreads of [1, 2]) {
        const text = `${place} ${body}`.replaceAll("BEHIND", `${4 * n * rows}`);
        expectSameResults(caseOf(text, { n, m: 3, grid, block, hostThreads }, 2 * n * rows));
      }
    }
  };

  test.each([
    ["two stores", `${ofRow} ${fewer} ${update}`],
    [
      "the rows from the last one on",
      `not.b32 %u, %u; add.s32 %u, %u, 4; max.s32 %u, %u, 0; ${ofRow} ${fewer} ${update}`,
    ],
    ["rows that go backwards", `mov.u32 %k, 3; sub.s32 %u, %k, %u; and.b32 %u, %u, 3; ${ofRow} ${fewer} ${update}`],
    [
      "what comes after it",
      `${ofRow} ld.global.u32 %v, [%a]; add.u32 %t, %v, %j; mov.u32 %k, 5; setp.lt.s32 %p1, %t, %v; @%p1 bra B;
       st.global.u32 [%b+BEHIND], %t; mul.lo.u32 %k, %t, 3; B: add.u32 %k, %k, %v; st.global.u32 [%b], %k;`,
    ],
    [
      "two of them",
      `ld.global.u32 %v, [%a]; setp.gt.s32 %p1, %v, 0; @%p1 bra B; st.global.u32 [%b+BEHIND], %m;
       B: setp.lt.u32 %p2, %v, %w; @!%p2 bra END; ld.global.u32 %k, [%b]; add.u32 %k, %k, %v; st.global.u32 [%b], %k;`,
    ],
    [
      "numbers decide, too",
      `ld.global.u32 %v, [%a]; setp.lt.s32 %p1, %v, 0; and.b32 %k, %i, 3; setp.eq.u32 %p2, %k, 1; or.pred %p1, %p1, %p2;
       @%p1 bra END; st.global.u32 [%b], %v;`,
    ],
    [
      "numbers decide alone",
      "ld.global.u32 %v, [%a]; and.b32 %k, %i, 3; setp.eq.u32 %p2, %k, 1; @%p2 bra END; st.global.u32 [%b], %v;",
    ],
  ])("%s", (_, body) => run(body));

  // Words before the first and after the last of a buffer: the lanes that would store there leave it out.
  test.each([-4, 4])("places that are none for lanes which leave it out", (offset) => {
    const body = `setp.eq.u32 %p1, %w, ${offset < 0 ? 0 : 64 * 24 - 1}; ld.global.u32 %v, [%a]; setp.eq.u32 %p2, %v, 77;
      or.pred %p1, %p1, %p2; @%p1 bra END; st.global.u32 [%b+${offset}], %v;`;
    expectSameResults(caseOf(`${place} ${body}`, { n: 64, grid: [2, 3], block: [32, 8] }, 64 * 24));
  });

  test("places that are none are reported where they are", () => {
    const body = `ld.global.u32 %v, [%a]; setp.eq.u32 %p1, %v, 77; @%p1 bra END; st.global.u32 [%b+4], %v;`;
    const found = expectSameReports(caseOf(`${place} ${body}`, { n: 64, grid: [2, 3], block: [32, 8] }, 64 * 24));
    expect(found).toHaveLength(1);
    const rows = caseOf(
      `${place} ${ofRow} ${fewer} st.global.u32 [%b], %t;`,
      { n: 64, m: 600, grid: [2, 3], block: [32, 8] },
      64 * 24,
    );
    expect(expectSameReports(rows)).toHaveLength(1);
  });
});
