import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { KernelArgument } from "../../src/runtime/data/argument.ts";
import type { Buffer } from "../../src/runtime/data/buffer.ts";
import type { Elements } from "../../src/runtime/data/element.ts";
import type { SourceFile } from "../../src/runtime/data/source-file.ts";
import { PtxDevice } from "../../src/runtime/device/ptx-device.ts";
import { compareElements } from "../../src/runtime/job/compare.ts";
import type { DeviceOptions } from "../../src/runtime/device/device-core.ts";
import type { EngineName } from "../../src/runtime/launch/launch-options.ts";
import { elementsInPages, numbersOf } from "./copies.ts";
import type { BenchArgument, BenchKernel, BenchPlan } from "./kernel.ts";
import { tensorMapOf } from "./tensor-map.ts";

/** Buffers by name. */
export type Contents = ReadonlyMap<string, Elements>;

/** How often a benchmark is repeated: at least `runs` times, and until `milliseconds` have passed. */
export interface Repetition {
  readonly runs: number;
  readonly milliseconds: number;
}

/** The times of an engine. */
export interface Times {
  /** The engine that ran it. It is the interpreter also if a kernel could not be compiled. */
  readonly engine: EngineName;
  /** Why a launch for which machine code was asked ran otherwise; null if none did. */
  readonly notNative: string | null;
  /** The most host threads that ran blocks of one launch. */
  readonly threads: number;
  /** The median of the runs after the first, in milliseconds. */
  readonly ms: number;
  /** The times of loading the module and of the first run, on a new device. */
  readonly first: { readonly loadMs: number; readonly runMs: number };
}

interface Measurement extends Times {
  readonly results: Contents;
}

/** A launch of a benchmark ended with a report. */
export class BenchFault extends Error {
  override readonly name = "BenchFault";
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Frees the memory of devices no longer in use, so that no run is slowed down by earlier ones. */
export function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  setFlagsFromString("--no-expose-gc");
  collect();
  // Memory that the first collection found to be free is returned only by the second.
  collect();
}

const timed = (run: () => void): number => {
  const begin = performance.now();
  run();
  return performance.now() - begin;
};

/**
 * Measures a benchmark on a new device. The times do not include refilling buffers.
 *
 * @throws BenchFault if a launch ends with an error
 */
export function measure(
  { results: wanted }: Pick<BenchKernel, "results">,
  source: SourceFile,
  plan: BenchPlan,
  initial: Contents,
  repetition: Repetition,
  defaults: DeviceOptions,
): Measurement {
  collectGarbage();
  // Without a store, the first run compiles even if another run already has.
  const device = new PtxDevice({ ...defaults, kernelStore: false });
  const buffers = new Map<string, Buffer>();
  for (const [name, { type, n }] of Object.entries(plan.buffers)) buffers.set(name, device.buffer(type, n, name));
  const fill = (names: readonly string[]): void => {
    for (const name of names) buffers.get(name)!.writeBytes(initial.get(name)!.bytes);
  };
  const inPlace = Object.keys(plan.buffers).filter((name) => plan.buffers[name]!.inPlace);
  fill([...initial.keys()]);

  const argument = (arg: BenchArgument): KernelArgument => {
    if (typeof arg === "string") return buffers.get(arg)!;
    if ("matrix" in arg) return tensorMapOf(device, buffers.get(arg.matrix)!, arg);
    if (!("texture" in arg)) return arg;
    const buffer = buffers.get(arg.texture)!;
    return device.image({ type: "f32", width: arg.width, height: arg.width, buffer }).texture({ filter: "linear" });
  };

  let run = (): void => {};
  let engine: EngineName = defaults.engine === "native" ? "native" : "jit";
  let notNative: string | null = null;
  let threads = 1;
  const loadMs = timed(() => {
    const module = device.load(source);
    const launches = plan.launches.map(({ kernel, grid, block, shared = 0, args }) => ({
      kernel: module.kernel(kernel),
      options: { grid, block, shared, args: args.map(argument) },
    }));
    run = () => {
      for (const { kernel, options } of launches) {
        const result = kernel.launch(options);
        if (!result.ok) throw new BenchFault(result.reports[0]?.message ?? "the launch failed");
        if (result.engine === "interpreter" || engine === "native") engine = result.engine;
        notNative ??= result.notNative ?? null;
        threads = Math.max(threads, result.hostThreads);
      }
    };
  });
  const runMs = timed(run);
  const times: number[] = [];
  const begin = performance.now();
  while (times.length < repetition.runs || performance.now() - begin < repetition.milliseconds) {
    fill(inPlace);
    times.push(timed(run));
  }
  const results = wanted.map((name) => {
    const { type, length, offset } = buffers.get(name)!;
    const copy = elementsInPages(type, length);
    copy.bytes.set(device.memory.views.u8.subarray(offset, offset + copy.bytes.length));
    return [name, copy] as const;
  });
  return { engine, notNative, threads, ms: median(times), first: { loadMs, runMs }, results: new Map(results) };
}

/** Describes how results differ from those of a peer or model; null if they agree. */
export function difference({ results, tolerance }: BenchKernel, got: Contents, want: Contents): string | null {
  const comparison = { kind: "tolerance", relative: tolerance, absolute: tolerance } as const;
  for (const name of results) {
    const { mismatches, first } = compareElements(got.get(name)!, want.get(name)!, comparison);
    if (first) return `${name}[${first.index}] is ${first.got}, not ${first.want} (${mismatches} differ)`;
  }
  return null;
}

/** The results of a model, converted to the types of the buffers. */
export function modelResults({ model, results }: BenchKernel, plan: BenchPlan, initial: Contents): Contents {
  const inputs = Object.fromEntries(
    [...initial].map(([name, elements]) => [name, numbersOf(plan.buffers[name]!.type, elements)]),
  );
  const values = model(inputs, plan);
  return new Map(
    results.map((name) => {
      const { type, n } = plan.buffers[name]!;
      const elements = elementsInPages(type, n);
      for (let i = 0; i < n; i++) elements.set(i, values[name]![i]!);
      return [name, elements];
    }),
  );
}
