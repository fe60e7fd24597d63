import { expect, test } from "vitest";
import { Device, type KernelArgument, type LaunchOptions, struct } from "../../src/index.ts";
import type { Probe } from "../../src/debugger/probe.ts";
import { Timeline } from "../../src/debugger/timeline.ts";
import type { TimelineOptions } from "../../src/debugger/timeline-options.ts";
import { handlesOf } from "../fuzz/engine.ts";
import { allFamilies, type Program, programOf } from "../fuzz/program.ts";
import { Random } from "../fuzz/random.ts";
import { finish } from "./jobs.ts";
import { digest } from "./machine-digest.ts";

type Settings = Pick<LaunchOptions, "sanitize" | "seed">;

/** Opens a timeline of a random program, at its beginning: two launches, one after the other. */
function open(program: Program, settings: Settings, options: TimelineOptions): Timeline {
  const device = new Device();
  const limit = { maxSteps: 30_000_000, ...settings };
  if (program.isa === "ptx") {
    const kernel = device.load(program.text).kernel("k");
    const args: KernelArgument[] = [...program.buffers.map((b) => device.buffer(b)), struct(program.blob)];
    for (const { shape, bytes } of program.tensors) {
      args.push(device.tensorMap({ ...shape, globalAddress: device.buffer(bytes) }));
    }
    args.push(...handlesOf(device, program.images, []));
    const { grid, block, cluster } = program;
    const size = { grid, block, ...(cluster && { cluster }) };
    const start = (onOutput: (text: string) => void) => kernel.begin({ ...size, args, onOutput, ...limit });
    return new Timeline(device.memory, [start, start], options);
  }
  const { files, items, group } = program;
  const sources = files.map(({ name, text }) => ({ path: `${name}.visaasm`, text }));
  const module = device.load(sources, {
    inputs: [
      { name: "OUT", kind: "arg", type: "u64" },
      { name: "STK", kind: "stack", bytesPerThread: 16384 },
      { name: "ID", kind: "lane-id", type: "u32" },
    ],
  });
  const args = [device.buffer("u32", items)];
  const launch = { global: items, local: group, args, ...limit };
  const start = (onOutput: (text: string) => void) => module.kernel("k").begin({ ...launch, onOutput });
  return new Timeline(device.memory, [start, start], options);
}

const everywhere: Probe = { wants: () => true, before: () => true, after: () => false };

/** Everything that is visible at a time. */
const stateOf = (timeline: Timeline): string => `${digest(timeline)} ${JSON.stringify(timeline.output)}`;

/** The most instructions of a program that are examined. */
const maxInstructions = 6000;

/** Each family in two ways: as it is, and in another order or under sanitizers. */
const others: readonly Settings[] = [{ seed: 5 }, { sanitize: "all" }];

for (const [i, family] of allFamilies.entries()) {
  test(`${family}: a time has one state, whatever the path to it`, () => {
    for (const [seed, way] of [{}, others[i % 2]!].entries()) {
      const program = programOf(family, seed);
      const known: string[] = [];
      // What is visible at some times, going forward one instruction at a time.
      const forward = open(program, way, {});
      const random = new Random(seed);
      known[0] = stateOf(forward);
      const gap = 10 + random.below(90);
      while (!forward.atEnd && forward.now < maxInstructions) {
        finish(forward.forward(everywhere));
        if (forward.now % gap === 0 || forward.atEnd || forward.now < 20) known[forward.now] = stateOf(forward);
      }
      const times = Object.keys(known).map(Number);
      const last = forward.now;
      const timeline = open(program, way, { checkpointEvery: 1 + random.below(300) });
      finish(timeline.goTo(random.chance(0.5) ? last : random.below(last + 1)));
      for (let n = 0; n < 12; n++) {
        const to = random.pick(times);
        const from = timeline.now;
        const back = random.chance(0.3) && to < from;
        if (back) {
          finish(timeline.goTo(Math.min(to + 1, last)));
          finish(timeline.backward(everywhere));
        } else finish(timeline.goTo(to));
        expect(timeline.now).toBe(to);
        expect(stateOf(timeline), `${family} ${seed} ${JSON.stringify(way)}: time ${to} from ${from} of ${last}`).toBe(
          known[to],
        );
      }
      finish(timeline.goTo(last));
      const said = (t: Timeline) => t.findings.map(({ time, report }) => [time, report.code, report.count]);
      expect(said(timeline), `${family} ${seed}`).toEqual(said(forward));
    }
  });
}
