import type { ByteView } from "./byte-view.ts";

/** A section of an ELF file, as far as it is needed here. */
export interface ElfSection {
  readonly name: string;
  readonly type: number;
  readonly address: number;
  readonly offset: number;
  readonly size: number;
  readonly link: number;
  readonly info: number;
}

/** A symbol: the section that it is in is an index, or something else above `sections.length`. */
export interface ElfSymbol {
  readonly name: string;
  readonly kind: number;
  readonly value: number;
  readonly section: number;
}

/** The header and the sections of an ELF file, of 32 or 64 bits. */
export interface Elf {
  readonly is64: boolean;
  /** ET_REL is 1, ET_EXEC 2, ET_DYN 3. */
  readonly type: number;
  readonly machine: number;
  /** None if the table has been stripped. */
  readonly sections: readonly ElfSection[];
  /** Whether a loader of programs is named, as executables have it and shared objects do not. */
  readonly hasInterpreter: boolean;
  readonly flags: number;
}

/** Far more than files have: ceilings for what damaged numbers can ask for. */
const maxSections = 0x4_0000;
const maxSymbols = 0x40_0000;
const maxRelocations = 0x10_0000;

const elfMagic = 0x464c457f;
const noBits = 8;
const symbolTable = 2;
const dynamicSection = 6;
const neededTag = 1;
const interpreterSegment = 3;
export const fileSymbol = 4;
const relocationsWithAddends = 4;
const relocationsInPlace = 9;

export const isElf = (view: ByteView): boolean => view.length >= 4 && view.u32(0) === elfMagic;

/**
 * Reads the header and the table of sections.
 *
 * @throws ContainerError if the file is damaged
 */
export function readElf(view: ByteView): Elf {
  const [width, order] = [view.u8(4), view.u8(5)];
  if (width !== 1 && width !== 2) view.fail(`an ELF file has 32 or 64 bits, this one says ${width}`, 4);
  if (order !== 1) view.fail("an ELF file of a big-endian machine: it has no code for GPUs", 5);
  const is64 = width === 2;
  const pointer = (at: number): number => (is64 ? view.u64(at) : view.u32(at));
  const at = is64 ? 0x28 : 0x20;
  const table = pointer(at);
  const [size, count, names] = is64
    ? [view.u16(0x3a), view.u16(0x3c), view.u16(0x3e)]
    : [view.u16(0x2e), view.u16(0x30), view.u16(0x32)];
  const header = (index: number): Omit<ElfSection, "name"> & { readonly name: number } => {
    const from = table + index * size;
    const [address, offset, bytes, link, info] = is64
      ? ([16, 24, 32, 40, 44] as const)
      : ([12, 16, 20, 24, 28] as const);
    return {
      name: view.u32(from),
      type: view.u32(from + 4),
      address: pointer(from + address),
      offset: pointer(from + offset),
      size: pointer(from + bytes),
      link: view.u32(from + link),
      info: view.u32(from + info),
    };
  };
  const hasTable = table !== 0 && size >= (is64 ? 64 : 40);
  // Files with very many sections have their number, and that of the names, in the first entry.
  const realCount = !hasTable ? 0 : count !== 0 ? count : header(0).size;
  if (realCount > maxSections) view.fail(`an ELF file says that it has ${realCount} sections`, at);
  if (table + realCount * size > view.length) view.fail("the table of sections lies after the end", at);
  const headers = Array.from({ length: realCount }, (_, i) => header(i));
  const strings = headers[names === 0xffff ? (headers[0]?.link ?? 0) : names];
  const nameOf = (name: number): string => (strings ? textIn(view, strings, name) : "");
  return {
    is64,
    type: view.u16(0x10),
    machine: view.u16(0x12),
    sections: headers.map((section) => ({ ...section, name: nameOf(section.name) })),
    hasInterpreter: hasSegment(view, is64, interpreterSegment),
    flags: view.u32(is64 ? 0x30 : 0x24),
  };
}

