import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Device, ScriptedSteering } from "../../src/index.ts";
import { Footprints } from "../../src/runtime/explore/footprints.ts";
import { Exploration } from "../../src/runtime/explore/schedule-search.ts";

interface Program {
  /** %d is a buffer of zeros, %w the index of the warp in the grid, %s a word of shared memory. */
  readonly body: string;
  readonly grid: number;
  readonly warps: number;
  readonly target?: string;
}

const words = 16;

/**
 * Explores a program completely: the number of schedules to try, and the outcomes, each with the fewest interruptions.
 */
function runsOf({ body, grid, warps, target = "sm_60" }: Program, reduce: boolean, most = 4000) {
  const ptx = `.version 8.0\n.target ${target}\n.address_size 64\n.visible .entry k(.param .u64 out)\n{
    .reg .b32 %a, %b, %c, %t, %w, %s; .reg .b64 %d, %e; .reg .pred %p;
    .shared .align 4 .b8 shared[256];
    ld.param.u64 %d, [out];
    mov.u32 %t, %ctaid.x; mov.u32 %w, %tid.x; shr.u32 %w, %w, 5; mad.lo.u32 %w, %t, ${warps}, %w;
    mov.u32 %s, shared; mov.u32 %c, 0;
    ${body}
    ret;\n}\n`;
  const device = new Device();
  const kernel = device.load({ path: "k.ptx", text: ptx }).kernel("k");
  const out = device.buffer("u32", words);
  const exploration = new Exploration(most);
  const outcomes = new Map<string, number>();
  for (let next = exploration.next(); next?.kind === "schedule"; next = exploration.next()) {
    const steering = new ScriptedSteering(next.schedule);
    const footprints = new Footprints(() => steering.count);
    const observers = reduce ? [footprints] : [];
    out.write(new Uint32Array(words));
    const { reports } = kernel.launch({
      ...{ grid, block: 32 * warps, args: [out], engine: "interpreter" },
      ...{ steering, observers, maxSteps: 100_000 },
    });
    const outcome = `${out.read().join(" ")} ${reports.map((r) => r.code).join(" ")}`;
    outcomes.set(outcome, Math.min(outcomes.get(outcome) ?? Infinity, next.interruptions));
    exploration.ran(next, steering, reduce ? footprints.conflicts() : null);
  }
  return { schedules: exploration.tried, covered: exploration.coveredInterruptions, outcomes };
}

const own = "mul.wide.u32 %e, %w, 4; add.u64 %e, %d, %e;";

/**
 * Without reduction, n accesses in each of k warps have (n k)! / (n!)^k orders; the reduced numbers are counted by hand
 * where that is possible.
 */
describe("equivalent schedules are tried once", () => {
  test.each<[string, Program, number, number]>([
    // Nothing in common, so one order is as good as any. Starting with either warp is not an interruption, so both are
    // tried.
    [
      "each writes a word of its own",
      { body: `${own} ${"st.global.u32 [%e], 1;".repeat(4)}`, grid: 2, warps: 1 },
      70,
      2,
    ],
    [
      "a word that all read",
      { body: `${own} ${"st.global.u32 [%e+8], 1; ld.global.u32 %a, [%d];".repeat(2)}`, grid: 2, warps: 1 },
      70,
      2,
    ],
    // The barrier orders everything: each warp writes its own word before it and reads the other's after it.
    [
      "a tile of shared memory after a barrier",
      {
        body: `and.b32 %a, %w, 1; mad.lo.u32 %a, %a, 4, %s; st.shared.u32 [%a], %w; bar.sync 0;
          xor.b32 %b, %w, 1; mad.lo.u32 %b, %b, 4, %s; ld.shared.u32 %b, [%b]; ${own} st.global.u32 [%e], %b;`,
        grid: 1,
        warps: 2,
      },
      12,
      2,
    ],
    ["a counter that all increase", { body: "atom.global.add.u32 %a, [%d], 1;".repeat(3), grid: 2, warps: 1 }, 20, 20],
    [
      "a lost update among words of their own",
      {
        body: `${own} ${"st.global.u32 [%e+8], 1;".repeat(3)} ld.global.u32 %a, [%d]; add.u32 %a, %a, 1;
          st.global.u32 [%d], %a; st.global.u32 [%e+8], 2;`,
        grid: 2,
        warps: 1,
      },
      924,
      20,
    ],
  ])("%s", (_, program, all, reduced) => {
    const full = runsOf(program, false);
    const some = runsOf(program, true);
    expect(full).toMatchObject({ covered: null });
    expect(some).toMatchObject({ covered: null });
    expect([...some.outcomes].sort()).toEqual([...full.outcomes].sort());
    expect([full.schedules, some.schedules]).toEqual([all, reduced]);
  });
});

