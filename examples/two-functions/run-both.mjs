// One computation in PTX and in vISA, each run with an observer that watches the lanes.
import { readFileSync } from "node:fs";
import { Device } from "lanewise";
import { traceLanes } from "../lane-trace.mjs";

const lanes = 16;
const programs = [
  { isa: "PTX", file: "double-or-square.ptx", options: {}, size: { grid: 1, block: lanes } },
  {
    isa: "vISA",
    file: "double-or-square.isaasm",
    options: {
      inputs: [
        { name: "OUT", kind: "arg", type: "u64" },
        { name: "ID", kind: "lane-id", type: "u32" },
      ],
    },
    size: { global: lanes, local: lanes },
  },
];

/** Both programs: what they are, what the kernel has stored for each lane, and where the lanes have been. */
export function runBoth() {
  const device = new Device();
  return programs.map(({ isa, file, options, size }) => {
    const text = readFileSync(new URL(file, import.meta.url), "utf8");
    const kernel = device.load({ path: `examples/two-functions/${file}`, text }, options).kernel("apply");
    const out = device.buffer("u32", lanes);
    const { observer, trace } = traceLanes();
    const { reports } = kernel.launch({ ...size, args: [out], sanitize: "all", observers: [observer] });
    for (const report of reports) console.error(report.message);
    return { isa, file, out: out.read(), trace };
  });
}
