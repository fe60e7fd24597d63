import {
  type ElementType,
  type Kernel,
  type KernelInput,
  LoadError,
  type Module,
  SourceText,
  UsageError,
} from "lanewise";
import { type BoundInput, checkVisa, parseVisa } from "lanewise/visa";
import type { ArgumentJson, BufferJson, JobJson } from "../launch/job-text.ts";
import { filesOf, openRun } from "./program.ts";
import type { LaunchProposal, Program } from "./protocol.ts";

/** Elements of the buffers that a new launch has, and pixels of the sides of its images. */
const elements = 1024;
const side = 32;

/** The dummy kernel with which a compiler carries functions along. */
const symbolTable = "Intel_Symbol_Table_Void_Program";

/** The kernels of a vISA program, and how one of them may be launched. */
interface VisaKernels {
  readonly kernels: readonly string[];
  /** Null if the program has errors, or no such kernel. */
  readonly proposal: LaunchProposal | null;
}

type Parameter = NonNullable<Kernel["visaParameters"]>[number];

/**
 * Proposes a launch of a vISA kernel, the first if none is named. `.ze_info` says what a compiled kernel takes; the
 * inputs of one written by hand are taken for what their sizes suggest.
 */
export async function launchOfVisa(program: Program, wanted: string | null): Promise<VisaKernels> {
  const module = await loaded(program);
  const kernels = module?.kernels.filter((name) => name !== symbolTable) ?? [];
  const name = wanted ?? kernels[0];
  if (module === null || name === undefined || !kernels.includes(name)) return { kernels, proposal: null };
  const own = handwritten(program, name);
  // What is written by hand need not divide its work between hardware threads: it is launched as one.
  const size = own === null ? await groupOf(program, name) : [own.simd];
  const parameters = own === null ? parametersOf(module, name) : own.inputs.map(parameterOf).filter((p) => p !== null);
  const buffers: Record<string, BufferJson> = {};
  const args = parameters.map((parameter, i) => argumentOf(parameter, i, buffers));
  const launch = { kernel: name, global: size, local: size, args };
  return { kernels, proposal: { launch, buffers, ...(own !== null && { inputs: own.inputs }) } };
}

/** The program as it is loaded; null if it has errors, which the editor shows. */
async function loaded(program: Program): Promise<Module | null> {
  try {
    // What is launched does not matter yet.
    const job = JSON.stringify({ ...jobJson(program), launches: [], buffers: {}, checks: [] });
    return (await openRun({ ...program, job }, {})).load();
  } catch (error) {
    if (error instanceof LoadError || error instanceof UsageError) return null;
    throw error;
  }
}

const jobJson = ({ job }: Program): JobJson => JSON.parse(job) as JobJson;

/** What `.ze_info` calls the program's own; null if there is none. */
function infoPath(program: Program): string | null {
  const [variant] = Object.values(jobJson(program).variants) as { zeinfo?: string }[];
  return variant?.zeinfo ?? null;
}

function parametersOf(module: Module, name: string): readonly Parameter[] {
  try {
    return module.kernel(name).visaParameters ?? [];
  } catch (error) {
    // `.ze_info` may lack the kernel: running it says so.
    if (error instanceof UsageError) return [];
    throw error;
  }
}

/** The work items of a group: as many as the kernel requires, or those of a few hardware threads. */
async function groupOf(program: Program, kernel: string): Promise<number[]> {
  const path = infoPath(program);
  const text = program.files.find((file) => file.path === path)?.text;
  if (text === undefined || text === null) return [side];
  const info = (await filesOf(program)).yaml?.(text) as
    | { kernels?: { name: string; execution_env?: { required_work_group_size?: number[] } }[] }
    | undefined;
  return info?.kernels?.find(({ name }) => name === kernel)?.execution_env?.required_work_group_size ?? [side];
}

/** The lanes of a kernel written by hand, and what its inputs are; null for a compiled one. */
function handwritten(program: Program, kernel: string): Handwritten | null {
  if (infoPath(program) !== null) return null;
  const { inputs = [] } = jobJson(program) as { inputs?: readonly KernelInput[] };
  for (const { path, text } of program.files) {
    if (text === null) continue;
    const { routines } = checkVisa(parseVisa(new SourceText(path, text)).tree, {});
    const routine = routines.find(({ kind, name }) => kind === "kernel" && name === kernel);
    if (routine === undefined) continue;
    const { simd } = routine;
    return { simd, inputs: inputs.length > 0 ? inputs : routine.inputs.flatMap((input) => likelyInput(input, simd)) };
  }
  return null;
}

interface Handwritten {
  readonly simd: number;
  readonly inputs: readonly KernelInput[];
}

/** What the size of an input suggests that it is. */
function likelyInput({ variable: { name }, size }: BoundInput, simd: number): KernelInput[] {
  if (size === 8) return [{ name, kind: "arg", type: "u64" }];
  if (size === 4) return [{ name, kind: "arg", type: "u32" }];
  return size === 4 * simd ? [{ name, kind: "lane-id", type: "u32" }] : [];
}

const parameterOf = (input: KernelInput): Parameter | null => {
  if (input.kind !== "arg") return null;
  const { name, type } = input;
  return type === "u64" ? { kind: "pointer", name } : { kind: "value", name, type, elements: 1, bytes: 4 };
};

/** An argument that fits a parameter, and the buffer that it is of, if it is of one. */
function argumentOf(parameter: Parameter, index: number, buffers: Record<string, BufferJson>): ArgumentJson {
  const name = parameter.name === "" ? `p${index}` : parameter.name;
  switch (parameter.kind) {
    case "pointer":
      buffers[name] = { type: parameter.pointsTo ?? "u32", n: elements, init: { gen: "iota" } };
      return { buf: name };
    case "local":
      return { local: 4 * elements };
    case "image": {
      buffers[name] = { type: "u8", n: 4 * side * side, init: { gen: "lcg", seed: 7, lo: 0, hi: 256 } };
      const resource = { type: "array", buf: name, format: { type: "unorm8", channels: 4 }, width: side, height: side };
      return { texture: { resource } };
    }
    case "sampler":
      return { sampler: { filterMode: "linear" } };
    case "value":
      return plainValue(parameter);
    case "unused":
      return { u32: 0 };
  }
}

function plainValue({ type, elements: n, bytes }: Extract<Parameter, { kind: "value" }>): ArgumentJson {
  if (type === null) return { bytes: "00".repeat(bytes) };
  const value = isFloat(type) ? 1 : elements;
  return n === 1 ? { [type]: value } : { [`${type}v`]: new Array<number>(n).fill(value) };
}

const isFloat = (type: ElementType): boolean => type.includes("f");
