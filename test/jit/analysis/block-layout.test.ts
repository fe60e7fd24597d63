import { describe, expect, test } from "vitest";
import { itemAt, itemsOf, layoutOf, type LayoutNeeds } from "../../../src/jit/compile/analysis/flow/block-layout.ts";
import { Analysed } from "./analysed.ts";

const graphOf = (body: string) => new Analysed(body).code.graph;

/** Blocks 0; 1 to 3, a loop in which 2 may be passed over; 4. */
const graph = graphOf(`ld.param.u32 %s0, [n]; mov.u32 %r1, 0;
LOOP: setp.eq.u32 %p0, %r1, %s0;
@%p0 bra NEXT;
add.u32 %r1, %r1, 2;
NEXT: add.u32 %r1, %r1, 1;
setp.lt.u32 %p0, %r1, 100;
@%p0 bra LOOP;
ret;`);

/** The same with no branch forward in the loop: a barrier for some ends block 1. */
const simple = graphOf(`ld.param.u32 %s0, [n]; mov.u32 %r1, 0;
LOOP: @%p1 bar.sync 0;
add.u32 %r1, %r1, 1;
setp.lt.u32 %p0, %r1, %s0;
@%p0 bra LOOP;
ret;`);

const layout = (needs: Partial<LayoutNeeds> = {}, { blocks } = graph) =>
  layoutOf({ blocks, count: blocks.length }, { start: 0, entries: [], waiting: [], ...needs });

test("a scope consists of blocks and loops in their order", () => {
  const { root } = layout();
  expect(itemsOf(root).map(({ start, end }) => [start, end])).toEqual([
    [0, 0],
    [1, 3],
    [4, 4],
  ]);
  expect([0, 1, 2, 3, 4].map((block) => itemAt(root, block))).toEqual([0, 1, 1, 1, 4]);
});

test("targets are blocks to which something jumps over others", () => {
  expect([...layout().targets]).toEqual([3]);
});

describe("a local that says where to go on is needed", () => {
  test("not for a loop whose blocks follow each other", () => {
    expect(layout({}, simple)).toMatchObject({ needsEntry: false, entersLoops: false });
  });

  test("where something jumps into the middle of a loop, from inside of it too", () => {
    expect(layout()).toMatchObject({ needsEntry: true, entersLoops: true });
  });

  test("where a turn begins in the middle", () => {
    expect(layout({ entries: [2] }, simple)).toMatchObject({ needsEntry: true, entersLoops: false });
  });

  test("where lanes may wait in the middle of a loop, not at its first block", () => {
    expect(layout({ waiting: [2] }, simple)).toMatchObject({ needsEntry: true, entersLoops: true });
    expect(layout({ waiting: [1] }, simple)).toMatchObject({ needsEntry: false, entersLoops: false });
  });
});

test("blocks before the start are not reached, nor part of the layout", () => {
  const from = layout({ start: 4 });
  expect([...from.reachable]).toEqual(expect.arrayContaining([4]));
  expect(from.reachable.has(0)).toBe(false);
  expect(from.root.start).toBe(4);
});
