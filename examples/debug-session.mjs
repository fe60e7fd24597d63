// Who wrote y[7], and what was there before? Runs to the end, and goes back.
import { readFileSync } from "node:fs";
import { Device } from "lanewise";
import { assemblyPlace, formatValue, Session } from "lanewise/debugger";

const device = new Device();
const ptx = readFileSync(new URL("saxpy.ptx", import.meta.url), "utf8");
const saxpy = device.load({ path: "saxpy.ptx", text: ptx }).kernel("saxpy");
const [x, y] = [new Float32Array(32).fill(3), new Float32Array(32).fill(1)].map((values) => device.buffer(values));
const launch = (onOutput) => saxpy.begin({ grid: 1, block: 32, args: [32, 2.5, x, y], onOutput });

const session = new Session(device.memory, [launch]);
const end = session.finish(session.continue());
const written = session.finish(session.lastWrite(`[${y.address + 28n}]:f32`));
const [{ old, now }] = written.watchpoints;
const [before, after] = [old, now].map((bytes) => formatValue({ bytes, type: "f32" }));
const { line } = assemblyPlace(session.view.frame.site);
console.log(`the ${end.reason} is time ${end.time}`);
console.log(
  `line ${line}, time ${written.time}, thread ${formatValue(session.evaluate("tid.x"))}: ${before} -> ${after}`,
);
console.log(`%a is ${formatValue(session.evaluate("%a"))}, %x ${formatValue(session.evaluate("%x"))}`);
