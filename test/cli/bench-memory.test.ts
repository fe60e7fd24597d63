import { expect, test } from "vitest";
import { elementsInPages } from "../../bench/suite/copies.ts";
import { HostMemory } from "../../bench/suite/memory.ts";
import { collectGarbage } from "../../bench/suite/run.ts";

const megabytes = 2 ** 20;
const isLinux = process.platform === "linux";

/** Allocates memory and writes to it, so that it counts. */
const written = (bytes: number): Uint8Array => elementsInPages("u8", bytes).bytes.fill(1);

test.runIf(isLinux)("memory that was used and freed counts, the given data does not", () => {
  const most = (data: number, run: () => void): number => {
    const memory = new HostMemory();
    memory.during(data, run);
    return memory.most! / megabytes;
  };
  const nothing = most(0, () => {});
  const passing = most(0, () => {
    written(64 * megabytes);
    collectGarbage();
  });
  expect(passing - nothing).toBeGreaterThan(60);
  expect(passing - nothing).toBeLessThan(90);
  expect(most(64 * megabytes, () => void written(64 * megabytes)) - nothing).toBeLessThan(26);
  collectGarbage();
  expect(most(0, () => {}) - nothing).toBeLessThan(26);
});

test.runIf(isLinux)("the maximum of several measurements is kept", () => {
  collectGarbage();
  const memory = new HostMemory();
  memory.during(0, () => {
    written(32 * megabytes);
    collectGarbage();
  });
  const first = memory.most!;
  memory.during(0, () => {});
  expect(memory.most).toBe(first);
});
