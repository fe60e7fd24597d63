import { expect, test, vi } from "vitest";
import { type Launch, workerPool } from "../../../src/jit/threads/pool.ts";

const started = vi.hoisted((): { onEnd(reason: unknown): void }[] => []);
const posted = vi.hoisted((): ({ code: unknown } | null)[] => []);
const timers = vi.hoisted(() => new Set<() => void>());
vi.mock("../../../src/jit/threads/host-workers.ts", () => ({
  hostCores: () => 2,
  startWorker: (_: string, events: (typeof started)[number]) => {
    started.push(events);
    return { post: (message: { code: unknown } | null) => posted.push(message), hold: () => {} };
  },
  later: (_: number, run: () => void) => {
    timers.add(run);
    return () => timers.delete(run);
  },
}));

test("a worker is given code once, until it has been idle and has forgotten it", () => {
  const launch: Launch = { look: () => {}, lost: () => {} };
  const module = new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0));
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
  const code = { module, tiles: null, memory, native: null, functions: [], clock: null };
  const launches = (clock: string | null, count: number) => {
    for (let i = 0; i < count; i++) {
      workerPool.invite(launch, 1, { ...code, clock }, () => ({ tells: true }) as never);
      workerPool.dismiss(launch);
    }
    return posted.splice(0).map((message) => message?.code !== null);
  };
  expect(launches(null, 3)).toEqual([true, false, false]);
  expect(launches("clock", 2)).toEqual([true, false]);
  expect(timers.size).toBe(1);
  for (const run of timers) run();
  expect(posted.splice(0)).toEqual([null]);
  timers.clear();
  expect(launches("clock", 2)).toEqual([true, false]);
  started.pop()!.onEnd(new Error("of its own"));
});

test("where the host allows no workers it is not asked again, and launches learn it", () => {
  const lost: unknown[] = [];
  const launch: Launch = { look: () => {}, lost: (reason) => lost.push(reason) };
  const invite = (): number => workerPool.invite(launch, 2, {} as never, () => ({ tells: true }) as never);
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
