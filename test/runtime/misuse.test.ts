import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { Device, struct } from "../../src/index.ts";

/** A case of misuse.txt, which says what is in it. */
interface Misuse {
  readonly title: string;
  readonly code: string;
  readonly target: string;
  readonly block: number;
  readonly grid: number;
  readonly cluster: number | null;
  readonly isSanitized: boolean;
  readonly body: readonly string[];
}

const setting = /^(?:target (?<target>\w+)|block (?<block>\d+)|grid (?<grid>\d+), cluster (?<cluster>\d+)|sanitize)$/;

function caseOf(text: string): Misuse {
  const [title, ...lines] = text.trim().split("\n");
  const groups = Object.assign({}, ...lines.map((line) => ({ ...setting.exec(line)?.groups })).map(given));
  return {
    title: title!,
    code: title!.split(",")[0]!,
    target: groups.target ?? "sm_100a",
    block: Number(groups.block ?? 32),
    grid: Number(groups.grid ?? 1),
    cluster: groups.cluster === undefined ? null : Number(groups.cluster),
    isSanitized: lines.includes("sanitize"),
    body: lines.filter((line) => !setting.test(line)),
  };
}

const given = (groups: Record<string, string | undefined>) =>
  Object.fromEntries(Object.entries(groups).filter(([, value]) => value !== undefined));

const file = readFileSync(new URL("misuse.txt", import.meta.url), "utf8");
const cases = file.split(/^## /m).slice(1).map(caseOf);

const head = (target: string): readonly string[] => [
  ".version 8.7",
  `.target ${target}`,
  ".address_size 64",
  ".visible .entry k(.param .u64 in, .param .align 64 .b8 map[128]) {",
  ".shared .align 1024 .b8 tile[4096]; .shared .align 8 .b64 bars[8]; .shared .align 4 .b32 slot;",
  ".reg .b32 %r<8>, %t, %s; .reg .b64 %d<4>, %in; .reg .f32 %f<4>; .reg .pred %p<3>;",
  "mov.u32 %t, %tid.x; mov.u32 %s, tile; mad.lo.u32 %s, %t, 16, %s;",
  "ld.param.u64 %in, [in]; cvta.to.global.u64 %in, %in;",
];

const perEngine = cases.flatMap((c) =>
  (c.isSanitized ? (["interpreter"] as const) : (["interpreter", "jit"] as const)).map((engine) => ({ ...c, engine })),
);

test.each(perEngine)("$title, by the $engine", ({ engine, code, target, block, grid, cluster, isSanitized, body }) => {
  const before = head(target);
  const text = [...before, ...body.map((line) => line.replace(/^>> /, "")), "ret;", "}"].join("\n");
  const device = new Device({ engine });
  const result = device
    .load(text)
    .kernel("k")
    .launch({
      grid,
      block,
      ...(cluster === null ? {} : { cluster }),
      args: [device.buffer("u32", 1024), struct(new Uint8Array(128))],
      ...(isSanitized ? { sanitize: "all" as const } : {}),
    });
  expect(result.engine).toBe(engine);
  const [report] = result.reports.map(({ code: found, source, span }) => ({
    code: found,
    line: source.position(span.start).line,
  }));
  expect(report).toEqual({ code, line: before.length + body.findIndex((line) => line.startsWith(">> ")) + 1 });
});
