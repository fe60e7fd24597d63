import { decodeText } from "../source/index.ts";
import { isArchive, readArchive } from "./archive.ts";
import { ByteView } from "./byte-view.ts";
import { ContainerError } from "./container-error.ts";
import { architectureOf, isCubin } from "./cubin.ts";
import { readCuobjdump, stem } from "./cuobjdump.ts";
import { type Elf, fileSymbol, isElf, readElf, sectionBytes, symbolsOf } from "./elf.ts";
import { type FatBinary, isFatBinary, readFatBinaries } from "./fat-binary.ts";
import type { ContainedFile, Container, DeviceModule, CodeImage, SectionRelocation, SectionSymbol } from "./members.ts";
import { isCuobjdump } from "./sniff.ts";
import { isLegacyOpenCl, isZebin, zebinFiles, zebinRelocations, zebinSymbols } from "./zebin.ts";
import { isZip, readZip } from "./zip.ts";

/** The sections in which host files keep fat binaries; the second has code that is to be linked. */
const fatSections: ReadonlyMap<string, { readonly relocatable: boolean }> = new Map([
  [".nv_fatbin", { relocatable: false }],
  ["__nv_relfatbin", { relocatable: true }],
]);

/**
 * Reads what a file holds: an executable, a shared object, an object, an archive of objects, a fat binary, a cubin, the
 * text of `cuobjdump -ptx`, what ocloc writes, a ZIP archive. Nothing is decompressed before it is asked for. Returns
 * null if the bytes are none of these. `path` is used for names of members alone.
 *
 * @throws ContainerError if the file is damaged in a way that leaves nothing to read
 */
export function readContainer(bytes: Uint8Array, path = ""): Container | null {
  const view = new ByteView(bytes, path === "" ? "the file" : path);
  if (isElf(view)) return readElfFile(view, path);
  if (isFatBinary(view)) {
    const { found, problems } = readFatBinaries(bytes, path);
    const nameOf = found.length === 1 ? () => stem(path) : numbered(found);
    return container("fat binary", { modules: modulesOf(found, { nameOf }), problems });
  }
  if (isArchive(view)) return readMembers(view);
  if (isWindowsProgram(view)) {
    const { found, problems } = readFatBinaries(bytes, path);
    return container("Windows program", { modules: modulesOf(found, { nameOf: numbered(found) }), problems });
  }
  if (isZip(view)) return container("ZIP archive", { files: [...readZip(view)] });
  if (isCuobjdump(bytes)) return container("text of cuobjdump", { modules: readCuobjdump(decodeText(bytes)) });
  return null;
}

const windowsMagic = 0x905a4d;

/** Whether the bytes are an executable or a library of Windows, whose fat binaries are found by how they begin. */
const isWindowsProgram = (view: ByteView): boolean => view.length >= 4 && view.u32(0) === windowsMagic;

function container(format: string, contents: Partial<Container>): Container {
  const { modules = [], files = [], symbols = [], relocations = [], problems = [] } = contents;
  const counts = new Map<string, number>();
  const unique = modules.map((module) => {
    const count = (counts.get(module.name) ?? 0) + 1;
    counts.set(module.name, count);
    return count === 1 ? module : { ...module, name: `${module.name}-${count}` };
  });
  return { format, modules: unique, files, symbols, relocations, problems };
}

const objectType = 1;
const elfTypes: Readonly<Record<number, string>> = { 1: "object", 2: "executable", 3: "shared object" };

function readElfFile(view: ByteView, path: string): Container {
  if (isCubin(view.bytes)) return container("cubin", { modules: [cubinModule(view.bytes, path)] });
  const elf = readElf(view);
  if (isLegacyOpenCl(elf)) {
    const problem = "it is of ocloc's older format, without .ze_info; compile with `ocloc compile --format zebin`";
    return container("OpenCL binary", { problems: [problem] });
  }
  if (isZebin(elf)) {
    const contents = { files: zebinFiles(view, elf), symbols: zebinSymbols(view, elf), ...zebinRelocations(view, elf) };
    return container("OpenCL binary (zebin)", contents);
  }
  const kind = elf.type === 3 && elf.hasInterpreter ? "executable" : (elfTypes[elf.type] ?? "file");
  return container(`ELF ${kind}`, fatBinariesOf(view, elf, path));
}

