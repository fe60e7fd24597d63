import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Device } from "../../src/runtime/index.ts";

/*
 * Programs, each after `==== name`, with `// launch: kernel grid block` for each launch (`k 1 64` if there is none).
 * They run with all sanitizers: `// report: data-race` at the end of a line expects that report there, and nothing else
 * may be reported. A body without a kernel gets one, with the registers and the memory that `frame` declares.
 */
const folder = new URL("race/", import.meta.url);

/** `s`: shared, `g`: global memory of zeros; %t and %b: the thread and the block; %sa and %ga: where its words are. */
const frame = (body: string) => `.version 9.0
.target sm_90
.address_size 64
.global .align 16 .b32 g[4096];
.global .align 8 .b32 data, flag, turn, count;
.shared .align 16 .b32 s[1024];
.shared .align 8 .b32 sflag, sdata;
.visible .entry k(.param .u64 out)
{
    .reg .b32 %t, %b, %n, %i, %r<8>, %sa;
    .reg .b64 %o, %ga, %d<4>;
    .reg .b16 %h<4>;
    .reg .pred p, q;
    ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x;
    mov.u32 %b, %ctaid.x;
    mov.u32 %n, %ntid.x;
    mad.lo.u32 %i, %b, %n, %t;
    mad.wide.u32 %o, %i, 4, %o;
    mov.u32 %sa, s;
    mad.lo.u32 %sa, %t, 4, %sa;
    mov.u64 %ga, g;
    mad.wide.u32 %ga, %i, 4, %ga;
${body}
    ret;
}
`;

const cases = readdirSync(folder)
  .filter((file) => file.endsWith(".txt"))
  .map((file) => {
    const [, ...parts] = readFileSync(new URL(file, folder), "utf8").split(/^==== /m);
    return { file, parts: parts.map((c) => [c.slice(0, c.indexOf("\n")), c.slice(c.indexOf("\n") + 1)] as const) };
  });

test("there are cases enough", () => {
  expect(cases.flatMap(({ parts }) => parts).length).toBeGreaterThan(40);
});

/** The reports of a program's launches on a device of its own, as line and code. */
function reportsOf(body: string, text: string, seed?: number): string[] {
  const launches = [...body.matchAll(/^\/\/ launch: (\w+) (\d+) (\d+)$/gm)].map(([, kernel, grid, block]) => ({
    kernel: kernel!,
    size: { grid: Number(grid), block: Number(block) },
  }));
  const device = new Device({ sanitize: "all", maxSteps: 2_000_000, ...(seed === undefined ? {} : { seed }) });
  const out = device.buffer("u32", 4096);
  const module = device.load(text);
  const all = launches.length === 0 ? [{ kernel: "k", size: { grid: 1, block: 64 } }] : launches;
  const found = all.flatMap(({ kernel, size }) => module.kernel(kernel).launch({ ...size, args: [out] }).reports);
  return found.map((r) => `${r.source.position(r.span.start).line} ${r.code}`).sort();
}

describe.each(cases)("$file", ({ parts }) => {
  test.each(parts)("%s", (_, body) => {
    const text = body.includes(".entry") ? body : frame(body);
    const wanted = text
      .split("\n")
      .flatMap((line, i) => (/\/\/ report: data-race$/.test(line) ? [`${i + 1} data-race`] : []));
    expect(reportsOf(body, text)).toEqual(wanted.sort());
    if (wanted.length > 0) return;
    for (const seed of [1, 2, 3]) expect(reportsOf(body, text, seed)).toEqual([]);
  });
});
