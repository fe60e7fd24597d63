import { expect, test } from "vitest";
import { Device } from "../../src/index.ts";

// In a launch without clusters each block is one. Blocks that follow each other find its barrier as the first one did,
// whatever the one before has left: threads that have arrived and never waited, and threads that ended before others.
test.each([
  ["arrive and never wait", "barrier.cluster.arrive;"],
  ["arrive, wait, and arrive once more", "barrier.cluster.arrive; barrier.cluster.wait; barrier.cluster.arrive;"],
  ["end before others come", "setp.lt.u32 %p, %t, 40; @%p exit; barrier.cluster.arrive; barrier.cluster.wait;"],
])("blocks whose threads %s", (_, body) => {
  const device = new Device({ engine: "interpreter" });
  const kernel = device
    .load(`.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .b64 %out; .reg .b32 %t; .reg .pred %p;
  ld.param.u64 %out, [out]; mov.u32 %t, %tid.x;
  red.global.add.u32 [%out], 1;
  ${body}
  ret;
}`)
    .kernel("k");
  const out = device.buffer("u32", 1);
  const { reports } = kernel.launch({ grid: 5, block: 64, args: [out] });
  expect(reports).toEqual([]);
  expect(out.read()[0]).toBe(320);
});
