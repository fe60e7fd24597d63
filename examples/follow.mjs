// Draws what the lanes of a warp do: node examples/follow.mjs FILE.ptx [KERNEL]. The kernel gets one buffer of 32
// words.
import { readFileSync } from "node:fs";
import { Device } from "lanewise";
import { laneChart, laneGroups } from "./lane-chart.mjs";
import { traceLanes } from "./lane-trace.mjs";

const [path, name] = process.argv.slice(2);
if (path === undefined) {
  console.error("usage: node examples/follow.mjs FILE.ptx [KERNEL]");
  process.exit(2);
}
const device = new Device();
const module = device.load({ path, text: readFileSync(path, "utf8") });
const { observer, trace } = traceLanes();
const out = device.buffer("u32", 32);
module.kernel(name ?? module.kernels[0]).launch({ grid: 1, block: 32, args: [out], observers: [observer] });
console.log(`${laneChart(trace, { width: process.stdout.columns ?? 80 })}\n\n${laneGroups(trace)}`);
