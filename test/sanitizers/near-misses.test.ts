import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Device } from "../../src/index.ts";

/** A case of near-misses.txt, which says what is in it. */
interface Case {
  readonly title: string;
  readonly code: string;
  readonly target: string;
  readonly block: number;
  readonly grid: number;
  readonly cluster: number | undefined;
  readonly wrong: readonly string[];
  readonly right: readonly (readonly string[])[];
}

const setting = /^(?:target (?<target>\w+)|block (?<block>\d+)|grid (?<grid>\d+), cluster (?<cluster>\d+))$/;

function caseOf(text: string): Case {
  const [title, ...lines] = text.trim().split("\n");
  const found: Record<string, string> = {};
  for (const line of lines) {
    for (const [name, value] of Object.entries(setting.exec(line)?.groups ?? {})) if (value) found[name] = value;
  }
  const [wrong, ...right] = lines
    .filter((line) => !setting.test(line))
    .join("\n")
    .split(/^(?:wrong|right):/m)
    .slice(1)
    .map((program) => program.split("|").map((part) => part.trim()));
  return {
    title: title!,
    code: title!.split(":")[0]!,
    target: found["target"] ?? "sm_100a",
    block: Number(found["block"] ?? 64),
    grid: Number(found["grid"] ?? 1),
    cluster: found["cluster"] === undefined ? undefined : Number(found["cluster"]),
    wrong: wrong!,
    right,
  };
}

