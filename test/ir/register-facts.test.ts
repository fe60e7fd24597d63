import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { writesOf } from "../../src/ir/flow/accesses.ts";
import type { IrFunction } from "../../src/ir/index.ts";
import { type RegisterFact, registerFacts } from "../../src/ir/uniformity/register-facts.ts";
import type { InstructionEvent, Observer } from "../../src/machine/events.ts";
import type { FunctionCode, Warp } from "../../src/machine/state/launch-state.ts";
import { parseJob } from "../../src/runtime/job/job.ts";
import { runJob } from "../../src/runtime/job/run-job.ts";
import { SourceText } from "../../src/source/index.ts";
import { gallery, root } from "../playground/gallery-files.ts";
import { type JobFile, jobFiles } from "../runtime/conformance-jobs.ts";
import { exampleJobs } from "./example-jobs.ts";

/** Compares the registers that lanes write together with what the analysis says of them, in the engine's own state. */
class FactsObserver implements Observer {
  readonly wrong = new Set<string>();
  readonly compared: Record<RegisterFact["kind"], number> = { constant: 0, uniform: 0, stride: 0, varies: 0 };
  readonly #facts = new Map<IrFunction, (register: number) => RegisterFact>();
  readonly #last = new Map<Warp, InstructionEvent>();

  instruction(event: InstructionEvent): void {
    this.#settle(event.warp);
    const { ir } = event.site.code;
    if (ir.file === undefined && event.site.index < ir.instructions.length) this.#last.set(event.warp, { ...event });
  }

  launchEnd(): void {
    for (const warp of [...this.#last.keys()]) this.#settle(warp);
  }

  #settle(warp: Warp): void {
    const event = this.#last.get(warp);
    this.#last.delete(warp);
    if (event !== undefined) writesOf(event.site.instruction, (register) => this.#compare(event, register));
  }

  #compare({ warp, activation, site, mask }: InstructionEvent, register: number): void {
    const code = activation.code as FunctionCode;
    if (code.ir !== site.code.ir) return;
    let facts = this.#facts.get(code.ir);
    if (facts === undefined) this.#facts.set(code.ir, (facts = registerFacts(code.ir)));
    const fact = facts(register);
    this.compared[fact.kind]++;
    const { class: kind, bits, name } = code.ir.registers[register]!;
    const ty = kind === "pred" ? "pred" : kind === "b64" ? "i64" : "i32";
    const read = (lane: number): bigint =>
      BigInt.asUintN(bits, BigInt(code.leafValue(activation, lane)({ kind: "reg", ty, reg: register })));
    const lanes = Array.from({ length: 32 }, (_, lane) => lane).filter((lane) => ((mask >>> lane) & 1) === 1);
    const [first] = lanes;
    if (first === undefined) return;
    const row = (lane: number): string => `${warp.tid[32 + lane]} ${warp.tid[64 + lane]}`;
    const inRow = (lane: number): boolean => row(lane) === row(first);
    const bitsOf = (lane: number): bigint | null => {
      if (fact.kind === "constant") return fact.bits;
      if (fact.kind === "uniform") return fact.inRow && !inRow(lane) ? null : read(first);
      if (fact.kind === "varies" || !inRow(lane)) return null;
      return BigInt.asUintN(bits, read(first) + BigInt(fact.stride) * BigInt(lane - first));
    };
    const holds = lanes.every((lane) => (bitsOf(lane) ?? read(lane)) === read(lane));
    if (!holds) this.wrong.add(`${code.ir.name} ${site.index} ${name}: ${fact.kind} ${lanes.map(read).join(" ")}`);
  }
}

const galleryJobs = gallery.map(
  ({ job, jobText }): JobFile => ({
    source: new SourceText(job, jobText),
    read: (path) => readFileSync(join(root, dirname(job), path)),
  }),
);

test("registers are as the analysis says, in the examples, the gallery and some of the conformance jobs", () => {
  const some = [...jobFiles("cuda"), ...jobFiles("hand")].filter((_, i) => i % 6 === 1);
  const compared: Partial<Record<RegisterFact["kind"], number>> = {};
  for (const { source, ...files } of [...exampleJobs(), ...galleryJobs, ...some]) {
    const { job } = parseJob(source);
    const [variant] = job!.variants.keys();
    const observer = new FactsObserver();
    runJob(job!, variant!, files, { timeoutMs: 60_000, observers: [observer] });
    expect({ job: source.path, wrong: [...observer.wrong] }).toEqual({ job: source.path, wrong: [] });
    for (const [kind, count] of Object.entries(observer.compared))
      compared[kind as RegisterFact["kind"]] = (compared[kind as RegisterFact["kind"]] ?? 0) + count;
  }
  for (const kind of ["constant", "uniform", "stride"] as const) expect(compared[kind], kind).toBeGreaterThan(10);
});
