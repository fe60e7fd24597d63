import { describe, expect, test, vi } from "vitest";
import { Device } from "../../src/index.ts";
import { type Case, expectSame } from "./harness.ts";

// Code for one shape of blocks knows which threads there are, and accesses shared variables without a check where no
// thread can miss them. What the last thread accesses, or one more, decides: reports are the interpreter's.

/** A shared variable of as many words, and `%r9` its address. */
const tile = (words: number): string => `.shared .align 4 .b8 tile[${4 * words}]; mov.u32 %r9, tile;`;

/** `address` computes `%r1` from the thread's number `%r0`; each lane stores there and loads again. */
const storeAt = (words: number, address: string, at = "%r1"): string =>
  `${tile(words)} mov.u32 %r0, %tid.x; ${address} add.u32 %r1, %r1, %r9;
st.shared.u32 [${at}], %t; ld.shared.u32 %r5, [${at}]; st.global.u32 [%out], %r5; ret;`;

const ok: readonly Case[] = [
  { name: "a word for each thread", body: storeAt(64, "shl.b32 %r1, %r0, 2;"), block: [64, 1, 1] },
  { name: "blocks that end within a chunk", body: storeAt(50, "shl.b32 %r1, %r0, 2;"), block: [50, 1, 1] },
  {
    name: "from the last thread down to the first",
    body: storeAt(50, "sub.u32 %r1, 49, %r0; shl.b32 %r1, %r1, 2;"),
    block: [50, 1, 1],
  },
  {
    name: "a large stride in a block that ends within a chunk",
    body: storeAt(37 * 64, "shl.b32 %r1, %r0, 8;"),
    block: [37, 1, 1],
  },
  {
    name: "rows and columns, transposed",
    body: `${tile(15)} mov.u32 %r0, %tid.x; mov.u32 %r2, %tid.y; mad.lo.u32 %r1, %r0, 5, %r2; shl.b32 %r1, %r1, 2;
add.u32 %r1, %r1, %r9; st.shared.u32 [%r1], %t; bar.sync 0; mov.u32 %r3, %t; shl.b32 %r3, %r3, 2; add.u32 %r3, %r3, %r9;
ld.shared.u32 %r5, [%r3]; st.global.u32 [%out], %r5; ret;`,
    block: [3, 5, 1],
  },
  {
    name: "in the lanes of a branch, the first lane not among them",
    body: `${tile(32)} mov.u32 %r0, %tid.x; mov.u32 %r5, 7; and.b32 %r2, %t, 3; setp.eq.u32 %p0, %r2, 0; @%p0 bra END;
shl.b32 %r1, %r0, 2; add.u32 %r1, %r1, %r9; st.shared.u32 [%r1], %t; ld.shared.u32 %r5, [%r1];
END: st.global.u32 [%out], %r5; ret;`,
  },
];

describe("within the variable", () => {
  test.each(ok.map((c) => [c.name, c] as const))("%s", (_, c) => {
    expect(expectSame(c).reports).toEqual([]);
  });
});

const wrong: readonly Case[] = [
  { name: "the last thread one word too far", body: storeAt(63, "shl.b32 %r1, %r0, 2;"), block: [64, 1, 1] },
  {
    name: "the first thread one word before",
    body: storeAt(64, "shl.b32 %r1, %r0, 2;", "%r1+-4"),
    block: [64, 1, 1],
  },
  {
    name: "the last of those that count down",
    body: storeAt(64, "sub.u32 %r1, 62, %r0; shl.b32 %r1, %r1, 2;"),
    block: [64, 1, 1],
  },
  {
    name: "offsets that wrap around to others",
    body: storeAt(64, "mul.lo.u32 %r1, %r0, 0x44444444;"),
    block: [64, 1, 1],
  },
  { name: "between two words", body: storeAt(64, "mul.lo.u32 %r1, %r0, 3;"), block: [64, 1, 1] },
  {
    name: "the last thread of the last row",
    body: `${tile(14)} mov.u32 %r0, %tid.x; mov.u32 %r2, %tid.y; mad.lo.u32 %r1, %r0, 5, %r2; shl.b32 %r1, %r1, 2;
add.u32 %r1, %r1, %r9; st.shared.u32 [%r1], %t; ret;`,
    block: [3, 5, 1],
  },
  {
    name: "where only the first lane takes part, at the address that the last one would have",
    body: `${tile(32)} mov.u32 %r0, %tid.x; setp.ne.u32 %p0, %t, 0; @%p0 bra END; add.u32 %r0, %r0, 32;
shl.b32 %r1, %r0, 2; add.u32 %r1, %r1, %r9; st.shared.u32 [%r1], %t; END: ret;`,
  },
];

describe("missing the variable", () => {
  test.each(wrong.map((c) => [c.name, c] as const))("%s", (_, c) => {
    expect(expectSame({ ...c, tellsWho: false }).reports).toHaveLength(1);
  });
});

const text = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .b32 %t, %n, %y, %m, %i; .reg .b64 %a;
  mov.u32 %t, %tid.x; mov.u32 %y, %tid.y; mov.u32 %n, %ntid.x; mov.u32 %m, %ntid.y;
  mad.lo.u32 %i, %y, %n, %t;
  ld.param.u64 %a, [out]; cvta.to.global.u64 %a, %a; mad.wide.u32 %a, %i, 4, %a;
  mad.lo.u32 %n, %n, 1000, %m; st.global.u32 [%a], %n;
  ret;
}`;

test("each shape of blocks has its own code, up to four, and others share one", () => {
  const device = new Device();
  const kernel = device.load(text).kernel("k");
  const modules = vi.spyOn(WebAssembly, "Module");
  const shapes: readonly (readonly [number, number?])[] = [[32], [64], [96], [32, 2], [128], [160], [128], [32]];
  const compiled = shapes.map(([x, y = 1]) => {
    const out = device.buffer("u32", x * y);
    modules.mockClear();
    const result = kernel.launch({ grid: 1, block: [x, y], args: [out] });
    expect({ ok: result.ok, engine: result.engine }).toEqual({ ok: true, engine: "jit" });
    expect([...new Set(out.read())]).toEqual([1000 * x + y]);
    return modules.mock.calls.length;
  });
  vi.restoreAllMocks();
  // The first module of a process tells whether there is a fused multiply-add.
  expect(compiled.slice(1)).toEqual([1, 1, 1, 1, 0, 0, 0]);
});
