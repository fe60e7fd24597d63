import { expect, test } from "vitest";
import { Device, type EngineName } from "../../src/runtime/index.ts";
import { Random } from "../fuzz/random.ts";
import { inFrame } from "./race-programs.ts";

/*
 * A few places, each of which random threads access in random ways, with barriers here and there: compiled code that
 * watches itself must find all that the interpreter finds.
 */

const threads = 96;
const blocks = 2;

/** Ways to access a place in a space; `$` stands for the place. */
const accesses = {
  shared: [
    ...["ld.shared.u32 %r0, [$];", "st.shared.u32 [$], %t;", "ld.volatile.shared.u32 %r0, [$];"],
    ...["st.volatile.shared.u32 [$], %t;", "atom.shared.add.u32 %r0, [$], 1;", "red.shared.add.u32 [$], 1;"],
    ...["st.shared.u32 [$], 7;", "atom.shared.exch.b32 %r0, [$], 7;"],
  ],
  global: [
    ...["ld.global.u32 %r0, [$];", "st.global.u32 [$], %t;", "ld.relaxed.gpu.global.u32 %r0, [$];"],
    ...["st.relaxed.gpu.global.u32 [$], %t;", "atom.global.add.u32 %r0, [$], 1;", "red.global.add.u32 [$], 1;"],
    ...["st.global.u32 [$], 7;", "atom.global.exch.b32 %r0, [$], 7;"],
  ],
} as const;
/** One whose scope does not reach other blocks. */
const narrow = "st.relaxed.cta.global.u32 [$], %t;";

/** Tests that select threads: one, those of a warp, or all. */
const selections = [
  ...["setp.eq.u32 p, %i, 3;", "setp.eq.u32 p, %i, 4;", "setp.eq.u32 p, %i, 40;", "setp.eq.u32 p, %i, 100;"],
  ...["setp.lt.u32 p, %t, 32;", "setp.ge.u32 p, %i, 96;", "setp.ne.u32 p, %i, 0xffff;"],
];

function programOf(seed: number): string {
  const random = new Random(seed);
  // One space and few places: accesses that never meet say nothing.
  const space = random.pick(["shared", "global"] as const);
  const places = space === "shared" ? ["s", "s+4"] : ["g", "g+4"];
  const ways = [...accesses[space], ...(space === "global" && random.chance(0.1) ? [narrow] : [])];
  const written = places.map((place) => `    st.shared.u32 [${place}], 7;`);
  const lines =
    space === "shared"
      ? ["    setp.eq.u32 p, %t, 0;", ...written.map((l) => l.replace("st", "@p st")), "    bar.sync 0;"]
      : [];
  const count = 2 + random.below(5);
  for (let i = 0; i < count; i++) {
    lines.push(`    ${random.pick(selections)}`);
    const same = 1 + random.below(2);
    for (let n = 0; n < same; n++) lines.push(`    @p ${random.pick(ways).replace("$", random.pick(places))}`);
    const between = random.weighted({ nothing: 2, "bar.sync 0;": 1, "bar.warp.sync -1;": 1 });
    if (between !== "nothing") lines.push(`    ${between}`);
  }
  return lines.join("\n");
}

function outcomeOf(body: string, engine: EngineName) {
  const device = new Device({ sanitize: "all", engine });
  const out = device.buffer("u32", 1024);
  const { reports, engine: ranBy } = device
    .load(inFrame(body))
    .kernel("k")
    .launch({ grid: blocks, block: threads, args: [out] });
  return { ranBy, reports: reports.map(({ code, message, span, count }) => ({ code, message, span, count })) };
}

test("random accesses: compiled code finds what the interpreter finds", { timeout: 600_000 }, () => {
  let [racy, compiled] = [0, 0];
  for (let seed = 1; seed <= 150; seed++) {
    const body = programOf(seed);
    const wanted = outcomeOf(body, "interpreter");
    const found = outcomeOf(body, "jit");
    expect({ seed, body, reports: found.reports }).toEqual({ seed, body, reports: wanted.reports });
    if (wanted.reports.length > 0) racy++;
    else if (found.ranBy === "jit") compiled++;
  }
  // Neither all nor none of them race, and where none does, compiled code says so.
  expect([racy > 30, compiled > 20, racy, compiled]).toEqual([true, true, racy, compiled]);
});
