import { describe, expect, test, vi } from "vitest";
import { GroupChecks } from "../../src/jit/compile/memory/group-checks.ts";
import type { Report } from "../../src/machine/reports/report.ts";
import { Device, type EngineName } from "../../src/runtime/index.ts";
import { wasm } from "../../src/wasm/index.ts";
import { compareOutcomes } from "../fuzz/compare.ts";
import { engines } from "../fuzz/engine.ts";
import { linesOf, programOf, withLines } from "../fuzz/program.ts";
import { casesIn, inFrame, launchesOf } from "./race-programs.ts";

/*
 * Compiled code that watches itself finds what the interpreter finds, which explains it: the same programs have the
 * same reports with both.
 */

/** All that a report says. */
const textOf = ({ code, message, help, span, threads, count, notes, related }: Report): string =>
  JSON.stringify({
    code,
    message,
    help,
    span,
    threads,
    count,
    notes,
    related: related?.map((r) => [r.message, r.span]),
  });

function outcomeOf(body: string, engine: EngineName) {
  const device = new Device({ sanitize: "all", engine });
  const out = device.buffer("u32", 4096);
  const module = device.load(inFrame(body));
  const results = launchesOf(body).map(({ kernel, size }) => module.kernel(kernel).launch({ ...size, args: [out] }));
  const reports = results.flatMap((r) => r.reports.map(textOf));
  // Which of several racing threads comes last, nobody promises.
  return {
    reports,
    memory: reports.length > 0 ? null : out.read().slice(0, 128).join(),
    ranBy: results.map((r) => r.engine),
  };
}

describe.each([...casesIn("race"), ...casesIn("watched")])("$file", ({ parts }) => {
  test.each(parts)("%s", (_, body) => {
    const { ranBy, ...found } = outcomeOf(body, "jit");
    const { ranBy: __, ...wanted } = outcomeOf(body, "interpreter");
    expect(found).toEqual(wanted);
    const asked = /^\/\/ engine: (\w+)$/m.exec(body)?.[1];
    if (asked !== undefined) expect(ranBy).toEqual(ranBy.map(() => asked));
  });
});

/** The program without one of the lines that order what its threads do; null if there is none. */
function withoutOrder(seed: number) {
  const program = programOf("barriers", seed);
  const lines = linesOf(program);
  const places = lines.flatMap((line, i) => (/^ *(bar|barrier)\./.test(line) ? [i] : []));
  const left = places[seed % places.length];
  return left === undefined ? null : withLines(program, lines.toSpliced(left, 1));
}

test("a barrier that is missing is found", { timeout: 300_000 }, () => {
  let found = 0;
  for (let seed = 1; seed <= 40; seed++) {
    const program = withoutOrder(seed);
    if (program === null) continue;
    const wanted = engines.watched.run(program);
    if (wanted.reports.some((report) => report.startsWith("no-progress"))) continue;
    const names = ["interpreter", "compiled code"] as const;
    expect([seed, compareOutcomes(wanted, engines.watching.run(program), names)]).toEqual([seed, null]);
    if (wanted.reports.length > 0) found++;
  }
  expect(found).toBeGreaterThan(10);
});

/** A tile is written by rows and read by columns, in blocks whose rows are chunks: numbers in a row are constants. */
const tile = `.version 8.0
.target sm_80
.address_size 64
.visible .entry tile(.param .u64 out) {
  .reg .b32 %x, %y, %a, %v; .reg .b64 %d, %e;
  .shared .align 16 .b8 first[1024];
  .shared .align 16 .b8 second[1024];
  mov.u32 %x, %tid.x;
  mov.u32 %y, %tid.y;
  shl.b32 %x, %x, 2;
  shl.b32 %y, %y, 6;
  mov.u32 %a, second;
  add.u32 %a, %a, %x;
  add.u32 %v, %a, %y;
  st.shared.u32 [%v], %x;
  bar.sync 0;
  ld.shared.u32 %v, [%a+64];
  ld.param.u64 %d, [out];
  mad.wide.u32 %e, %y, 1, %d;
  cvt.u64.u32 %d, %x;
  add.u64 %d, %d, %e;
  st.global.u32 [%d], %v;
  ret;
}`;

test("what is noted of a known address is found without looking for it", () => {
  const verify = vi.spyOn(GroupChecks.prototype, "verify");
  const device = new Device({ sanitize: "all", engine: "jit" });
  const out = device.buffer("u32", 4096);
  const result = device
    .load(tile)
    .kernel("tile")
    .launch({ grid: 1, block: [16, 16], args: [out] });
  const checks = verify.mock.results.map(({ value: { ok } }) => ok);
  vi.restoreAllMocks();
  expect([result.engine, result.reports]).toEqual(["jit", []]);
  expect(checks).toContainEqual(wasm.i32(1));
  expect(checks).not.toContainEqual(wasm.i32(0));
});

/** Threads walk along a row of shared memory: the address is in a register that a loop reads, and not computed there. */
const row = `.version 8.0
.target sm_80
.address_size 64
.visible .entry row(.param .u64 out) {
  .reg .b32 %x, %a, %u, %v, %i; .reg .b64 %d; .reg .pred %p, %q;
  .shared .align 4 .b8 node[1024];
  ld.param.u64 %d, [out];
  mov.u32 %x, %tid.x;
  shl.b32 %a, %x, 2;
  mov.u32 %i, node;
  add.u32 %a, %i, %a;
  st.shared.u32 [%a], %x;
  mov.u32 %i, 128;
  mov.u32 %u, 0;
LOOP:
  sub.u32 %i, %i, 1;
  bar.sync 0;
  setp.ge.u32 %p, %x, %i;
  @%p bra SKIP;
  ld.shared.u32 %u, [%a+4];
  ld.shared.u32 %v, [%a];
  add.u32 %u, %u, %v;
SKIP:
  bar.sync 0;
  @%p bra NEXT;
  st.shared.u32 [%a], %u;
NEXT:
  setp.ne.u32 %q, %i, 1;
  @%q bra LOOP;
  mad.wide.u32 %d, %x, 4, %d;
  st.global.u32 [%d], %u;
  ret;
}`;

test("what is noted of an address is checked apart from what lies there", () => {
  const verify = vi.spyOn(GroupChecks.prototype, "verify");
  const device = new Device({ sanitize: "all", engine: "jit" });
  const out = device.buffer("u32", 4096);
  const result = device
    .load(row)
    .kernel("row")
    .launch({ grid: 1, block: 128, args: [out] });
  const shared = verify.mock.calls.filter(([{ access }]) => access.space === "shared");
  vi.restoreAllMocks();
  expect([result.engine, result.reports]).toEqual(["jit", []]);
  expect(shared.length).toBeGreaterThan(0);
  // No variable has what lies there and what is noted of it, which is a kilobyte further on.
  expect(Math.max(...shared.map(([{ range }]) => range.size))).toBeLessThanOrEqual(8);
});