test("a warp that only arrives at a barrier is not ordered by it", () => {
  const body = `setp.eq.u32 %p, %w, 0; @%p bra first;
    bar.sync 1, 64; ld.global.u32 %a, [%d]; ${own} st.global.u32 [%e], %a; bra.uni end;
    first: bar.arrive 1, 64; st.global.u32 [%d], 1; end:`;
  const full = runsOf({ body, grid: 1, warps: 2 }, false);
  // The other warp reads either the old value or the one that the first has written.
  expect(full.outcomes.size).toBe(2);
  expect(runsOf({ body, grid: 1, warps: 2 }, true).outcomes).toEqual(full.outcomes);
});

/**
 * A few accesses that may conflict, to two words of each memory; values read are written to a word of the warp's own.
 */
const statement = fc.oneof(
  fc.constantFrom(0, 4).map((at) => `ld.global.u32 %a, [%d+${at}]; mad.lo.u32 %c, %c, 3, %a;`),
  fc.constantFrom(0, 4).map((at) => `st.global.u32 [%d+${at}], %w;`),
  fc.constantFrom(0, 4).map((at) => `atom.global.add.u32 %a, [%d+${at}], 1; mad.lo.u32 %c, %c, 3, %a;`),
  fc.constantFrom(0, 4).map((at) => `ld.shared.u32 %a, [%s+${at}]; mad.lo.u32 %c, %c, 3, %a;`),
  fc.constantFrom(0, 4).map((at) => `st.shared.u32 [%s+${at}], %w;`),
  fc.constantFrom(0, 4).map((at) => `setp.eq.u32 %p, %c, 0; @%p st.global.u32 [%d+${at}], 7;`),
  fc.constantFrom(0, 4).map((at) => `setp.eq.u32 %p, %w, 0; @%p st.global.u32 [%d+${at}], 8;`),
  fc.constantFrom("bar.sync 0;", "bar.sync 1, 64;", "bar.red.popc.u32 %a, 0, 1;"),
);
const shape = fc.constantFrom([2, 1, 4], [1, 2, 4], [3, 1, 2], [1, 3, 2], [2, 2, 1]);
const program = shape.chain(([grid, warps, most]) =>
  fc.array(statement, { minLength: 1, maxLength: most! }).map((statements) => ({
    body: `add.u32 %w, %w, 1; ${statements.join(" ")} ${own} st.global.u32 [%e+16], %c;`,
    grid: grid!,
    warps: warps!,
  })),
);

test("no outcome is lost: small programs, compared with a search of all schedules", () => {
  let all = 0;
  let tried = 0;
  fc.assert(
    fc.property(program, (p) => {
      const full = runsOf(p, false);
      fc.pre(full.covered === null);
      const some = runsOf(p, true);
      expect(some.covered).toBeNull();
      expect([...some.outcomes].sort()).toEqual([...full.outcomes].sort());
      expect(some.schedules).toBeLessThanOrEqual(full.schedules);
      all += full.schedules;
      tried += some.schedules;
    }),
    { numRuns: Number(process.env["REDUCTION_RUNS"] ?? 20), seed: Number(process.env["REDUCTION_SEED"] ?? 7) },
  );
  expect(tried).toBeLessThan(all / 2);
});
