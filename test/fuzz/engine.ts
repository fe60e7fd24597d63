import {
  Device,
  type KernelArgument,
  type KernelResult,
  type LaunchOptions,
  type Report,
  struct,
} from "../../src/index.ts";
import { launch } from "../../src/interpreter/index.ts";
import type { NativeCompiler } from "../../src/jit/abi/native-code.ts";
import { compilerMistake } from "../../src/jit/abi/refusal.ts";
import { addonFile } from "../../src/node/exec/native.ts";
import { JitProgram } from "../../src/jit/run/jit-program.ts";
import type { LaunchRequest, LaunchResult } from "../../src/machine/launch.ts";
import { HostCompiler } from "../../src/node/native/host-compiler.ts";
import { loadProgram } from "../../src/program/program.ts";
import type { Buffer as DeviceBuffer } from "../../src/runtime/data/buffer.ts";
import { packArguments } from "../../src/runtime/data/argument.ts";
import { LoadError } from "../../src/runtime/data/errors.ts";
import { tensorMapArgument } from "../../src/runtime/data/tensor-map.ts";
import { compile } from "../../src/runtime/device/compile.ts";
import { PtxDevice } from "../../src/runtime/device/ptx-device.ts";
import { deviceFunctions } from "../../src/runtime/launch/device-functions.ts";
import { SourceText } from "../../src/source/index.ts";
import { link, run as runVisa } from "../visa/run/run-program.ts";
import type { Program } from "./program.ts";
import type { PtxProgram } from "./ptx-program.ts";
import type { VisaProgram } from "./visa-program.ts";

/** Thread-instructions after which the interpreter ends a launch: random programs need far fewer. */
const maxSteps = 30_000_000;

/** Bytes of memory with which a launch of compiled code is not undone and judged by the interpreter. */
const idle = 3 * 2 ** 20;

/** Seconds that a C compiler may take for a program, which otherwise is run by compiled code. */
const compilerSeconds = 4;

/** What makes machine code with an option of the C compiler; null where the machine cannot. */
function compilerWith(option: string): NativeCompiler | null {
  const addon = addonFile();
  const env = { ...process.env, CC: `${process.env["CC"] ?? "cc"} ${option}` };
  return addon === null ? null : new HostCompiler(addon, null, compilerSeconds, env);
}

/**
 * Of so many programs one is optimized as kernels are: what C leaves undefined shows there. The others take half of the
 * time.
 */
const oneOptimizedOf = 8;
const [optimizing, quick] = ["-O2", "-O1"].map(compilerWith);
const nativeCompilerFor = ({ seed }: Program) => (seed % oneOptimizedOf === 0 ? optimizing! : quick!);

/** What a launch leaves behind. */
export interface Outcome {
  /** Code and line of each report. */
  readonly reports: readonly string[];
  /** Whether sanitizers have watched the launch. */
  readonly watched: boolean;
  readonly stdout: string;
  readonly buffers: readonly Uint8Array[];
  /** What has run the kernel: there are some that no code can be compiled for. */
  readonly ranBy: "interpreter" | "jit" | "native";
  /** Why the interpreter has, where it was not asked for. */
  readonly interpreted?: string | null;
}

/** A way to run programs, each on a fresh device. Throws a LoadError when a program's text has errors. */
export interface Engine {
  readonly name: string;
  readonly run: (program: Program) => Outcome;
}

const described = ({ code, source, span }: Report): string =>
  `${code} in line ${source.position(span.start).line} of ${source.path}`;

const outcomeOf = (
  { reports, stdout, engine, interpreted }: KernelResult,
  { sanitize }: Settings,
  buffers: Outcome["buffers"],
): Outcome => {
  if (interpreted?.includes(compilerMistake)) throw new Error(interpreted);
  return {
    ranBy: engine,
    interpreted,
    reports: reports.map(described),
    watched: sanitize !== undefined,
    stdout,
    buffers,
  };
};

