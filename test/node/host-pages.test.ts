import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { DeviceMemory } from "../../src/machine/memory/memory.ts";
import { hostPages } from "../../src/node/host-pages.ts";

const pages = hostPages();

/** Bytes of this process that the system may keep in large pages because it was asked to. */
const largeBytes = (): number =>
  readFileSync("/proc/self/smaps", "utf8")
    .split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m)
    .filter((area) => /^VmFlags:.* hg\b/m.test(area))
    .reduce((sum, area) => sum + 1024 * Number(/^Size: +(\d+)/m.exec(area)![1]), 0);

const isKnown = pages !== null && /^VmFlags:/m.test(readFileSync("/proc/self/smaps", "utf8"));

test.skipIf(!isKnown)("the system is asked to keep a device of many bytes in large pages, and no small one", () => {
  const before = largeBytes();
  const small = new DeviceMemory(null, pages);
  small.alloc(3 * 2 ** 20);
  expect(largeBytes()).toBe(before);
  const large = new DeviceMemory(null, pages);
  const at = large.alloc(32 * 2 ** 20);
  expect(largeBytes() - before).toBe(large.views.u8.length);
  large.views.u8[at + 5] = 1;
  large.alloc(32 * 2 ** 20);
  expect(largeBytes() - before).toBe(large.views.u8.length);
  expect([large.views.u8[at + 4], large.views.u8[at + 5]]).toEqual([0, 1]);
});
