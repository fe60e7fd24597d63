// Markdown tables out of files that `lanewise bench --json` has written: `node bench/table.mjs A.json [B.json…]`. The first file
// gives the whole table; of the others, one for each Node, times and ratios to C.
import { readFileSync } from "node:fs";

const [first, ...others] = process.argv.slice(2).map((path) => JSON.parse(readFileSync(path, "utf8")));
if (first === undefined) {
  console.error("usage: node bench/table.mjs A.json [B.json…]");
  process.exit(2);
}

const shown = (x, digits = 3) =>
  x === undefined ? "" : x >= 100 ? x.toFixed(0) : x >= 1 ? x.toPrecision(digits) : x.toFixed(digits);
const ratio = (a, b) => (a === undefined || b === undefined ? undefined : a / b);
const mean = (values) => {
  const known = values.filter((v) => v !== undefined);
  return known.length === 0 ? undefined : Math.exp(known.reduce((sum, v) => sum + Math.log(v), 0) / known.length);
};
const line = (cells) => `| ${cells.join(" | ")} |`;
const table = (head, rows) => [
  line(head),
  line(head.map((_, i) => (i === 0 ? "---" : "---:"))),
  ...rows.map((row) => line(row)),
];

const columns = [
  ["first run", (k) => k.jit?.firstMs],
  ["one thread", (k) => k.jit?.ms],
  ["all threads", (k) => k.jitAllThreads?.ms],
  ["C", (k) => k.native?.ms],
  ["tuned C", (k) => k.tuned?.ms],
  ["PoCL", (k) => k.pocl?.ms],
  ["/ C", (k) => ratio(k.jit?.ms, k.native?.ms), true],
  ["/ tuned C", (k) => ratio(k.jit?.ms, k.tuned?.ms), true],
  ["/ PoCL", (k) => ratio(k.jit?.ms, k.pocl?.ms), true],
  ["all threads: times as fast", (k) => ratio(k.jit?.ms, k.jitAllThreads?.ms), true],
  ["interpreter /", (k) => ratio(k.interpreter?.ms, k.jit?.ms), true],
].filter(([, of]) => first.kernels.some((k) => of(k) !== undefined));

const body = first.kernels.map((k) => [k.name, ...columns.map(([, of, isRatio]) => shown(of(k), isRatio ? 2 : 3))]);
const means = [
  "geometric mean",
  ...columns.map(([, of, isRatio]) => (isRatio ? shown(mean(first.kernels.map(of)), 3) : "")),
];
console.log(`${first.machine}, Node ${first.node}, medians of at least ${first.runs} runs, milliseconds\n`);
console.log(table(["kernel", ...columns.map(([name]) => name)], [...body, means]).join("\n"));

if (others.length > 0) {
  const all = [first, ...others];
  const toC = (file, name) => {
    const k = file.kernels.find((other) => other.name === name);
    return ratio(k?.jit?.ms, k?.native?.ms);
  };
  const rows = first.kernels.map(({ name }) => [name, ...all.map((file) => shown(toC(file, name), 2))]);
  const foot = [
    "geometric mean",
    ...all.map((file) => shown(mean(file.kernels.map(({ name }) => toC(file, name))), 3)),
  ];
  console.log(
    `\n${table(["kernel, one thread / C", ...all.map((file) => `Node ${file.node}`)], [...rows, foot]).join("\n")}`,
  );
}
