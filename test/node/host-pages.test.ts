import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { DeviceMemory } from "../../src/machine/memory/memory.ts";
import { addonFile } from "../../src/node/exec/native.ts";
import { givesBackLarge, largePages } from "../../src/node/host-pages.ts";

/** Bytes of this process that the system may keep in large pages because it was asked to. */
const largeBytes = (): number =>
  readFileSync("/proc/self/smaps", "utf8")
    .split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m)
    .filter((area) => /^VmFlags:.* hg\b/m.test(area))
    .reduce((sum, area) => sum + 1024 * Number(/^Size: +(\d+)/m.exec(area)![1]), 0);

const isKnown = addonFile() !== null && /^VmFlags:/m.test(readFileSync("/proc/self/smaps", "utf8"));

test.skipIf(!isKnown)("the system is asked to keep a device of many bytes in large pages, and no small one", () => {
  const before = largeBytes();
  const small = new DeviceMemory(null, largePages);
  small.alloc(3 * 2 ** 20);
  expect(largeBytes()).toBe(before);
  const large = new DeviceMemory(null, largePages);
  const at = large.alloc(32 * 2 ** 20);
  expect(largeBytes() - before).toBe(large.views.u8.length);
  large.views.u8[at + 5] = 1;
  large.alloc(32 * 2 ** 20);
  expect(largeBytes() - before).toBe(large.views.u8.length);
  expect([large.views.u8[at + 4], large.views.u8[at + 5]]).toEqual([0, 1]);
});

test.each([
  // What Linux 6 says: of a machine whose host takes free memory of two megabytes and more, of one that takes less and
  // more, of one that takes four megabytes and more, and where none is given back.
  ["9\n", true],
  ["7\n", true],
  ["10\n", false],
  ["-1\n", false],
  ["4294967295\n", false],
  ["", false],
])("page_reporting_order %j: large pages go back to the host: %s", (order, expected) => {
  expect(givesBackLarge(order)).toBe(expected);
});
