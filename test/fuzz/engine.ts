import {
  Device,
  type Kernel,
  type KernelArgument,
  type KernelResult,
  type LaunchOptions,
  type Report,
  struct,
} from "../../src/index.ts";
import { launch, loadProgram } from "../../src/interpreter/index.ts";
import { packArguments } from "../../src/runtime/argument.ts";
import { compile } from "../../src/runtime/compile.ts";
import { deviceFunctions } from "../../src/runtime/device-functions.ts";
import { LoadError } from "../../src/runtime/errors.ts";
import { PtxDevice } from "../../src/runtime/ptx-device.ts";
import { SourceText } from "../../src/source/index.ts";
import { link, run as runVisa } from "../visa/run/run-program.ts";
import type { PtxProgram } from "./ptx-program.ts";
import type { Program } from "./program.ts";
import type { VisaProgram } from "./visa-program.ts";

/** Thread-instructions after which a launch ends: random programs need far fewer. */
const maxSteps = 30_000_000;

/** What a launch leaves behind. */
export interface Outcome {
  /** Code and line of each report. */
  readonly reports: readonly string[];
  readonly stdout: string;
  readonly buffers: readonly Uint8Array[];
}

/** A way to run programs, each on a fresh device. Throws a LoadError when a program's text has errors. */
export interface Engine {
  readonly name: string;
  readonly run: (program: Program) => Outcome;
}

const described = ({ code, source, span }: Report): string =>
  `${code} in line ${source.position(span.start).line} of ${source.path}`;

const outcomeOf = ({ reports, stdout }: KernelResult, buffers: Outcome["buffers"]): Outcome => ({
  reports: reports.map(described),
  stdout,
  buffers,
});

/** What tells one engine from another. */
type Settings = Pick<LaunchOptions, "seed" | "sanitize"> & { readonly engine?: "interpreter" | "jit" };

function ptxThroughApi({ text, buffers: contents, blob, grid, block }: PtxProgram, settings: Settings): Outcome {
  const device = new Device();
  const kernel = device.load(text).kernel("k");
  const buffers = contents.map((bytes) => device.buffer(bytes));
  const args: KernelArgument[] = [...buffers, struct(blob)];
  const result = launched(kernel, { grid, block, args, maxSteps }, settings);
  return outcomeOf(
    result,
    buffers.map((b) => b.readBytes()),
  );
}

/** Launches, and throws where the launch did not ask for its engine: the interpreter would run under another's name. */
function launched(kernel: Kernel, options: LaunchOptions, { engine, ...settings }: Settings): KernelResult {
  const all = { ...options, ...settings };
  if (engine === undefined) return kernel.launch(all);
  let asked = false;
  const get = (): string => {
    asked = true;
    return engine;
  };
  const result = kernel.launch(Object.defineProperty(all, "engine", { enumerable: true, get }));
  if (!asked) throw new Error(`launches know no engine "${engine}"`);
  return result;
}

/** Bytes that each thread of vISA has for its stack. */
const bytesPerThread = 16384;

function visaThroughApi({ files, items, group }: VisaProgram, settings: Settings): Outcome {
  const device = new Device();
  const sources = files.map(({ name, text }) => ({ path: `${name}.visaasm`, text }));
  const module = device.load(sources, {
    inputs: [
      { name: "OUT", kind: "arg", type: "u64" },
      { name: "STK", kind: "stack", bytesPerThread },
      { name: "ID", kind: "lane-id", type: "u32" },
    ],
  });
  const out = device.buffer("u32", items);
  const result = launched(module.kernel("k"), { global: items, local: group, args: [out], maxSteps }, settings);
  return outcomeOf(result, [out.readBytes()]);
}

/** By the public API. */
const apiEngine = (name: string, settings: (program: Program) => Settings): Engine => ({
  name,
  run: (program) =>
    program.isa === "ptx" ? ptxThroughApi(program, settings(program)) : visaThroughApi(program, settings(program)),
});

/** With closures instead of code made from text, which the API does not offer. */
function ptxThroughClosures({ text, buffers: contents, blob, grid, block }: PtxProgram): Outcome {
  const { module, diagnostics } = compile([new SourceText("input.ptx", text)], {});
  if (!module) throw new LoadError(diagnostics);
  const device = new PtxDevice();
  const { memory } = device;
  const loaded = loadProgram(memory, module, { externals: deviceFunctions, generate: false });
  const buffers = contents.map((bytes) => device.buffer(bytes));
  const kernel = module.functions.find((f) => f.name === "k")!;
  const params = packArguments(kernel, [...buffers, struct(blob)], { memory, addressSize: module.addressSize });
  let stdout = "";
  const print = (printed: string): void => {
    stdout += printed;
  };
  const request = { kernel: "k", grid, block, sharedBytes: 0, params, maxSteps, onOutput: print };
  const { reports } = launch(loaded, request);
  return { reports: reports.map(described), stdout, buffers: buffers.map((b) => b.readBytes()) };
}

function visaThroughClosures({ files, items, group, width }: VisaProgram): Outcome {
  const { routines, diagnostics } = link(files);
  if (diagnostics.length > 0) throw new LoadError(diagnostics);
  const { reports, values } = runVisa(routines, { items, group }, width, { generate: false, watched: false }, maxSteps);
  return { reports, stdout: "", buffers: [new Uint8Array(Uint32Array.from(values).buffer)] };
}

/** `seeded` permutes the schedule, which no program without races can tell; `watched` has the sanitizers' reports too. */
export const engines = {
  interpreter: apiEngine("interpreter", () => ({})),
  seeded: apiEngine("seeded", ({ seed }) => ({ seed: seed + 1 })),
  watched: apiEngine("watched", () => ({ sanitize: "all" })),
  closures: {
    name: "closures",
    run: (program) => (program.isa === "ptx" ? ptxThroughClosures(program) : visaThroughClosures(program)),
  },
  jit: apiEngine("jit", () => ({ engine: "jit" })),
} as const satisfies Readonly<Record<string, Engine>>;
export type EngineName = keyof typeof engines;
