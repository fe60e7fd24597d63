// Two queues of launches, which workers run while the caller goes on.
import { readFileSync } from "node:fs";
import { Device } from "lanewise";

const device = new Device({ hostThreads: 2 });
const text = readFileSync(new URL("saxpy.ptx", import.meta.url), "utf8");
const saxpy = device.load({ path: "saxpy.ptx", text }).kernel("saxpy");
const n = 1000;
const ones = device.buffer(new Float32Array(n).fill(1));
const sums = [device.buffer("f32", n), device.buffer("f32", n)];

/** Adds 1, then 2, then 3 to every element of a buffer: launches of one stream run in order. */
const addInOrder = (sum) => {
  const stream = device.stream();
  return [1, 2, 3].map((a) =>
    saxpy.launchAsync({ grid: Math.ceil(n / 256), block: 256, args: [n, a, ones, sum], stream }),
  );
};

const results = await Promise.all(sums.flatMap(addInOrder));
console.log(results.length, "launches,", results.every((result) => result.ok) ? "all well" : "some failed");
console.log(sums.map((sum) => sum.read()[n - 1]).join(" "));

// What goes wrong in a kernel is in the result, and the launches after it run.
const failed = await saxpy.launchAsync({ grid: 1, block: 32, args: [32, 1, 0n, sums[0]] });
console.log(failed.ok, failed.reports[0].code);
