import { expect, test } from "vitest";
import { traceLanes } from "../../examples/lane-trace.mjs";
import { Device } from "../../src/index.ts";

const program = `.version 8.0
.target sm_75
.address_size 64
.func early(.reg .u32 x)
{
    .reg .pred p;
    setp.eq.u32 p, x, 0;
@p  ret;
    mov.u32 x, 0;
    ret;
}
.visible .entry k()
{
    .reg .u32 t;
    mov.u32 t, %tid.x;
    call early, (t);
    exit;
}
`;

const traced = (options?: { warp?: number; most?: number }) => {
  const { observer, trace } = traceLanes(options);
  new Device()
    .load(program)
    .kernel("k")
    .launch({ grid: 1, block: 34, observers: [observer] });
  return trace;
};

test("says at each instruction where the lanes are", () => {
  const { lanes, steps } = traced({ warp: 1 });
  const group = (mask: number, state: string, name: string) => ({ lanes: mask, state, function: name, depth: 1 });
  expect(lanes).toBe(0b11);
  // Threads 32 and 33: none of them has number 0.
  expect(steps.map((s) => [s.line, s.text, s.lanes])).toEqual([
    [15, "mov.u32 t, %tid.x;", 3],
    [16, "call early, (t);", 3],
    [7, "setp.eq.u32 p, x, 0;", 3],
    [9, "mov.u32 x, 0;", 3],
    [10, "ret;", 3],
    [17, "exit;", 3],
    [0, "", 0],
  ]);
  expect(steps[2]?.groups).toEqual([group(3, "runs", "early")]);
});

test("knows those that have returned and wait", () => {
  const step = traced().steps.find((s) => s.line === 9);
  expect(step?.groups).toEqual([
    { lanes: 1, state: "returned", function: "early", depth: 1 },
    { lanes: ~1, state: "runs", function: "early", depth: 1 },
  ]);
});

test("keeps no more than it is asked to", () => expect(traced({ most: 3 }).steps).toHaveLength(3));