const file = readFileSync(new URL("near-misses.txt", import.meta.url), "utf8");
const cases = file.split(/^## /m).slice(1).map(caseOf);

/** Shared memory `tile` at %d, mbarriers at %b; %e is the thread's word of the tile. */
const head = (target: string): readonly string[] => [
  ".version 9.0",
  `.target ${target}`,
  ".address_size 64",
  ".shared .align 1024 .b8 tile[8192]; .shared .align 8 .b64 bars[8]; .shared .align 4 .b32 slot;",
  ".visible .entry k(.param .u64 in, .param .u64 out) {",
  ".reg .b64 %i, %o, %s, %m<4>; .reg .b32 %t, %w, %d, %e, %b, %r<12>, %x, %a, %l; .reg .f32 %f<4>;",
  ".reg .pred p, q, c, first;",
  "ld.param.u64 %i, [in]; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; shr.u32 %w, %t, 5;",
  "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mad.lo.u32 %r0, %r0, %r1, %t; mad.wide.u32 %o, %r0, 4, %o;",
  "mov.u32 %d, tile; mov.u32 %b, bars; shl.b32 %x, %t, 2; add.u32 %e, %d, %x; mov.u32 %r0, 0; mov.u32 %r1, 0;",
  "setp.eq.u32 p, %t, 0; setp.eq.u32 first, %w, 0;",
];

const mbarrier = (place = "0"): string => `[%b+${8 * Number(place)}]`;
const bulkStore = (at: number): string =>
  `@p cp.async.bulk.global.shared::cta.bulk_group [%i+${at}], [%d+${at}], 256; @p cp.async.bulk.commit_group;`;
const allocate = [
  "@first tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;",
  "@first tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;",
  "@p mbarrier.init.shared.b64 [%b], 1; tcgen05.fence::before_thread_sync; bar.sync 0;",
  "tcgen05.fence::after_thread_sync; ld.shared.u32 %a, [slot]; shl.b32 %l, %w, 21; add.u32 %l, %a, %l;",
];
const zeros = Array.from({ length: 4096 }, () => 0);
let labels = 0;

/** What abbreviations stand for, given the words after them. */
const abbreviations: Readonly<Record<string, (...words: string[]) => string>> = {
  sync: () => "bar.sync 0;",
  load: () => "ld.shared.u32 %r0, [%e];",
  proxy: () => "fence.proxy.async.shared::cta;",
  // mbarriers, and bulk copies that they count: the last word is the mbarrier's number.
  init: (count, at) => `@p mbarrier.init.shared.b64 ${mbarrier(at)}, ${count};`,
  expect: (bytes, at) => `@p mbarrier.arrive.expect_tx.shared.b64 _, ${mbarrier(at)}, ${bytes};`,
  arrive: (at) => `mbarrier.arrive.shared.b64 _, ${mbarrier(at)};`,
  copy: (to, from, bytes, at) =>
    `@p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%d+${to}], [%i+${from}], ${bytes}, ${mbarrier(at)};`,
  wait: (parity, at) =>
    `WAIT${++labels}: mbarrier.try_wait.parity.shared.b64 q, ${mbarrier(at)}, ${parity}; @!q bra WAIT${labels};`,
  "first-store": () => bulkStore(0),
  "second-store": () => bulkStore(1024),
  // Clusters of two blocks.
  cluster: () => "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
  peer: () => "mov.u32 %r5, %cluster_ctarank; xor.b32 %r6, %r5, 1; mapa.shared::cluster.u32 %r7, %e, %r6;",
  send: () => "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r7], %t, [%r9];",
  // Products of warpgroups: of a matrix of 2048 bytes in `tile` with itself.
  matrix: () =>
    "cvt.u64.u32 %m0, %d; shr.u64 %m0, %m0, 4; or.b64 %m0, %m0, 0x0000001000080000; mad.lo.u32 %r3, %t, 16, %d;",
  store: () => "st.shared.v4.u32 [%r3], {%r0, %r0, %r0, %r0};",
  fence: () => "wgmma.fence.sync.aligned;",
  multiply: () => "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %m0, %m0, 0, 1, 1, 0, 0;",
  commit: () => "wgmma.commit_group.sync.aligned;",
  finish: () => "wgmma.wait_group.sync.aligned 0;",
  // Products in tensor memory, of zeros.
  prepare: () =>
    [
      "cvt.u64.u32 %m0, %d; shr.u64 %m0, %m0, 4; or.b64 %m0, %m0, 0x0000401000080000; mov.u32 %r4, 0x8040010;",
      "setp.ne.u32 c, %t, %t; mad.lo.u32 %r3, %t, 64, %d;",
      ...[0, 16, 32, 48].map((at) => `st.shared.v4.u32 [%r3+${at}], {%r0, %r0, %r0, %r0};`),
      "fence.proxy.async.shared::cta;",
      ...allocate,
    ].join(" "),
  product: () => "@p tcgen05.mma.cta_group::1.kind::f16 [%a], %m0, %m0, %r4, c;",
  promise: () => "@p tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%b];",
  before: () => "tcgen05.fence::before_thread_sync;",
  after: () => "tcgen05.fence::after_thread_sync;",
  take: () => "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r0}, [%l];",
  taken: () => "tcgen05.wait::ld.sync.aligned;",
  free: () =>
    "tcgen05.fence::before_thread_sync; bar.sync 0; @first tcgen05.dealloc.cta_group::1.sync.aligned.b32 %a, 32;",
};

function lineOf(part: string): string {
  const [name, ...words] = part.replace(/^>>/, "").split(" ");
  return abbreviations[name!]?.(...words) ?? part.replace(/^>>/, "");
}

/** The reports of a program, as `line code`. */
function reportsOf(
  { target, block, grid, cluster }: Case,
  body: readonly string[],
  sanitizers: "all" | readonly [],
  seed?: number,
): readonly string[] {
  const text = [...head(target), ...body.map(lineOf), "st.global.u32 [%o], %r0;", "ret;", "}"].join("\n");
  const device = new Device();
  const { reports } = device
    .load(text)
    .kernel("k")
    .launch({
      grid,
      block,
      ...(cluster === undefined ? {} : { cluster }),
      args: [device.buffer("u32", zeros), device.buffer("u32", 256)],
      sanitize: sanitizers,
      maxSteps: 20_000_000,
      ...(seed === undefined ? {} : { seed }),
    });
  return reports.map(({ source, span, code }) => `${source.position(span.start).line} ${code}`);
}

describe.each(cases)("$title", (one) => {
  test("is reported", () => {
    const at = one.wrong.findIndex((part) => part.startsWith(">>"));
    // What waits for ever takes long under sanitizers, and needs none.
    const found = reportsOf(one, one.wrong, one.code === "deadlock" ? [] : "all");
    expect(found).toContain(`${head(one.target).length + at + 1} ${one.code}`);
  });

  test.each(one.right.map((body, i) => [i + 1, body] as const))("and nothing in what is right, %i", (_, body) => {
    for (const seed of [undefined, 1, 2]) expect(reportsOf(one, body, "all", seed)).toEqual([]);
  });
});
