import { readFileSync } from "node:fs";
import { Device } from "lanewise";
import { parse } from "yaml";

const read = (path) => readFileSync(new URL(path, import.meta.url), "utf8");
const device = new Device();
const program = { path: "saxpy.visaasm", text: read("saxpy.visaasm") };
const saxpy = device.load(program, { target: "skl", zeinfo: parse(read("saxpy.yaml")) }).kernel("saxpy");
const x = device.buffer(new Float32Array([1, 2, 3, 4]));
const y = device.buffer("f32", 4);
const result = saxpy.launch({ global: 16, local: 16, args: [4, 2.5, x, y], sanitize: "all" });
for (const report of result.reports) console.error(report.message);
console.log(result.ok, y.read().join(" "));
