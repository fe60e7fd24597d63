import { readFileSync } from "node:fs";
import { Device } from "lanewise";

const device = new Device();
const ptx = readFileSync(new URL("saxpy.ptx", import.meta.url), "utf8");
const saxpy = device.load({ path: "saxpy.ptx", text: ptx }).kernel("saxpy");
const x = device.buffer(new Float32Array([1, 2, 3, 4]));
const y = device.buffer("f32", 4);
const result = saxpy.launch({ grid: 1, block: 32, args: [4, 2.5, x, y], sanitize: "all" });
for (const report of result.reports) console.error(report.message);
console.log(result.ok, y.read().join(" "));