/** Finds the device code of a host file: in its sections, or anywhere if the table of sections has been stripped. */
function fatBinariesOf(view: ByteView, elf: Elf, path: string): Pick<Container, "modules" | "problems"> {
  if (elf.sections.length === 0) {
    const { found, problems } = readFatBinaries(view.bytes, path);
    return { modules: modulesOf(found, { nameOf: numbered(found) }), problems };
  }
  const modules: DeviceModule[] = [];
  const problems: string[] = [];
  elf.sections.forEach((section, index) => {
    const kind = fatSections.get(section.name);
    if (kind === undefined) return;
    const { found, problems: own } = readFatBinaries(sectionBytes(view, section), `${path}, section ${section.name}`);
    problems.push(...own);
    const names = sourceNames(view, elf, index);
    const other = numbered(found);
    const isOnly = elf.type === objectType && found.length === 1;
    const nameOf = (fat: FatBinary): string => names.get(fat.offset) ?? (isOnly ? stem(path) : other(fat));
    modules.push(...modulesOf(found, { ...kind, nameOf }));
  });
  return { modules, problems };
}

/** Names modules by their number, from 1, where nothing better is known. */
const numbered =
  (all: readonly FatBinary[]) =>
  (fat: FatBinary): string =>
    String(all.indexOf(fat) + 1);

interface ModuleKind {
  /** The name of a module that has none itself. */
  readonly nameOf: (fat: FatBinary) => string;
  readonly relocatable?: boolean;
}

const modulesOf = (found: readonly FatBinary[], { nameOf, relocatable = false }: ModuleKind): DeviceModule[] =>
  found.map((fat) => ({
    name: fat.name === null ? nameOf(fat) : nameOfSource(fat.name),
    relocatable: relocatable || fat.relocatable,
    images: fat.images,
  }));

const linkedName = "device-link";

/** What linking has made has the names of all its sources. */
const nameOfSource = (name: string): string => (/\.cu\s+\S/.test(name) ? linkedName : stem(name));

const fatBinarySymbol = "fatbinData";

/**
 * The names of the sources of a section's fat binaries, by their offsets: nvcc marks each with a symbol, which follows
 * the symbol of the host code's file, unless linking has made it. Empty if the symbols have been stripped.
 */
function sourceNames(view: ByteView, elf: Elf, index: number): ReadonlyMap<number, string> {
  const names = new Map<number, string>();
  const { address } = elf.sections[index]!;
  let file = "";
  for (const { name, kind, value, section } of symbolsOf(view, elf)) {
    if (kind === fileSymbol)
      [, file = ""] = /^(?:tmpxft_[0-9a-f]{8}_[0-9a-f]{8}-\d+_)?(.*?)\.cudafe1\.\w+$/.exec(name) ?? [];
    else if (name === fatBinarySymbol && section === index) names.set(value - address, file || linkedName);
  }
  return names;
}

/** The architecture is that of the cubin; its one module has the file's name. */
function cubinModule(bytes: Uint8Array, path: string): DeviceModule {
  const image: CodeImage = {
    kind: "machine code",
    architecture: architectureOf(bytes),
    version: null,
    options: "",
    compression: "none",
    storedBytes: bytes.length,
    bytes: bytes.length,
    read: () => bytes,
  };
  return { name: stem(path), relocatable: false, images: [image] };
}

/**
 * Reads an archive: the device code of its objects, and what is in the binaries that ocloc packs for several devices.
 */
function readMembers(view: ByteView): Container {
  const modules: DeviceModule[] = [];
  const files: ContainedFile[] = [];
  const symbols: SectionSymbol[] = [];
  const relocations: SectionRelocation[] = [];
  const problems: string[] = [];
  for (const { name, bytes } of readArchive(view)) {
    try {
      const member = new ByteView(bytes, name);
      // An archive within an archive is none that any tool makes.
      const inner = isElf(member) || isFatBinary(member) ? readContainer(bytes, name) : null;
      if (inner === null) continue;
      modules.push(...inner.modules);
      const within = <T extends { readonly section: string }>(all: readonly T[]): T[] =>
        all.map((place) => ({ ...place, section: `${name}/${place.section}` }));
      files.push(...inner.files.map((file) => ({ ...file, path: `${name}/${file.path}` })));
      symbols.push(...within(inner.symbols));
      relocations.push(...within(inner.relocations));
      problems.push(...inner.problems.map((problem) => `${name}: ${problem}`));
    } catch (error) {
      if (!(error instanceof ContainerError)) throw error;
      problems.push(error.message);
    }
  }
  return container("archive", { modules, files, symbols, relocations, problems });
}
