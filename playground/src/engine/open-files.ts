import { type ContainedFile, Device, isContainer, LoadError, ptxOf, readContainer } from "lanewise";
import type { ArgumentJson, JobJson } from "../launch/job-text.ts";
import { findingsOfError } from "./program.ts";
import type { DroppedFile, EngineRequests, OpenedProgram, ProgramFile } from "./protocol.ts";

/** Elements of the buffers that a new job has. */
const elements = 1024;

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const nameOf = (path: string): string => path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);

/** Finds the programs in files that were dropped in: texts, executables, objects, fat binaries, archives. */
export async function openFiles({ files }: EngineRequests["open"]["args"]): Promise<EngineRequests["open"]["result"]> {
  try {
    const plain = files.flatMap(unpacked);
    const job = plain.find(({ path }) => path.endsWith(".json"));
    const isPtx = ({ path, text }: ProgramFile): boolean =>
      path.endsWith(".ptx") || /^\s*\.version\s/m.test(text ?? "");
    const isVisa = ({ path }: ProgramFile): boolean => /\.(visaasm|isaasm)$/.test(path);
    const others = plain.filter((file) => file !== job && !isPtx(file) && !isVisa(file));
    if (job !== undefined && job.text !== null) {
      const rest = plain.filter((file) => file !== job);
      return { programs: [{ title: job.path, kernels: [], job: withoutFolders(job.text), files: rest }], loose: [] };
    }
    const visa = plain.filter(isVisa).map((file) => visaProgram(file, others));
    const ptx = plain.filter((file) => !isVisa(file) && isPtx(file)).map(ptxProgram);
    return { programs: [...ptx, ...visa], loose: others };
  } catch (error) {
    return findingsOfError(error);
  }
}

/** A file, or what is in it. */
function unpacked({ path, bytes }: DroppedFile): ProgramFile[] {
  if (!isContainer(bytes)) {
    const isText = !/\.(npy|bin|png)$/.test(path) && !bytes.subarray(0, 4096).includes(0);
    return [{ path: nameOf(path), text: isText ? textOf(bytes) : null, bytes: isText ? null : bytes }];
  }
  const container = readContainer(bytes, path)!;
  const members = container.files.flatMap(memberOf);
  if (members.length > 0 && container.modules.length === 0) return members;
  return [
    ...members,
    ...ptxOf(bytes, path).map(({ module, target, text }) => ({ path: `${module}.${target}.ptx`, text, bytes: null })),
  ];
}

/** A file within an archive, which may be one that holds programs itself. */
const memberOf = (file: ContainedFile): ProgramFile[] =>
  file.path.endsWith("/") ? [] : unpacked({ path: file.path, bytes: file.read() });

/** A job that names its files by paths: here they have no folders. */
const withoutFolders = (job: string): string =>
  job.replace(/"(?:[^"\\]*\/)([^"\\/]+\.(?:ptx|visaasm|isaasm|npy|ya?ml))"/g, '"$1"');

function ptxProgram(file: ProgramFile): OpenedProgram {
  const path = file.path.endsWith(".ptx") ? file.path : `${file.path}.ptx`;
  const kernels = kernelsOf(() => new Device().load({ path, text: file.text ?? "" }));
  const [first] = kernels;
  const buffers: NonNullable<JobJson["buffers"]> = {};
  const args = first?.parameters.map((parameter) => argumentOf(parameter, buffers)) ?? [];
  const launches = first === undefined ? [] : [{ kernel: first.name, grid: [1], block: [32], args }];
  const job: JobJson = { variants: { ptx: [path] }, buffers, launches };
  return { title: path, kernels: kernels.map(({ shown }) => shown), job, files: [{ ...file, path }] };
}

function visaProgram(file: ProgramFile, others: readonly ProgramFile[]): OpenedProgram {
  const yaml = others.find(({ path }) => /\.(ya?ml|zeinfo)$/.test(path));
  const name = /^\s*\.kernel\s+"?([\w.$]+)"?/m.exec(file.text ?? "")?.[1];
  const launches = name === undefined ? [] : [{ kernel: name, global: [16], local: [16], args: [] }];
  const variant = { modules: [file.path], ...(yaml === undefined ? {} : { zeinfo: yaml.path }) };
  const job: JobJson = { isa: "visa", variants: { skl: variant }, buffers: {}, launches };
  return {
    title: file.path,
    kernels: name === undefined ? [] : [name],
    job,
    files: yaml === undefined ? [file] : [file, yaml],
  };
}

interface FoundKernel {
  readonly name: string;
  readonly shown: string;
  readonly parameters: readonly FoundParameter[];
}

interface FoundParameter {
  readonly name: string;
  readonly kind: string;
  readonly size: number;
  /** The type of C++, where the name of the kernel says it. */
  readonly element: string | null;
  readonly isPointer: boolean | null;
}

function kernelsOf(load: () => ReturnType<Device["load"]>): FoundKernel[] {
  try {
    const module = load();
    return module.kernels.map((name) => {
      const kernel = module.kernel(name);
      const types = kernel.parameterTypes;
      const parameters = kernel.ir.params.map(({ name: parameter, type }, i) => ({
        name: parameter,
        kind: type.kind,
        size: type.size,
        element: types?.[i]?.element ?? null,
        isPointer: types === null ? null : types[i]?.kind === "pointer",
      }));
      return { name, shown: kernel.signature, parameters };
    });
  } catch (error) {
    // The editor shows what is wrong.
    if (error instanceof LoadError) return [];
    throw error;
  }
}

/** An argument that fits a parameter: a new buffer where it is, or may be, an address. */
function argumentOf(
  { name, kind, size, element, isPointer }: FoundParameter,
  buffers: NonNullable<JobJson["buffers"]>,
): ArgumentJson {
  if (kind === "array") return { bytes: "00".repeat(size) };
  if (isPointer ?? (size === 8 && kind !== "f")) {
    const plain = name.replace(/.*_param_/, "p");
    buffers[plain] = { type: element ?? "u32", n: elements, init: { gen: "iota" } };
    return { buf: plain };
  }
  return { [element ?? `${kind === "f" ? "f" : "u"}${8 * size}`]: kind === "f" ? 1 : elements };
}
