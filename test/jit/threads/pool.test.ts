import { expect, test, vi } from "vitest";
import { type Launch, workerPool } from "../../../src/jit/threads/pool.ts";

const started = vi.hoisted((): { onEnd(reason: unknown): void }[] => []);
vi.mock("../../../src/jit/threads/host-workers.ts", () => ({
  hostCores: () => 2,
  startWorker: (_: string, events: (typeof started)[number]) => {
    started.push(events);
    return { post: () => {}, hold: () => {} };
  },
}));

test("where the host allows no workers it is not asked again, and launches learn it", () => {
  const lost: unknown[] = [];
  const launch: Launch = { look: () => {}, lost: (reason) => lost.push(reason) };
  const invite = (): number => workerPool.invite(launch, 2, () => ({ tells: true }) as never);
  expect(invite()).toBe(2);
  // One that has ended for a reason of its own is replaced.
  started[0]!.onEnd(new Error("of its own"));
  expect(invite()).toBe(2);
  expect(started).toHaveLength(3);
  for (const worker of started.slice(1)) worker.onEnd(null);
  expect(lost).toEqual([new Error("of its own"), null, null]);
  expect(invite()).toBe(0);
  expect(started).toHaveLength(3);
});
