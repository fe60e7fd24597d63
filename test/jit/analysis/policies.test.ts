import { describe, expect, test } from "vitest";
import { chunkWidthFor, widthNeedsOf } from "../../../src/jit/compile/analysis/chunk-width.ts";
import { spillBudgetOf } from "../../../src/jit/compile/analysis/spill-budget.ts";
import { Analysed } from "./analysed.ts";

describe("chunks are as wide as is good for a kernel and its blocks", () => {
  const plain = {
    inWarps: false,
    recursive: false,
    isIrregular: false,
    hasBarriers: false,
    hasOrderedAtomics: false,
    instructions: 100,
    pressure: 3,
    laneByLane: 0,
  };

  test.each([
    ["a long row", [256, 1, 1], plain, 8],
    ["a row that is shorter than a warp", [20, 1, 1], plain, 4],
    ["a row that fills narrower chunks", [208, 1, 1], plain, 4],
    ["a row that fills none", [100, 1, 1], plain, 2],
    ["a long row that fills none", [1000, 1, 1], plain, 8],
    ["a row of one chunk and a part", [40, 1, 1], plain, 8],
    ["rows of 16", [16, 16, 1], plain, 4],
    ["rows that end anywhere", [33, 2, 1], plain, 2],
    ["lanes of a warp that act together", [33, 2, 1], { ...plain, inWarps: true }, 8],
    ["lanes that follow pointers", [256, 1, 1], { ...plain, isIrregular: true }, 2],
    ["blocks smaller than a warp", [1, 4, 1], plain, 1],
    ["a small block whose threads wait for each other", [4, 5, 1], { ...plain, hasBarriers: true, pressure: 19 }, 8],
    ["some live values", [256, 1, 1], { ...plain, pressure: 4 }, 4],
    ["many live values", [256, 1, 1], { ...plain, pressure: 10 }, 2],
    ["elements that lie apart", [256, 1, 1], { ...plain, laneByLane: 4 }, 2],
    ["turns of lanes that matter", [256, 1, 1], { ...plain, hasOrderedAtomics: true, laneByLane: 4, pressure: 10 }, 8],
    [
      "elements that lie apart, from barrier to barrier",
      [256, 1, 1],
      { ...plain, hasBarriers: true, laneByLane: 4 },
      4,
    ],
    ["some, from barrier to barrier", [256, 1, 1], { ...plain, hasBarriers: true }, 4],
    ["hardly any, from barrier to barrier", [256, 1, 1], { ...plain, hasBarriers: true, pressure: 1 }, 8],
    ["more live values than the machine has registers", [256, 1, 1], { ...plain, pressure: 19 }, 1],
    ["long code", [256, 1, 1], { ...plain, instructions: 5000 }, 2],
    ["code near the host's limit", [256, 1, 1], { ...plain, instructions: 100_000 }, 1],
  ] as const)("%s", (_, block, needs, quads) => {
    expect(chunkWidthFor(block, needs, "none")).toBe(quads);
  });

  test.each([
    ["whole warps where the order of lanes may show", [16, 16, 1], plain, "order", 8],
    ["all of a block that is smaller", [16, 1, 1], { ...plain, pressure: 19 }, "order", 4],
    [
      "as wide as without where lanes overwrite what others load first",
      [256, 1, 1],
      { ...plain, pressure: 19 },
      "overwrites",
      8,
    ],
    ["the same in a row that does not fill chunks", [208, 1, 1], plain, "overwrites", 8],
  ] as const)("%s", (_, block, needs, conflicts, quads) => {
    expect(chunkWidthFor(block, needs, conflicts)).toBe(quads);
  });
});