/**
 * What tells one engine from another. `idle`: bytes of the device's memory that the program does not use; `makesC`:
 * whether there is a compiler to machine code.
 */
type Settings = Pick<LaunchOptions, "seed" | "sanitize" | "engine" | "maxSteps"> & {
  readonly idle?: number;
  readonly makesC?: boolean;
};

/** Textures and surfaces, whose buffers are added to those of the program. */
export const handlesOf = (
  device: PtxDevice | Device,
  images: PtxProgram["images"],
  buffers: DeviceBuffer[],
): KernelArgument[] =>
  images.map(({ as, image, texture, bytes }) => {
    const buffer = device.buffer(bytes);
    buffers.push(buffer);
    const made = device.image({ ...image, buffer });
    return as === "texture" ? made.texture(texture) : made.surface();
  });

const deviceFor = (program: Program, makesC: boolean): Device =>
  new Device(makesC ? { nativeCompiler: nativeCompilerFor(program) } : {});

function ptxThroughApi(program: PtxProgram, { idle = 0, makesC = false, ...settings }: Settings): Outcome {
  const { text, buffers: contents, blob, tensors, images, grid, block, cluster } = program;
  const device = deviceFor(program, makesC);
  const kernel = device.load(text).kernel("k");
  const buffers = contents.map((bytes) => device.buffer(bytes));
  if (idle > 0) device.buffer("u8", idle);
  const args: KernelArgument[] = [...buffers, struct(blob)];
  for (const { shape, bytes } of tensors) {
    const buffer = device.buffer(bytes);
    buffers.push(buffer);
    args.push(device.tensorMap({ ...shape, globalAddress: buffer }));
  }
  args.push(...handlesOf(device, images, buffers));
  const result = kernel.launch({ grid, block, ...(cluster && { cluster }), args, ...settings });
  return outcomeOf(
    result,
    settings,
    buffers.map((b) => b.readBytes()),
  );
}

/** Bytes that each thread of vISA has for its stack. */
const bytesPerThread = 16384;

function visaThroughApi(program: VisaProgram, { idle = 0, makesC = false, ...settings }: Settings): Outcome {
  const { files, items, group } = program;
  const device = deviceFor(program, makesC);
  const sources = files.map(({ name, text }) => ({ path: `${name}.visaasm`, text }));
  const module = device.load(sources, {
    inputs: [
      { name: "OUT", kind: "arg", type: "u64" },
      { name: "STK", kind: "stack", bytesPerThread },
      { name: "ID", kind: "lane-id", type: "u32" },
    ],
  });
  const out = device.buffer("u32", items);
  if (idle > 0) device.buffer("u8", idle);
  const result = module.kernel("k").launch({ global: items, local: group, args: [out], ...settings });
  return outcomeOf(result, settings, [out.readBytes()]);
}

/** By the public API. */
const apiEngine = (name: string, settings: (program: Program) => Settings): Engine => ({
  name,
  run: (program) =>
    program.isa === "ptx" ? ptxThroughApi(program, settings(program)) : visaThroughApi(program, settings(program)),
});

type LoadedProgram = ReturnType<typeof loadProgram>;
type Launching = (loaded: LoadedProgram, request: LaunchRequest) => Pick<LaunchResult, "reports">;

