import type { ByteView } from "./byte-view.ts";
import { type Elf, relocationsOf, sectionBytes, symbolsOf } from "./elf.ts";
import type { ContainedFile, SectionRelocation, SectionSymbol } from "./members.ts";

/** Intel's GPUs as the machine of an ELF file. */
const intelMachine = 205;
/** The types of files that ocloc wrote before there were zebins, with "patch tokens" instead of `.ze_info`. */
const legacyTypes: ReadonlySet<number> = new Set([0xff01, 0xff02, 0xff03, 0xff04, 0xff05, 0xff06]);

const textName = ".visaasm";
const dataPrefix = ".data.";
const zeInfoName = ".ze_info";

export const isZebin = ({ machine, sections }: Elf): boolean =>
  machine === intelMachine || sections.some(({ name }) => name === zeInfoName);

export const isLegacyOpenCl = ({ type }: Elf): boolean => legacyTypes.has(type);

const codePrefix = ".text.";

/**
 * The sections of a zebin that a program can be run from: vISA texts as files of their own, `.ze_info`, constant data.
 * Those of functions name them; those of kernels are in the order of the sections with their machine code.
 */
export function zebinFiles(view: ByteView, { sections }: Elf): readonly ContainedFile[] {
  const kernels = sections.filter(({ name }) => name.startsWith(codePrefix)).values();
  return sections.flatMap((section): ContainedFile[] => {
    const { name } = section;
    const read = (): Uint8Array => sectionBytes(view, section);
    const file = (path: string): ContainedFile[] => [{ path, compression: "none", bytes: section.size, read }];
    if (name === textName) return file(`${kernels.next().value?.name.slice(codePrefix.length) ?? "kernel"}.visaasm`);
    if (name.startsWith(`${textName}.`)) return file(`${name.slice(textName.length + 1)}.visaasm`);
    return name.startsWith(dataPrefix) || name === zeInfoName ? file(name) : [];
  });
}

/** The names in the sections of data. */
export function zebinSymbols(view: ByteView, elf: Elf): readonly SectionSymbol[] {
  return [...symbolsOf(view, elf)].flatMap(({ name, section, value }) => {
    const place = elf.sections[section]?.name ?? "";
    return place.startsWith(dataPrefix) && name !== "" ? [{ name, section: place, offset: value }] : [];
  });
}

/** R_ZE_SYM_ADDR and R_ZE_SYM_ADDR_32: the types of addresses in data (inc/common/ZEELF.h of IGC), by their sizes. */
const addressBytes: ReadonlyMap<number, 4 | 8> = new Map([
  [1, 8],
  [2, 4],
]);

interface ZebinRelocations {
  readonly relocations: readonly SectionRelocation[];
  readonly problems: readonly string[];
}

/** The addresses in the sections of data. Those in machine code are no use here. */
export function zebinRelocations(view: ByteView, elf: Elf): ZebinRelocations {
  const relocations: SectionRelocation[] = [];
  const problems: string[] = [];
  for (const { section, offset, type, symbol, addend } of relocationsOf(view, elf)) {
    if (!section.name.startsWith(dataPrefix) || symbol.name === "") continue;
    const bytes = addressBytes.get(type);
    if (bytes !== undefined && !addend) {
      relocations.push({ section: section.name, offset, symbol: symbol.name, bytes });
    } else if (problems.length < maxProblems) {
      const what = bytes === undefined ? `of type ${type}` : "with an addend of its own";
      problems.push(`the address of ${symbol.name} at ${section.name}+${offset} is ${what}, which is not read`);
    }
  }
  return { relocations, problems };
}

const maxProblems = 100;
