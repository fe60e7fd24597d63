// Lanes that call two functions and come back together, in PTX and in vISA: node examples/two-functions.mjs
import { laneChart } from "./lane-chart.mjs";
import { functionsOf } from "./lane-trace.mjs";
import { runBoth } from "./two-functions/run-both.mjs";

const [ptx, visa] = runBoth();
const columns = [ptx, visa].map(({ trace, out }) =>
  functionsOf(trace).map((names, lane) => [names.join(" "), out[lane]]),
);
const width = Math.max(...columns.flat().map(([names]) => names.length));
const row = (lane, [[a, b], [c, d]]) =>
  `${String(lane).padStart(4)}  ${a.padEnd(width)}  ${String(b).padStart(6)}   ${c.padEnd(width)}  ${String(d).padStart(6)}`;

console.log(
  row("lane", [
    [ptx.isa, "result"],
    [visa.isa, "result"],
  ]),
);
for (const lane of columns[0].keys())
  console.log(
    row(
      lane,
      columns.map((column) => column[lane]),
    ),
  );
for (const { file, trace } of [ptx, visa]) {
  console.log(`\n${file}\n\n${laneChart(trace, { width: process.stdout.columns ?? 80 })}`);
}