/** With what the API does not offer. */
function ptxWith(launching: Launching, ranBy: Outcome["ranBy"], program: PtxProgram): Outcome {
  const { text, buffers: contents, blob, tensors, images, grid, block, cluster } = program;
  const { module, diagnostics } = compile([new SourceText("input.ptx", text)], {});
  if (!module) throw new LoadError(diagnostics);
  const device = new PtxDevice();
  const { memory } = device;
  const loaded = loadProgram(memory, module, { externals: deviceFunctions });
  const buffers = contents.map((bytes) => device.buffer(bytes));
  const kernel = module.functions.find((f) => f.name === "k")!;
  const args: KernelArgument[] = [...buffers, struct(blob)];
  for (const { shape, bytes } of tensors) {
    const buffer = device.buffer(bytes);
    buffers.push(buffer);
    args.push(tensorMapArgument({ ...shape, globalAddress: buffer }));
  }
  args.push(...handlesOf(device, images, buffers));
  const params = packArguments(kernel, args, { memory, addressSize: module.addressSize });
  let stdout = "";
  const print = (printed: string): void => {
    stdout += printed;
  };
  const request = {
    kernel: "k",
    grid,
    block,
    ...(cluster && { cluster }),
    sharedBytes: 0,
    params,
    maxSteps,
    onOutput: print,
  };
  const { reports } = launching(loaded, request);
  return {
    reports: reports.map(described),
    watched: false,
    stdout,
    buffers: buffers.map((b) => b.readBytes()),
    ranBy,
  };
}

/** With closures instead of code made from text. */
const ptxThroughClosures = (program: PtxProgram): Outcome =>
  ptxWith((loaded, request) => launch(loaded, request, { generate: false }), "interpreter", program);

/** One thread at a time, wherever threads can run alone. */
function scalarCode(loaded: LoadedProgram, request: LaunchRequest): Pick<LaunchResult, "reports"> {
  const result = new JitProgram(loaded, "scalar").launch(request);
  if (result === null) throw new Error("the program is not compiled");
  return result;
}

function visaThroughClosures({ files, items, group, width }: VisaProgram): Outcome {
  const { routines, diagnostics } = link(files);
  if (diagnostics.length > 0) throw new LoadError(diagnostics);
  const { reports, values } = runVisa(routines, { items, group }, width, { generate: false, watched: false }, maxSteps);
  const buffers = [new Uint8Array(Uint32Array.from(values).buffer)];
  return { reports, watched: false, stdout: "", buffers, ranBy: "interpreter" };
}

/** Every other program as code for the first launches, and as that for those of kernels that have run for long. */
const compiledFor = ({ seed }: Program) => (seed % 2 === 0 ? "jit" : "native");

/**
 * `seeded` permutes the schedule, which no program without races can tell; `watched` has the sanitizers' reports too.
 */
export const engines = {
  interpreter: apiEngine("interpreter", () => ({ maxSteps })),
  seeded: apiEngine("seeded", ({ seed }) => ({ seed: seed + 1, maxSteps })),
  watched: apiEngine("watched", () => ({ sanitize: "all", maxSteps })),
  /** The same by compiled code, which the interpreter explains. */
  watching: apiEngine("watching", () => ({ sanitize: "all" })),
  closures: {
    name: "closures",
    run: (program) => (program.isa === "ptx" ? ptxThroughClosures(program) : visaThroughClosures(program)),
  },
  /** It has no limit of steps, which only the interpreter keeps: run something else first. */
  jit: apiEngine("jit", (program) => ({ engine: compiledFor(program) })),
  /** The same with code for one thread at a time, wherever threads can run alone; vISA's never do. */
  scalar: {
    name: "scalar",
    run: (program) =>
      program.isa === "ptx" ? ptxWith(scalarCode, "jit", program) : visaThroughApi(program, { engine: "jit" }),
  },
  /** Machine code, where the machine has a C compiler that makes it. It has no limit of steps either. */
  native: apiEngine("native", () => ({ engine: "native", makesC: true })),
  /**
   * With so much memory that no launch is undone: the reports are those of compiled code. They are compared with those
   * of `roomy`, the interpreter with as much memory, since a stray address may fall into that.
   */
  large: apiEngine("large", (program) => ({ engine: compiledFor(program), idle })),
  roomy: apiEngine("roomy", () => ({ maxSteps, idle })),
} as const satisfies Readonly<Record<string, Engine>>;

export type EngineName = keyof typeof engines;
