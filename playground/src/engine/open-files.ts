import { type ContainedFile, isContainer, ptxOf, readContainer, UsageError } from "lanewise";
import { printVisa, readCisa } from "lanewise/visa";
import type { JobJson } from "../launch/job-text.ts";
import { dataFiles } from "./data-files.ts";
import { findingsOfError } from "./program.ts";
import { openClPrograms, withLaunch } from "./opencl-files.ts";
import { kernelsOf, launchOf } from "./propose.ts";
import type { DroppedFile, EngineRequests, OpenedProgram, ProgramFile } from "./protocol.ts";

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const nameOf = (path: string): string => path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);

/** Finds the programs in files that were dropped in: texts, executables, objects, fat binaries, archives. */
export async function openFiles({ files }: EngineRequests["open"]["args"]): Promise<EngineRequests["open"]["result"]> {
  try {
    const compiled = await openClPrograms(files);
    if (compiled.length > 0) return { programs: compiled, loose: [] };
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
    const visa = await Promise.all(plain.filter(isVisa).map((file) => visaProgram(file, others)));
    const ptx = plain.filter((file) => !isVisa(file) && isPtx(file)).map(ptxProgram);
    const programs = [...ptx, ...visa];
    // What belongs to a program that is opened along with it is not the user's own data.
    return { programs, loose: programs.length > 0 ? [] : await dataFiles(others) };
  } catch (error) {
    return findingsOfError(error);
  }
}

/** A file, or what is in it. */
function unpacked({ path, bytes }: DroppedFile): ProgramFile[] {
  if (/\.isa$/i.test(path)) return [printedVisa(path, bytes)];
  if (!isContainer(bytes)) {
    const isText = !/\.(npy|bin|png|jpe?g|webp|gif|avif|bmp)$/i.test(path) && !bytes.subarray(0, 4096).includes(0);
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

/** The text of vISA in binary form. */
function printedVisa(path: string, bytes: Uint8Array): ProgramFile {
  const { tree, diagnostics } = readCisa(bytes, path);
  if (tree === null) throw new UsageError(`${path}: ${diagnostics[0]?.message ?? "this is no vISA"}`);
  return { path: nameOf(path).replace(/\.isa$/i, ".visaasm"), text: printVisa(tree), bytes: null };
}

/** A file within an archive, which may be one that holds programs itself. */
const memberOf = (file: ContainedFile): ProgramFile[] =>
  file.path.endsWith("/") ? [] : unpacked({ path: file.path, bytes: file.read() });

/** A job that names its files by paths: here they have no folders. */
const withoutFolders = (job: string): string =>
  job.replace(/"(?:[^"\\]*\/)([^"\\/]+\.(?:ptx|visaasm|isaasm|npy|ya?ml))"/g, '"$1"');

function ptxProgram(file: ProgramFile): OpenedProgram {
  const path = file.path.endsWith(".ptx") ? file.path : `${file.path}.ptx`;
  const kernels = kernelsOf({ ...file, path });
  const [first] = kernels;
  const { launch, buffers } = first === undefined ? { launch: null, buffers: {} } : launchOf(first);
  const job: JobJson = { variants: { ptx: [path] }, buffers, launches: launch === null ? [] : [launch] };
  return { title: path, kernels: kernels.map(({ shown }) => shown), job, files: [{ ...file, path }] };
}

/** A text, with what the compiler says of it if that was dropped in along with it. */
function visaProgram(file: ProgramFile, others: readonly ProgramFile[]): Promise<OpenedProgram> {
  const yaml = others.find(({ path }) => /\.(ya?ml|zeinfo)$/.test(path));
  const variant = { modules: [file.path], ...(yaml === undefined ? {} : { zeinfo: yaml.path }) };
  const job: JobJson = { isa: "visa", variants: { visa: variant }, buffers: {}, launches: [] };
  return withLaunch({ title: file.path, job, files: yaml === undefined ? [file] : [file, yaml] });
}
