import { expect, test } from "vitest";
import { Device, UsageError } from "../../src/index.ts";

const header = ".version 9.0\n.target sm_90\n.address_size 64\n";
const empty = `${header}.entry k() { ret; }`;
const store = `${header}.entry k(.param .u64 p) {
  .reg .b64 a;
  ld.param.u64 a, [p];
  st.u32 [a], 7;
  ret;
}`;

test("a limit ends a grid of blocks that are each within it", () => {
  const kernel = new Device().load(empty).kernel("k");
  const result = kernel.launch({ grid: 10_000, block: 32, maxSteps: 1000 });
  expect(result.reports.map((r) => r.code)).toEqual(["no-progress"]);
  expect(result.steps).toBeLessThan(10_000);
  expect(kernel.launch({ grid: 10, block: 32, maxSteps: 1000 }).ok).toBe(true);
});

test("a module whose variables do not fit is a usage error, and the device remains usable", () => {
  const device = new Device();
  expect(() => device.load(`${header}.global .b8 x[8000000000];`)).toThrow(UsageError);
  expect(device.load(empty).kernel("k").launch({ grid: 1, block: 1 }).ok).toBe(true);
});

test.each([
  ["interpreter", 1],
  ["jit", 1],
  ["jit", 2],
] as const)("a buffer may lie beyond 2 GiB: %s, %i threads", (engine, hostThreads) => {
  const device = new Device({ engine, hostThreads });
  const bytes = 5 * 2 ** 29;
  const large = device.buffer("u32", bytes / 4);
  const { ok } = device
    .load(store)
    .kernel("k")
    .launch({ grid: 1, block: 1, args: [large.at(bytes - 4)] });
  expect(ok).toBe(true);
  expect([...device.memory.read(large.offset + bytes - 4, 4)]).toEqual([7, 0, 0, 0]);
});

test("memory that was used and freed is zero when it is given again", () => {
  const device = new Device();
  const first = device.buffer("u32", 100).write(new Array(100).fill(1));
  first.free();
  const second = device.buffer("u32", 100);
  expect(second.offset).toBe(first.offset);
  expect([...second.read()]).toEqual(new Array(100).fill(0));
});

test("launches leave nothing behind in the device", () => {
  const device = new Device();
  const kernel = device.load(store).kernel("k");
  const target = device.buffer("u32", 1);
  const before = device.memory.allocations.length;
  for (let i = 0; i < 2000; i++) kernel.launch({ grid: 2, block: 64, args: [target], sanitize: "all" });
  expect(device.memory.allocations.length).toBe(before);
});

test("a million blocks", () => {
  const kernel = new Device().load(empty).kernel("k");
  const result = kernel.launch({ grid: 1_000_000, block: 32, engine: "interpreter" });
  expect([result.ok, result.steps]).toEqual([true, 32_000_000]);
  expect(kernel.launch({ grid: 1_000_000, block: 32, engine: "jit" }).ok).toBe(true);
});
