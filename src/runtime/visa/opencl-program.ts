import {
  type ContainedFile,
  ContainerError,
  isContainer,
  readContainer,
  type SectionRelocation,
  type SectionSymbol,
} from "../../container/index.ts";
import { decodeText } from "../../source/index.ts";
import { UsageError } from "../data/errors.ts";

/** A file with the path by which messages refer to it. */
export interface OpenClFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** How the sections of data are linked. */
export interface SectionLinks {
  /** The names that lie in them. */
  readonly symbols: readonly SectionSymbol[];
  /** The addresses in them. */
  readonly relocations: readonly SectionRelocation[];
}

/** What a folder of IGC's dumps, a ZIP archive of one, or a binary of ocloc has of one OpenCL program. */
export interface OpenClProgram extends SectionLinks {
  /** The kind of file, as in "ZIP archive". */
  readonly format: string;
  /** The texts of kernels, then those of functions. */
  readonly texts: readonly OpenClFile[];
  /** `.ze_info`; null if there is none. */
  readonly zeinfo: OpenClFile | null;
  /** The sections of data, by name. */
  readonly data: ReadonlyMap<string, OpenClFile>;
}

/** The files among which those of an OpenCL program are: in a folder of dumps, an archive, or a binary of ocloc. */
export interface OpenClContents extends SectionLinks {
  /** The path by which messages refer to all of it. */
  readonly path: string;
  readonly format: string;
  /** Whether it is a folder: its files have paths of their own. */
  readonly isFolder: boolean;
  readonly files: readonly ContainedFile[];
  readonly problems: readonly string[];
}

/** A path without any file. */
export const noContents = (path: string): OpenClContents => ({
  ...{ path, format: "file", isFolder: false },
  ...{ files: [], symbols: [], relocations: [], problems: [] },
});

/** The files in a ZIP archive or a binary of ocloc; none in another file. */
export function openClContents(path: string, bytes: Uint8Array): OpenClContents {
  try {
    return { ...noContents(path), ...readContainer(bytes, path) };
  } catch (error) {
    if (error instanceof ContainerError) throw new UsageError(error.message);
    throw error;
  }
}

/** All files, those in binaries of ocloc among them too. */
function withInner(listed: OpenClContents): OpenClContents {
  const inner = listed.files
    .filter(({ path: name }) => isBinary(name))
    .map((file) => {
      const bytes = read(file, listed.path);
      return isContainer(bytes) ? openClContents(file.path, bytes) : noContents(file.path);
    });
  return {
    ...listed,
    files: [...listed.files, ...inner.flatMap(({ files }) => files)],
    symbols: [...listed.symbols, ...inner.flatMap(({ symbols }) => symbols)],
    relocations: [...listed.relocations, ...inner.flatMap(({ relocations }) => relocations)],
    problems: [...listed.problems, ...inner.flatMap(({ problems }) => problems)],
  };
}

function read(file: ContainedFile, path: string): Uint8Array {
  try {
    return file.read();
  } catch (error) {
    if (error instanceof ContainerError) throw new UsageError(`${path}: ${error.message}`);
    throw error;
  }
}

const isBinary = (name: string): boolean => /\.(progbin|bin)$/i.test(name);
const isText = (name: string): boolean => /\.(visaasm|isaasm|isa)$/i.test(name);
const isZeInfo = (name: string): boolean => /(^|[./])ze_?info(\.ya?ml)?$/i.test(name);
const isData = (name: string): boolean => /(^|\/)\.data\.[\w.]+$/.test(name);

/** The text of a kernel says its name and the number of lanes that it was compiled for. */
interface KernelText {
  readonly file: OpenClFile;
  /** Null for the text of functions. */
  readonly kernel: string | null;
  readonly simd: number | null;
}

function kernelText(file: OpenClFile): KernelText {
  const head = decodeText(file.bytes.subarray(0, 0x1_0000));
  const [, kernel = null] = /^[ \t]*\.kernel[ \t]+"?([^"\s]+)"?/m.exec(head) ?? [];
  // The attribute comes after all declarations, which may be thousands.
  const attributes = simdOf(head) === null && kernel !== null ? decodeText(file.bytes) : head;
  // The vector compiler's SimdSize is the channels of its widest instruction: it compiles for one number of lanes.
  const simd = /\bTarget[ \t]*=[ \t]*"cm"/.test(attributes) ? null : simdOf(attributes);
  return { file, kernel, simd };
}

function simdOf(text: string): number | null {
  const [, simd = null] = /\bSimdSize[ \t]*=[ \t]*(\d+)/i.exec(text) ?? [];
  return simd === null ? null : Number(simd);
}

/** Whether a file may be part of an OpenCL program, by its name. */
export const isOpenClPart = (name: string): boolean => isText(name) || isZeInfo(name) || isBinary(name);

/**
 * Opens an OpenCL program. Of an archive with the binaries for several devices, `device` names one.
 *
 * @throws UsageError if it has no vISA, which says how to compile so that it has
 */