describe("a kernel", () => {
  const needsOf = (body: string) => {
    const { code } = new Analysed(`ld.param.u64 %x0, [x]; mov.u32 %r0, %tid.x; ld.param.u32 %s0, [n];\n${body}\nret;`);
    return widthNeedsOf(code.ir, () => null);
  };
  const next = "LOOP: ld.global.u64 %x0, [%x0]; setp.ne.u64 %p0, %x0, 0; @%p0 bra LOOP;";

  test("that follows a list loads from where what is loaded points", () => {
    expect(needsOf(next).isIrregular).toBe(true);
    expect(needsOf(next.replace("LOOP:", "").replace("@%p0 bra LOOP;", "")).isIrregular).toBe(false);
    expect(needsOf(next.replace("u64 %x0, [%x0]", "u64 %x1, [%x0]")).isIrregular).toBe(false);
  });

  test("that leaves a loop when it has found something lets each lane go its own way", () => {
    const search = `LOOP: ld.global.u32 %r1, [%x0]; add.u64 %x0, %x0, 4;
setp.ne.u32 %p0, %r1, 0; @%p0 bra LOOP;`;
    expect(needsOf(search).isIrregular).toBe(true);
    expect(needsOf(search.replace("ne.u32 %p0, %r1", "ne.u32 %p0, %s0")).isIrregular).toBe(false);
  });

  test("has a pressure: the vectors that are live at once", () => {
    const loads = [1, 2, 3, 4].map((i) => `ld.global.u32 %r${i}, [%x1];`).join(" ");
    const body = `mad.wide.u32 %x1, %r0, 4, %x0; ${loads} st.global.v4.u32 [%x1], {%r1, %r2, %r3, %r4};`;
    expect(needsOf(body).pressure).toBe(4);
    // The same in all lanes: no vectors.
    expect(needsOf(body.replaceAll("[%x1]", "[%x0]")).pressure).toBe(0);
  });

  // Blocks inside the grid have a version of the code in which nothing wraps around.
  test.each([
    ["the length of a row", "rem.u32 %r1, %r0, %s0;", 1],
    [
      "that of a row in the left neighbour's column",
      "add.s32 %r1, %r0, %s0; sub.s32 %r1, %r1, 1; rem.s32 %r1, %r1, %s0;",
      1,
    ],
    ["a small constant", "rem.u32 %r1, %r0, 7;", 4],
    ["a lane's own number", "rem.u32 %r1, %s0, %r0;", 4],
    ["a row that is not linear in the lane before", "mul.lo.u32 %r1, %r0, %r0; rem.u32 %r1, %r1, %s0;", 4],
  ])("whose lanes' columns are taken modulo %s", (_, columns, vectors) => {
    const body = `${columns} mad.wide.u32 %x1, %r1, 4, %x0; ld.global.u32 %r2, [%x1]; st.global.v2.u32 [%x1], {%r1, %r2};`;
    expect(needsOf(body).pressure).toBe(vectors);
  });

  test.each([
    ["bytes of records of 32", "mad.lo.u32 %r1, %r0, 32, 1; cvt.u64.u32 %x1, %r1; ld.global.u8 %r2, [%x1];", 1],
    ["of records of 12", "mad.lo.u32 %r1, %r0, 12, 1; cvt.u64.u32 %x1, %r1; ld.global.u8 %r2, [%x1];", 0],
    ["that are written", "mad.lo.u32 %r1, %r0, 12, 1; cvt.u64.u32 %x1, %r1; st.global.u8 [%x1], %r0;", 1],
    ["consecutive words", "mad.wide.u32 %x1, %r0, 4, %x0; ld.global.u32 %r2, [%x1]; st.global.u32 [%x1], %r0;", 0],
    ["words of a ring", "and.b32 %r1, %r0, %s0; mad.wide.u32 %x1, %r1, 4, %x0; ld.global.u32 %r2, [%x1];", 0],
    ["where words say", "ld.global.u32 %r1, [%x0]; mad.wide.u32 %x1, %r1, 4, %x0; ld.global.u32 %r2, [%x1];", 0],
    [
      "where words of each lane say",
      "mad.wide.u32 %x1, %r0, 4, %x0; ld.global.u32 %r1, [%x1]; mad.wide.u32 %x2, %r1, 4, %x0; ld.global.u32 %r2, [%x2];",
      1,
    ],
    [
      "records through which a loop goes",
      "mad.wide.u32 %x1, %r0, 64, %x0; LOOP: ld.global.u32 %r2, [%x1]; add.u64 %x1, %x1, 4; bra LOOP;",
      1,
    ],
  ])("has accesses that are one for each lane: %s", (_, body, count) => {
    expect(needsOf(body).laneByLane).toBe(count);
  });

  test.each([
    ["a vote", "vote.sync.any.pred %p0, %p0, -1;", true],
    ["the time", "mov.u32 %r1, %clock;", true],
    ["a barrier for all threads", "bar.sync 0;", false],
    ["a barrier that counts", "bar.sync 1, 64;", true],
  ])("is for whole warps or not: %s", (_, line, inWarps) => {
    expect(needsOf(line).inWarps).toBe(inWarps);
  });
});

describe("the spill budget", () => {
  const { code } = new Analysed("mov.u32 %r0, %tid.x;\nret;");
  const budget = (registers: number, blocks: number, spins = false) => {
    const { ir, graph } = code;
    const many = <T>(n: number, one: T): T[] => Array.from({ length: n }, () => one);
    const large = { ...code, ir: { ...ir, registers: many(registers, ir.registers[0]!) } };
    return spillBudgetOf({ ...large, graph: { ...graph, blocks: many(blocks, graph.blocks[0]!) } }, 8, spins);
  };

  test("is empty where all registers fit into locals", () => {
    expect(budget(100, 10)).toEqual({ mostLocals: 20_000, bytes: 0 });
  });

  test("shrinks with the number of blocks, at each of which the host makes notes about locals", () => {
    // 2e6 notes for 1000 blocks; the masks of lanes that wait at these are 8 locals each.
    const { mostLocals, bytes } = budget(100, 1000);
    expect(mostLocals).toBe(2000);
    expect(bytes).toBeGreaterThan(16 * 8000);
  });

  test("is never less than 256 locals", () => {
    expect(budget(100, 100_000).mostLocals).toBe(256);
  });

  test("is as small as that where lanes spin: V8 would copy the locals each round", () => {
    expect(budget(100, 10, true).mostLocals).toBe(256);
    expect(budget(100, 10, true).bytes).toBeGreaterThan(16 * 800);
    expect(budget(10, 1, true).bytes).toBe(0);
  });
});
