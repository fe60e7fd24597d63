import { expect, test } from "vitest";
import { accessesOf, controlOf, movesGroup, type Op, traitOf } from "../../src/ir/index.ts";
import type { AccessEvent, InstructionEvent, LaneEvent, Observer } from "../../src/machine/events.ts";
import type { Site } from "../../src/machine/state/code.ts";
import type { Warp } from "../../src/machine/state/launch-state.ts";
import { parseJob } from "../../src/runtime/job/job.ts";
import { runJob } from "../../src/runtime/job/run-job.ts";
import { jobFiles } from "../runtime/conformance-jobs.ts";
import { exampleJobs } from "./example-jobs.ts";

/** What a warp has done last, and the accesses that it has made with it. */
interface Last {
  readonly site: Site;
  readonly accesses: AccessEvent["ordinal"][];
}

/** Compares what happens in a launch with what the traits of its operations say. */
class TraitsObserver implements Observer {
  readonly wrong = new Set<string>();
  readonly seen = new Set<Op["kind"]>();
  accesses = 0;
  readonly #last = new Map<Warp, Last>();

  instruction({ warp, site }: InstructionEvent): void {
    this.#settle(warp);
    // The end of a function's text stands for a return.
    if (site.index === site.code.ir.instructions.length) return;
    this.seen.add(site.instruction.op.kind);
    this.#last.set(warp, { site, accesses: [] });
  }

  access({ warp, site, ordinal, effect, access }: AccessEvent): void {
    this.accesses++;
    const last = this.#last.get(warp);
    const made = accessesOf(site.instruction.op)[ordinal];
    this.#check(site, "makes an access that it does not have", made?.effect === effect && made.access === access);
    this.#check(site, "accesses memory at another time", last?.site === site && !last.accesses.includes(ordinal));
    last?.accesses.push(ordinal);
  }

  branch({ site }: LaneEvent): void {
    this.#check(site, "branches", controlOf(site.instruction.op) === "branch");
  }

  call({ site }: LaneEvent): void {
    this.#check(site, "calls", controlOf(site.instruction.op) === "call");
  }

  return({ site }: LaneEvent): void {
    const isEnd = site.index === site.code.ir.instructions.length;
    this.#check(site, "returns", isEnd || controlOf(site.instruction.op) === "leave");
  }

  exit({ site }: LaneEvent): void {
    this.#check(site, "exits", controlOf(site.instruction.op) === "leave");
  }

  barrier({ site }: LaneEvent): void {
    this.#check(
      site,
      "arrives at a barrier",
      traitOf(site.instruction.op, "suspends") && movesGroup(site.instruction.op),
    );
  }

  warp({ site }: LaneEvent): void {
    this.#check(site, "acts with others", traitOf(site.instruction.op, "warp"));
  }

  launchEnd(): void {
    for (const warp of this.#last.keys()) this.#settle(warp);
    this.#last.clear();
  }

  /** Every access by an address has happened; one through a surface may be beyond its end. */
  #settle(warp: Warp): void {
    const last = this.#last.get(warp);
    if (last === undefined) return;
    const expected = accessesOf(last.site.instruction.op).filter(({ place }) => place.kind === "address");
    for (const { ordinal } of expected) {
      this.#check(last.site, "does not make one of its accesses", last.accesses.includes(ordinal));
    }
  }

  #check({ code, index, instruction }: Site, what: string, holds: boolean): void {
    if (!holds) this.wrong.add(`${code.ir.name} ${index} (${instruction?.op.kind}) ${what}`);
  }
}

test("events are as the traits say, in the examples and some of the conformance jobs", () => {
  const some = [...jobFiles("cuda"), ...jobFiles("hand")].filter((_, i) => i % 6 === 0);
  const seen = new Set<Op["kind"]>();
  let accesses = 0;
  for (const { source, ...files } of [...exampleJobs(), ...some]) {
    const { job } = parseJob(source);
    const [variant] = job!.variants.keys();
    const observer = new TraitsObserver();
    runJob(job!, variant!, files, { timeoutMs: 60_000, observers: [observer] });
    expect({ job: source.path, wrong: [...observer.wrong] }).toEqual({ job: source.path, wrong: [] });
    for (const kind of observer.seen) seen.add(kind);
    accesses += observer.accesses;
  }
  expect(accesses).toBeGreaterThan(100);
  expect([...seen]).toEqual(expect.arrayContaining(["pure", "load", "store", "branch", "call", "return"]));
});