export function openOpenCl(contents: OpenClContents, device: string | null): OpenClProgram {
  const { path, format, isFolder, files: all, symbols, relocations, problems } = withInner(contents);
  if (problems.length > 0 && all.length === 0) throw new UsageError(`${path}: ${problems.join("; ")}`);
  const files = ofDevice(path, all, device);
  const paths = new Set(files.map((file) => file.path));
  /** Those in sections of the chosen device, under the names that sections have. */
  const own = <T extends { readonly section: string }>(places: readonly T[]): T[] =>
    places
      .filter(({ section }) => paths.has(section))
      .map((place) => ({ ...place, section: place.section.replace(/^.*\//, "") }));
  const shown = (file: ContainedFile): OpenClFile => ({
    path: isFolder ? file.path : `${path}:${file.path}`,
    bytes: read(file, path),
  });
  const info = files.find(({ path: name }) => isZeInfo(name));
  const zeinfo = info === undefined ? null : shown(info);
  const texts = files.filter(({ path: name }) => isText(name));
  // IGC dumps a routine as text and in binary form.
  const names = new Set(texts.map(({ path: name }) => name));
  const dumps = texts.filter(
    ({ path: name }) => !names.has(name.replace(/\.isa$/i, ".visaasm")) || !/\.isa$/i.test(name),
  );
  if (dumps.length === 0) throw new UsageError(withoutText(contents, files));
  const data = files.filter((file) => isData(file.path)).map((file) => [file.path.replace(/^.*\//, ""), shown(file)]);
  return {
    format,
    texts: chooseTexts(dumps.map(shown), zeinfo),
    zeinfo,
    data: new Map(data as [string, OpenClFile][]),
    symbols: own(symbols),
    relocations: own(relocations),
  };
}

function withoutText({ path, format, isFolder }: OpenClContents, files: readonly ContainedFile[]): string {
  const kind = isFolder ? " is a folder that" : "";
  // Sections of a binary have no other names than `.text.kernel` and the like.
  const hasMachineCode = files.some(({ path: name }) => isBinary(name) || format !== "ZIP archive");
  if (kind !== "" || !hasMachineCode)
    return `${path}${kind} has no vISA text (.visaasm), nor a binary of ocloc with some`;
  return `${path} has machine code alone, no vISA; compile with ocloc compile --format zebin -internal_options "-ze-emit-zebin-visa-sections"`;
}

/** Members of an archive have paths like "64.12.0.0/.ze_info". */
function ofDevice(path: string, files: readonly ContainedFile[], device: string | null): readonly ContainedFile[] {
  const isArchive = files.length > 0 && files.every(({ path: name }) => name.includes("/"));
  const devices = [...new Set(files.flatMap(({ path: name }) => (isArchive ? [name.split("/")[0]!] : [])))];
  const infos = files.filter((file) => isZeInfo(file.path));
  if (!isArchive || (infos.length < 2 && device === null)) return files;
  const found = files.filter(({ path: name }) => name.startsWith(`${device}/`));
  if (found.length > 0) return found;
  throw new UsageError(`${path} has binaries for several devices: choose one of ${devices.join(", ")} with --module`);
}

/**
 * The texts that belong together: of a kernel that was compiled for several numbers of lanes the one that `.ze_info`
 * describes; kernels first. Sections of a binary say "kernel" where `.ze_info` has the name of the kernel.
 */
function chooseTexts(files: readonly OpenClFile[], zeinfo: OpenClFile | null): readonly OpenClFile[] {
  const lanes = zeinfo === null ? new Map<string, number>() : lanesOf(decodeText(zeinfo.bytes));
  const texts = files.map((file) => named(kernelText(file), lanes));
  const widths = new Set(texts.flatMap(({ kernel, simd }) => (kernel === null ? [] : [simd])));
  const wanted = texts.filter(({ kernel, simd, file }) => {
    if (widths.size < 2 || lanes.size === 0) return true;
    const own = kernel === null ? null : lanes.get(kernel);
    if (own !== null && own !== undefined) return simd === null || simd === own;
    // Functions have the width in their file's name, as all dumps do.
    const [, width] = /simd(\d+)_/i.exec(file.path) ?? [];
    return width === undefined || [...lanes.values()].includes(Number(width));
  });
  const rank = ({ kernel, file }: KernelText): number =>
    kernel === null ? 1 : /Intel_Symbol_Table_Void_Program/.test(file.path + kernel) ? 2 : 0;
  return wanted.toSorted((a, b) => rank(a) - rank(b)).map(({ file }) => file);
}

function named(text: KernelText, lanes: ReadonlyMap<string, number>): KernelText {
  const { file, kernel } = text;
  const [, stem = ""] = /([^/:\\]+)\.\w+$/.exec(file.path) ?? [];
  if (kernel === null || kernel === stem || lanes.has(kernel) || !lanes.has(stem)) return text;
  const bytes = new TextEncoder().encode(decodeText(file.bytes).replace(/^([ \t]*\.kernel[ \t]+)\S+/m, `$1"${stem}"`));
  return { ...text, kernel: stem, file: { path: file.path, bytes } };
}

/** The number of lanes of each kernel, as `.ze_info` says. */
function lanesOf(zeinfo: string): ReadonlyMap<string, number> {
  const kernels = zeinfo.split(/^kernels_misc_info:/m)[0]!.split(/^ *- name: +/m);
  return new Map(
    kernels.slice(1).flatMap((kernel): [string, number][] => {
      const [, simd] = /^ *simd_size: +(\d+)/m.exec(kernel) ?? [];
      return simd === undefined ? [] : [[/^['"]?([^'"\s]*)/.exec(kernel)![1]!, Number(simd)]];
    }),
  );
}
