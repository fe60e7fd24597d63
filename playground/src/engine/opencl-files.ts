import {
  type ContainedFile,
  isContainer,
  type OpenClContents,
  type OpenClProgram,
  openClContents,
  openOpenCl,
} from "lanewise";
import type { JobJson } from "../launch/job-text.ts";
import { launchOfVisa } from "./propose-visa.ts";
import type { DroppedFile, OpenedProgram, ProgramFile } from "./protocol.ts";

const isText = (path: string): boolean => /\.(visaasm|isaasm|isa)$/i.test(path);
const isInfo = (path: string): boolean => /(^|[./])ze_?info(\.ya?ml)?$/i.test(path);

/**
 * The OpenCL programs in files that were dropped in: IGC's dumps, as a folder or in an archive, and binaries of ocloc.
 * Of an archive with binaries for several devices there is a program for each. None: there is nothing that IGC has
 * compiled.
 *
 * @throws UsageError if a binary of ocloc has no vISA in it
 */
export async function openClPrograms(files: readonly DroppedFile[]): Promise<OpenedProgram[]> {
  const folder = folderOf(files);
  const wholes = isDump(folder) ? [folder] : files.flatMap(contentsOf);
  const programs: OpenedProgram[] = [];
  for (const contents of wholes)
    for (const device of devicesOf(contents)) {
      const title = device === null ? contents.path : `${contents.path}, ${device}`;
      programs.push(await opened(openOpenCl(contents, device), title));
    }
  return programs;
}

/** Files that lie beside each other as IGC leaves them: the binary in which `.ze_info` is, and texts. */
const isDump = ({ files }: OpenClContents): boolean =>
  files.some(({ path }) => /\.progbin$/i.test(path)) ||
  (files.some(({ path }) => isText(path)) && files.some(({ path }) => isInfo(path) || /\.bin$/i.test(path)));

const folderOf = (files: readonly DroppedFile[]): OpenClContents => ({
  ...{ path: files[0]?.path.split("/")[0] ?? "", format: "folder", isFolder: true },
  ...{ symbols: [], relocations: [], problems: [] },
  files: files.map(
    ({ path, bytes }): ContainedFile => ({ path, compression: "none", bytes: bytes.length, read: () => bytes }),
  ),
});

/** What a file holds that IGC has compiled; nothing for all other files. */
function contentsOf({ path, bytes }: DroppedFile): OpenClContents[] {
  if (!isContainer(bytes)) return [];
  const contents = openClContents(path, bytes);
  return contents.files.some((file) => isInfo(file.path)) || isDump(contents) ? [contents] : [];
}

/** The devices for which an archive of ocloc has binaries; null for what is made for one. */
function devicesOf({ files }: OpenClContents): readonly (string | null)[] {
  const infos = files.filter(({ path }) => isInfo(path));
  const isArchive = infos.length > 1 && files.every(({ path }) => path.includes("/"));
  return isArchive ? [...new Set(infos.map(({ path }) => path.split("/")[0]!))] : [null];
}

/** A program of vISA with a launch of its first kernel, if it has one that can be launched. */
export async function withLaunch({
  job,
  ...program
}: Omit<OpenedProgram, "kernels" | "job"> & { job: JobJson }): Promise<OpenedProgram> {
  const { kernels, proposal } = await launchOfVisa({ job: JSON.stringify(job), files: program.files }, null);
  if (proposal === null) return { ...program, kernels, job };
  const { launch, ...fields } = proposal;
  return { ...program, kernels, job: { ...job, ...fields, launches: [launch] } };
}

/** The last part of a path, which in an archive follows the archive's own. */
const nameOf = (path: string): string => path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf(":")) + 1);

/** A job of the program's first kernel. In the page files have no folders. */
async function opened(program: OpenClProgram, title: string): Promise<OpenedProgram> {
  const { texts, zeinfo, data, symbols, relocations } = program;
  const plain = (path: string, bytes: Uint8Array): ProgramFile => ({ path, text: textOf(bytes), bytes: null });
  const modules = texts.map(({ path, bytes }) => plain(nameOf(path), bytes));
  const info = zeinfo === null ? [] : [plain("ze_info.yaml", zeinfo.bytes)];
  const sections = [...data].map(([name, { bytes }]) => ({ name, path: `${name.slice(1)}.bin`, bytes }));
  const variant = {
    modules: modules.map(({ path }) => path),
    ...(info.length > 0 && { zeinfo: info[0]!.path }),
    ...(sections.length > 0 && { data: Object.fromEntries(sections.map(({ name, path }) => [name, { file: path }])) }),
    ...(symbols.length > 0 && {
      symbols: Object.fromEntries(symbols.map(({ name, section, offset }) => [name, { section, offset }])),
    }),
    ...(relocations.length > 0 && { relocations }),
  };
  const files = [...modules, ...info, ...sections.map(({ path, bytes }) => ({ path, text: null, bytes }))];
  const job: JobJson = { isa: "visa", variants: { igc: variant }, buffers: {}, launches: [] };
  return withLaunch({ title, job, files });
}

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
