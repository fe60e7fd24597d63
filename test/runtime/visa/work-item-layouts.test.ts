import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { Device, scalar } from "../../../src/index.ts";
import type { Dim3 } from "../../../src/machine/reports/report.ts";
import { DeviceCore } from "../../../src/runtime/device/device-core.ts";
import { compileVisa } from "../../../src/runtime/visa/compile.ts";

const read = (suffix: string): string =>
  readFileSync(new URL(`../../../bench/visa/opencl/saxpy.skl.16.${suffix}`, import.meta.url), "utf8");
const source = { path: "k.visaasm", text: read("visaasm") };
const options = { isa: "visa", target: "skl", zeinfo: parse(read("yaml")) } as const;

test("launches that are alike have one model, and parameters of their own", () => {
  const device = new DeviceCore();
  const { memory } = device;
  const { program } = compileVisa([source], options);
  const section = () => ({ address: 0n, bytes: 0 });
  const [x, y, z] = [0, 1, 2].map(() => device.buffer("f32", 64));
  const plan = (local: Dim3, ...buffers: readonly unknown[]) =>
    program!.plan("saxpy", [64, 1, 1], local, [scalar("s32", 64), scalar("f32", 2), ...(buffers as [])], {
      memory,
      section,
    }).request;
  const first = plan([64, 1, 1], x, y);
  const second = plan([32, 1, 1], y, z);
  expect(second.threads!.items).toBeDefined();
  expect(second.threads!.items).toBe(first.threads!.items);
  expect(second.params).not.toEqual(first.params);
  expect(plan([64, 1, 1], x, y).params).toEqual(first.params);
});

test("a kernel is launched with other buffers, numbers and sizes in turn", () => {
  const device = new Device();
  const kernel = device.load(source, options).kernel("saxpy");
  for (let round = 0; round < 4; round++) {
    const n = 48 + 16 * round;
    const x = device.buffer(Float32Array.from({ length: n }, (_, i) => i + round));
    const y = device.buffer(Float32Array.from({ length: n }, (_, i) => 1000 * i));
    const local = round % 2 === 0 ? 16 : n;
    const result = kernel.launch({
      global: n,
      local,
      args: [scalar("s32", n - 1), scalar("f32", round), x, y],
    });
    expect(result.reports).toEqual([]);
    expect(result.engine).toBe("jit");
    const expected = Array.from({ length: n }, (_, i) => 1000 * i + (i < n - 1 ? round * (i + round) : 0));
    expect([...y.read()]).toEqual(expected);
  }
});
