import { readFileSync } from "node:fs";
import { Device, Profiler, profileOf } from "lanewise";

const device = new Device();
const ptx = readFileSync(new URL("transpose.ptx", import.meta.url), "utf8");
const transpose = device.load({ path: "transpose.ptx", text: ptx }).kernel("transpose");
const profiler = new Profiler();
const args = [device.buffer(new Uint32Array(1024)), device.buffer("u32", 1024)];
transpose.launch({ grid: 1, block: [32, 8], args, observers: [profiler] });
for (const { line, counts } of profileOf(profiler).lines) {
  if (counts.sharedConflicts > 0)
    console.log(`line ${line}: ${counts.sharedPasses} passes, ${counts.sharedRequests} needed`);
}
