import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { modelOf } from "../../src/ide/visa/model.ts";
import { variableFacts } from "../../src/ide/visa/variable-facts.ts";
import type { FileTarget, IrFunction } from "../../src/ir/index.ts";
import { byteOf } from "../../src/ir/region.ts";
import type { RegisterFact } from "../../src/ir/uniformity/register-facts.ts";
import type { InstructionEvent, Observer } from "../../src/machine/events.ts";
import type { FunctionCode, Warp } from "../../src/machine/state/launch-state.ts";
import { parseJob } from "../../src/runtime/job/job.ts";
import { runJob } from "../../src/runtime/job/run-job.ts";
import { SourceText } from "../../src/source/index.ts";
import { gallery, root } from "../playground/gallery-files.ts";
import { present, visaJobs } from "../runtime/visa/visa-jobs.ts";

/** A variable of a routine of which something is known. */
interface Known {
  readonly name: string;
  readonly at: number;
  readonly bytes: number;
  readonly size: number;
  readonly fact: RegisterFact;
}

type Region = Extract<FileTarget, { kind: "region" }>;

function knownIn({ source, name, file }: IrFunction): readonly Known[] {
  const { routines, diagnostics } = modelOf(source.path, source.text);
  expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  const routine = routines.find((each) => each.name === name)!;
  const facts = variableFacts(routine, routines);
  return [...file!.variables, ...file!.aliases!].flatMap(({ at, bytes, span }): Known[] => {
    const variable = routine.variables.find((each) => each.span.start === span.start && !each.predefined);
    const fact = variable && facts?.(variable);
    return fact && variable ? [{ name: variable.name, at, bytes, size: bytes / variable.elements, fact }] : [];
  });
}

/** Compares what lanes write to the byte file with what is said of its variables, in the engine's own state. */
class FactsObserver implements Observer {
  readonly wrong = new Set<string>();
  readonly compared: Record<RegisterFact["kind"], number> = { constant: 0, uniform: 0, stride: 0, varies: 0 };
  readonly #known = new Map<IrFunction, readonly Known[]>();
  readonly #last = new Map<Warp, InstructionEvent>();

  instruction(event: InstructionEvent): void {
    this.#settle(event.warp);
    const { ir } = event.site.code;
    if (ir.file !== undefined && event.site.index < ir.instructions.length) this.#last.set(event.warp, { ...event });
  }

  launchEnd(): void {
    for (const warp of [...this.#last.keys()]) this.#settle(warp);
  }

  #settle(warp: Warp): void {
    const event = this.#last.get(warp);
    this.#last.delete(warp);
    const code = event?.activation.code as FunctionCode | undefined;
    if (event === undefined || code?.ir !== event.site.code.ir) return;
    let known = this.#known.get(code.ir);
    if (known === undefined) this.#known.set(code.ir, (known = knownIn(code.ir)));
    // Of lanes that are not active only constants are said.
    if (event.site.instruction.lanes?.noMask === true) known = known.filter(({ fact }) => fact.kind === "constant");
    for (const to of event.site.instruction.dst)
      if (to !== null && typeof to !== "number" && to.kind === "region") this.#compare(event, to, known);
  }

  #compare(
    { warp, activation, site, mask }: InstructionEvent,
    { region, bits }: Region,
    known: readonly Known[],
  ): void {
    const code = activation.code as FunctionCode;
    const ty = bits === 64 ? "i64" : "i32";
    const read = (lane: number): bigint =>
      BigInt.asUintN(
        bits,
        BigInt(code.leafValue(activation, lane)({ kind: "region", ty, bits, signed: false, region })),
      );
    const lanes = Array.from({ length: 32 }, (_, lane) => lane).filter((lane) => ((mask >>> lane) & 1) === 1);
    const row = (lane: number): string => `${warp.tid[32 + lane]} ${warp.tid[64 + lane]}`;
    for (const { name, at, bytes, size, fact } of known) {
      const own = lanes.filter((lane) => {
        const place = byteOf(region, bits, lane) - at;
        return size * 8 === bits && place >= 0 && place < bytes && place % size === 0;
      });
      const [first] = own;
      if (first === undefined || fact.kind === "varies") continue;
      this.compared[fact.kind]++;
      const expected = (lane: number): bigint => {
        if (fact.kind === "constant") return fact.bits;
        if ((fact.kind === "stride" || fact.inRow) && row(lane) !== row(first)) return read(lane);
        return BigInt.asUintN(bits, read(first) + BigInt(fact.kind === "stride" ? fact.stride * (lane - first) : 0));
      };
      if (!own.every((lane) => expected(lane) === read(lane)))
        this.wrong.add(`${code.ir.name} ${site.index} ${name}: ${fact.kind} ${own.map(read).join(" ")}`);
    }
  }
}

test("variables of vISA are as the analysis says, in the gallery and in kernels that were compiled", () => {
  const inGallery = gallery
    .filter(({ job }) => job.includes("visa"))
    .map(({ job, jobText }) => ({
      name: job,
      job: parseJob(new SourceText(job, jobText)).job!,
      files: {
        read: (path: string) => readFileSync(join(root, dirname(job), path)),
        yaml: (text: string): unknown => parse(text),
      },
    }));
  const jobs = [...inGallery, ...visaJobs("kernels"), ...visaJobs("hand")];
  const compared: Partial<Record<RegisterFact["kind"], number>> = {};
  for (const { name, job, files } of jobs) {
    const [variant] = job.variants.keys();
    const observer = new FactsObserver();
    runJob(job, variant!, files, { timeoutMs: 60_000, observers: [observer] });
    expect({ name, wrong: [...observer.wrong] }).toEqual({ name, wrong: [] });
    for (const [kind, count] of Object.entries(observer.compared))
      compared[kind as RegisterFact["kind"]] = (compared[kind as RegisterFact["kind"]] ?? 0) + count;
  }
  expect(compared.uniform).toBeGreaterThan(20);
  if (present) expect(compared.constant).toBeGreaterThan(0);
  if (present) expect(compared.stride).toBeGreaterThan(100);
});