function hasSegment(view: ByteView, is64: boolean, type: number): boolean {
  const table = is64 ? view.u64(0x20) : view.u32(0x1c);
  const [size, count] = is64 ? [view.u16(0x36), view.u16(0x38)] : [view.u16(0x2a), view.u16(0x2c)];
  if (table === 0 || table + size * count > view.length) return false;
  return Array.from({ length: count }, (_, i) => table + i * size).some((at) => view.u32(at) === type);
}

const textIn = (view: ByteView, { offset, size }: { offset: number; size: number }, at: number): string =>
  at < size && offset + at <= view.length ? view.text(offset + at) : "";

/**
 * The bytes of a section; none for one that takes no room in the file.
 *
 * @throws ContainerError if it lies outside of the file
 */
export function sectionBytes(view: ByteView, { type, offset, size, name }: ElfSection): Uint8Array {
  if (type === noBits) return new Uint8Array(0);
  if (offset + size > view.length) view.fail(`the section ${name} of ${size} bytes goes beyond the end`, offset);
  return view.slice(offset, size);
}

/** The symbols of a file, in their order; none if it is stripped. */
export function* symbolsOf(view: ByteView, { sections, is64 }: Elf): Generator<ElfSymbol> {
  const table = sections.find(({ type }) => type === symbolTable);
  const strings = sections[table?.link ?? 0];
  if (table === undefined || strings === undefined) return;
  const size = is64 ? 24 : 16;
  const end = Math.min(table.offset + Math.min(table.size, maxSymbols * size), view.length);
  for (let at = table.offset; at + size <= end; at += size) {
    const info = view.u8(at + (is64 ? 4 : 12));
    yield {
      name: textIn(view, strings, view.u32(at)),
      kind: info & 15,
      value: is64 ? view.u64(at + 8) : view.u32(at + 4),
      section: view.u16(at + (is64 ? 6 : 14)),
    };
  }
}

/** The names of the libraries that a file asks its loader for; none if its table of sections is stripped. */
export function* neededBy(view: ByteView, { sections, is64 }: Elf): Generator<string> {
  const table = sections.find(({ type }) => type === dynamicSection);
  const strings = sections[table?.link ?? 0];
  if (table === undefined || strings === undefined) return;
  const size = is64 ? 16 : 8;
  const end = Math.min(table.offset + table.size, view.length);
  for (let at = table.offset; at + size <= end; at += size) {
    const [tag, value] = is64 ? [view.u64(at), view.u64(at + 8)] : [view.u32(at), view.u32(at + 4)];
    if (tag === neededTag) yield textIn(view, strings, value);
  }
}

/** An entry of a section of relocations. */
export interface ElfRelocation {
  /** The section whose bytes it is about. */
  readonly section: ElfSection;
  readonly offset: number;
  readonly type: number;
  readonly symbol: ElfSymbol;
  /** Null if the addend stands in the place itself. */
  readonly addend: number | null;
}

/** The relocations of a file of 64 bits, in their order; those of symbols that are missing are left out. */
export function* relocationsOf(view: ByteView, elf: Elf): Generator<ElfRelocation> {
  const tables = elf.sections.filter(({ type }) => type === relocationsWithAddends || type === relocationsInPlace);
  if (tables.length === 0 || !elf.is64) return;
  const symbols = [...symbolsOf(view, elf)];
  let left = maxRelocations;
  for (const table of tables) {
    const section = elf.sections[table.info];
    if (section === undefined) continue;
    const hasAddends = table.type === relocationsWithAddends;
    const size = hasAddends ? 24 : 16;
    const end = Math.min(table.offset + Math.min(table.size, left * size), view.length);
    for (let at = table.offset; at + size <= end; at += size, left--) {
      const symbol = symbols[view.u32(at + 12)];
      const addend = hasAddends ? view.u64(at + 16) : null;
      if (symbol !== undefined) yield { section, offset: view.u64(at), type: view.u32(at + 8), symbol, addend };
    }
  }
}
