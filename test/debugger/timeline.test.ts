import { existsSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { Probe } from "../../src/debugger/probe.ts";
import { finish, openTimeline, pathOf } from "./jobs.ts";
import { digest } from "./machine-digest.ts";

const shared = fileURLToPath(new URL("../../../shared", import.meta.url));
const example = (name: string) => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));

const everywhere: Probe = { wants: () => true, before: () => true, after: () => false };

const present = existsSync(shared);
if (!present) console.warn(`skipped: there are no conformance cases at ${shared}`);

/**
 * Jobs with barriers, shuffles, recursion, atomics, allocation on the device, several launches and faults, in both
 * instruction sets.
 */
const jobs = [
  example("seeds/direct.json"),
  example("seeds/callprototype.json"),
  ...["calls", "factorial", "visa"].map((name) => pathOf(`${name}.json`)),
  ...(present
    ? [
        ...["block_reduce", "devmalloc", "recursion", "divergence", "histogram", "virtuals", "scan_block"].map(
          (name) => `${shared}/conformance/cuda/${name}.json`,
        ),
        ...["misaligned_v4", "barrier_count_not_multiple"].map((name) => `${shared}/conformance/faults/${name}.json`),
        ...["p21_recursion_fib", "p46_subroutine_in_function", "p19_nested"].map(
          (name) => `${shared}/visa/hand/${name}.json`,
        ),
      ]
    : []),
];

/** A pseudorandom generator with a fixed seed. */
function randoms(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return Math.floor(((state >>> 0) / 2 ** 32) * below);
  };
}

const cases = jobs.map((path, i) => [basename(path), path, i % 4 === 3 ? 5 : null] as const);

test.each(cases)("%s: a time has one state, however one comes there", (_, path, seed) => {
  const options = { checkpointEvery: 97, maxSteps: 3_000_000, sanitize: new Set([]), seed };
  const forward = openTimeline(path, options);
  const most = 700;
  const known: string[] = [digest(forward)];
  while (!forward.atEnd && forward.now < most) {
    finish(forward.forward(everywhere));
    known[forward.now] = digest(forward);
  }
  const last = forward.now;
  const timeline = openTimeline(path, options);
  const random = randoms(path.length);
  finish(timeline.goTo(last));
  for (let i = 0; i < 60; i++) {
    const { now } = timeline;
    const way = random(4);
    const to = way === 0 ? random(last + 1) : way === 1 ? Math.max(0, now - 1) : Math.min(last, now + random(40));
    if (way === 1) finish(timeline.backward(everywhere));
    else finish(timeline.goTo(to));
    expect(timeline.now).toBe(to);
    expect(digest(timeline), `time ${to}, from ${now}`).toBe(known[to]);
  }
});

test.skipIf(!present)("sanitizers see every instruction once, whatever the path through time", () => {
  const names = ["call_uni_divergent", "arg_never_written"];
  for (const name of names) {
    const path = `${shared}/conformance/faults/${name}.json`;
    const plain = openTimeline(path, { maxSteps: 3_000_000 });
    finish(plain.goTo(Infinity));
    const seen = plain.findings.map(({ time, report }) => [time, report.code, report.count]);
    expect(seen.length, name).toBeGreaterThan(0);
    const timeline = openTimeline(path, { maxSteps: 3_000_000, checkpointEvery: 13 });
    const random = randoms(3);
    // Forward and back again, a little farther each time.
    for (let to = 1; !timeline.atEnd; to += 1 + random(7)) {
      finish(timeline.goTo(to));
      finish(timeline.goTo(random(to)));
      finish(timeline.goTo(to));
    }
    expect(timeline.findings.map(({ time, report }) => [time, report.code, report.count])).toEqual(seen);
    expect(digest(timeline)).toBe(digest(plain));
  }
});

test("output belongs to the instruction that prints it", () => {
  const timeline = openTimeline("print.json");
  finish(timeline.goTo(Infinity));
  expect(timeline.now).toBe(6);
  expect(timeline.output).toBe("hello\n");
  // The call is the fourth instruction.
  const outputs = [0, 1, 2, 3, 4, 5, 6].map((time) => {
    finish(timeline.goTo(time));
    return timeline.output;
  });
  expect(outputs).toEqual(["", "", "", "", "hello\n", "hello\n", "hello\n"]);
});
