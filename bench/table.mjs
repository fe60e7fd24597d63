// Markdown tables out of files that `lanewise bench --json` has written: `node bench/table.mjs A.json [B.json…]`. The
// first file gives the whole tables, of one thread and of all, with a mean for each group of kernels, or where machine
// code was measured a table of both engines; of the others, one for each Node, ratios to C.
import { readFileSync } from "node:fs";

const [first, ...others] = process.argv.slice(2).map((path) => JSON.parse(readFileSync(path, "utf8")));
if (first === undefined) {
  console.error("usage: node bench/table.mjs A.json [B.json…]");
  process.exit(2);
}

const shown = (x, digits = 3) => (x === undefined ? "" : x >= 100 ? x.toFixed(0) : x.toPrecision(digits));
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

const oneThread = [
  ["first run", (k) => k.jit?.firstMs],
  ["one thread", (k) => k.jit?.ms],
  ["C", (k) => k.native?.ms],
  ["tuned C", (k) => k.tuned?.ms],
  ["PoCL", (k) => k.pocl?.ms],
  ["/ C", (k) => ratio(k.jit?.ms, k.native?.ms), true],
  ["/ tuned C", (k) => ratio(k.jit?.ms, k.tuned?.ms), true],
  ["/ PoCL", (k) => ratio(k.jit?.ms, k.pocl?.ms), true],
  ["interpreter /", (k) => ratio(k.interpreter?.ms, k.jit?.ms), true],
];
const bothEngines = [
  ["compiled", (k) => k.jit?.ms],
  ["native", (k) => k.machineCode?.ms],
  ["C", (k) => k.native?.ms],
  ["PoCL", (k) => k.pocl?.ms],
  ["compiled / C", (k) => ratio(k.jit?.ms, k.native?.ms), true],
  ["native / C", (k) => ratio(k.machineCode?.ms, k.native?.ms), true],
  ["compiled / PoCL", (k) => ratio(k.jit?.ms, k.pocl?.ms), true],
  ["native / PoCL", (k) => ratio(k.machineCode?.ms, k.pocl?.ms), true],
];
const allThreads = [
  ["all threads", (k) => k.jitAllThreads?.ms],
  ["C", (k) => k.nativeAllThreads?.ms],
  ["PoCL", (k) => k.poclAllThreads?.ms],
  ["times as fast as one", (k) => ratio(k.jit?.ms, k.jitAllThreads?.ms), true],
  ["/ C", (k) => ratio(k.jitAllThreads?.ms, k.nativeAllThreads?.ms), true],
  ["/ PoCL", (k) => ratio(k.jitAllThreads?.ms, k.poclAllThreads?.ms), true],
];

/** What the first file has of some columns: `[title, value of a kernel, whether it is a ratio]`. */
function show(wanted) {
  const columns = wanted.filter(([, of]) => first.kernels.some((k) => of(k) !== undefined));
  const groups = [...new Set(first.kernels.map(({ group }) => group))];
  const body = groups.flatMap((group) => {
    const kernels = first.kernels.filter((k) => k.group === group);
    const title = groups.length === 1 ? "geometric mean" : `geometric mean, ${group}`;
    const means = columns.map(([, of, isRatio]) => (isRatio ? shown(mean(kernels.map(of))) : ""));
    return [
      ...kernels.map((k) => [k.name, ...columns.map(([, of, isRatio]) => shown(of(k), isRatio ? 2 : 3))]),
      [title, ...means],
    ];
  });
  console.log(table(["kernel", ...columns.map(([name]) => name)], body).join("\n"));
}

console.log(`${first.machine}, Node ${first.node}, medians of at least ${first.runs} runs, milliseconds\n`);
show(first.kernels.some((k) => k.machineCode !== undefined) ? bothEngines : oneThread);
if (first.kernels.some((k) => k.jitAllThreads !== undefined)) {
  console.log("");
  show(allThreads);
}

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
