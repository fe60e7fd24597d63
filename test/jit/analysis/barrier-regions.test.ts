import { describe, expect, test } from "vitest";
import { barrierRegionsOf, graphOf, rowOf, touchedIn } from "../../../src/jit/compile/analysis/flow/barrier-regions.ts";
import { Analysed } from "./analysed.ts";

const begin = "mov.u32 %r0, %tid.x; ld.param.u32 %s0, [n]; ld.param.u64 %x0, [x];\n";

/** Two barriers one after the other: lines 2 and 4. */
const straight = new Analysed(`${begin}add.u32 %r1, %r0, 1; st.global.u32 [%x0], %r1;
bar.sync 0;
add.u32 %r2, %r0, 2; st.global.u32 [%x0], %r2;
bar.sync 0;
add.u32 %r3, %r0, 3; st.global.u32 [%x0], %r3;
ret;`);

/** A barrier in a loop: line 2. */
const loop = new Analysed(`${begin}mov.u32 %r1, 0;
LOOP: bar.sync 0;
add.u32 %r1, %r1, 1;
setp.lt.u32 %p0, %r1, %s0;
@%p0 bra LOOP;
ret;`);

const regionsOf = ({ code, pauses }: Analysed) => barrierRegionsOf(code, pauses.barriers)!;

test("a region goes from the beginning, or from after a barrier, to the barriers that come next", () => {
  const lines = [1, 3, 5].map((line) => straight.blockOf(line));
  const regions = regionsOf(straight);
  expect(regions.map(({ start }) => start)).toEqual([straight.blockOf(0), lines[1], lines[2]]);
  regions.forEach(({ blocks }, i) => {
    expect(lines.map((block) => blocks.has(block))).toEqual(lines.map((_, k) => k === i));
  });
});

test("the region after a barrier in a loop contains the way around to it", () => {
  const [, second] = regionsOf(loop);
  expect(second!.start).toBe(loop.blockOf(3));
  expect([2, 3, 6].every((line) => second!.blocks.has(loop.blockOf(line)))).toBe(true);
});

describe("all chunks go through regions in a row", () => {
  test("where each ends at the barrier with which the next one begins", () => {
    const { code, pauses } = straight;
    expect(rowOf(regionsOf(straight), code, pauses.barriers)).toHaveLength(3);
  });

  test("up to a barrier at which several regions end", () => {
    const { code, pauses } = loop;
    expect(rowOf(regionsOf(loop), code, pauses.barriers)).toHaveLength(1);
  });
});

test("the graph of a region ends at its barriers", () => {
  const { code, pauses } = straight;
  const regions = regionsOf(straight);
  const { blocks } = graphOf(code.graph, regions[0], pauses.barriers);
  const last = Math.max(...Object.keys(blocks).map(Number));
  expect(blocks[last]!.successors).toEqual([]);
});

test("a region touches what its instructions read or write", () => {
  const { touched, written } = touchedIn(straight.code, regionsOf(straight)[1]!);
  expect(touched.has(straight.number("%x0"))).toBe(true);
  expect(written.has(straight.number("%x0"))).toBe(false);
  expect(written.has(straight.number("%r2"))).toBe(true);
  expect(touched.has(straight.number("%r3"))).toBe(false);
});
