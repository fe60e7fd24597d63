import { DwarfError, Reader } from "./reader.ts";
import type { DebugSection, DebugSections } from "./sections.ts";

/** The line of a source for the instructions from an address to the next. */
interface Row {
  readonly address: number;
  /** Null: the end of a sequence, after which nothing is known. */
  readonly file: string | null;
  readonly line: number;
}

/** A place in a source file. */
export interface SourceLine {
  readonly file: string;
  readonly line: number;
}

/** What the header of a unit says of its program. */
interface UnitHeader {
  readonly files: readonly string[];
  /** The number of the first file. */
  readonly firstFile: number;
  readonly minLength: number;
  readonly lineBase: number;
  readonly lineRange: number;
  readonly opcodeBase: number;
  /** How many operands each standard operation has, from the first on. */
  readonly operands: readonly number[];
}

const form = { string: 0x08, lineStr: 0x1f, strp: 0x0e, udata: 0x0f, data1: 0x0b, data2: 0x05, data16: 0x1e } as const;

/** Kinds of contents of an entry of a table. */
const content = { path: 1 } as const;

/** Reads one field of an entry: a text, or null for anything else. */
function field(reader: Reader, kind: number, sections: DebugSections): string | null {
  const from = (name: string): string => new Reader(section(sections, name), reader.u32()).string();
  switch (kind) {
    case form.string:
      return reader.string();
    case form.lineStr:
      return from("debug_line_str");
    case form.strp:
      return from("debug_str");
    case form.udata:
      reader.uleb();
      return null;
    case form.data1:
      reader.skip(1);
      return null;
    case form.data2:
      reader.skip(2);
      return null;
    case form.data16:
      reader.skip(16);
      return null;
    default:
      throw new DwarfError(`the form ${kind} of a file's name is not supported`);
  }
}

function section(sections: DebugSections, name: string): DebugSection {
  const found = sections.section(name);
  if (found === null) throw new DwarfError(`there is no .${name}`);
  return found;
}

/** The paths of a table of DWARF 5, of folders or of files. */
function paths(reader: Reader, sections: DebugSections): readonly string[] {
  const formats = Array.from({ length: reader.u8() }, () => [reader.small(), reader.small()] as const);
  return Array.from({ length: reader.small() }, () => {
    let path = "";
    for (const [what, kind] of formats) {
      const value = field(reader, kind, sections);
      if (what === content.path) path = value ?? "";
    }
    return path;
  });
}

/** The paths of a table before DWARF 5: up to an empty one. */
function oldPaths(reader: Reader, numbers: number): readonly string[] {
  const found: string[] = [];
  for (let path = reader.string(); path !== ""; path = reader.string()) {
    found.push(path);
    for (let i = 0; i < numbers; i++) reader.uleb();
  }
  return found;
}

function readHeader(reader: Reader, version: number, sections: DebugSections): UnitHeader & { readonly start: number } {
  if (version >= 5) reader.skip(2);
  const start = reader.u32() + reader.at;
  const minLength = reader.u8();
  if (version >= 4) reader.skip(1);
  reader.skip(1);
  const lineBase = Number(reader.signed(1));
  const [lineRange, opcodeBase] = [reader.u8(), reader.u8()];
  const operands = Array.from({ length: opcodeBase - 1 }, () => reader.u8());
  if (version >= 5) paths(reader, sections);
  else oldPaths(reader, 0);
  const files = version >= 5 ? paths(reader, sections) : oldPaths(reader, 3);
  return { files, firstFile: version >= 5 ? 0 : 1, minLength, lineBase, lineRange, opcodeBase, operands, start };
}

/** Standard operations of a program of lines. */
const standard = { copy: 1, advance: 2, line: 3, file: 4, constantAdvance: 8, fixedAdvance: 9 } as const;
const extended = { end: 1, address: 2 } as const;

/** Runs the program of a unit, which makes rows. */
function* rows(reader: Reader, header: UnitHeader): Generator<Row> {
  let [address, file, line] = [0, 1, 1];
  const advance = (count: number): void => {
    address += count * header.minLength;
  };
  const row = (): Row => ({ address, file: header.files[file - header.firstFile] ?? "?", line });
  while (!reader.atEnd) {
    const opcode = reader.u8();
    if (opcode >= header.opcodeBase) {
      const special = opcode - header.opcodeBase;
      advance(Math.floor(special / header.lineRange));
      line += header.lineBase + (special % header.lineRange);
      yield row();
    } else if (opcode === 0) {
      const size = reader.small();
      const next = reader.at + size;
      const what = reader.u8();
      if (what === extended.address) address = Number(reader.unsigned(size - 1));
      else if (what === extended.end) {
        yield { address, file: null, line: 0 };
        [address, file, line] = [0, 1, 1];
      }
      reader.at = next;
    } else if (opcode === standard.copy) yield row();
    else if (opcode === standard.advance) advance(reader.small());
    else if (opcode === standard.line) line += Number(reader.sleb());
    else if (opcode === standard.file) file = reader.small();
    else if (opcode === standard.constantAdvance) {
      advance(Math.floor((255 - header.opcodeBase) / header.lineRange));
    } else if (opcode === standard.fixedAdvance) address += reader.u16();
    else for (let i = 0; i < header.operands[opcode - 1]!; i++) reader.uleb();
  }
}

/** The lines of a program of the host: which instruction comes from which line (`.debug_line`, DWARF 2 to 5). */
export class LineTable {
  readonly #rows: readonly Row[];

  /** @throws DwarfError if it is damaged */
  constructor(sections: DebugSections) {
    const all: Row[] = [];
    const lines = sections.section("debug_line");
    for (let at = 0; lines !== null && at + 6 < lines.bytes.length; ) {
      const length = new Reader(lines, at).u32();
      if (length > lines.bytes.length - at - 4) throw new DwarfError(`the unit of lines at offset ${at} is cut off`);
      const reader = new Reader(lines, at + 4, at + 4 + length);
      const version = reader.u16();
      if (version >= 2 && version <= 5) {
        const header = readHeader(reader, version, sections);
        reader.at = header.start;
        for (const row of rows(reader, header)) all.push(row);
      }
      at += 4 + length;
    }
    // The end of a sequence goes before the beginning of the next one at the same address.
    this.#rows = all.sort((a, b) => a.address - b.address || Number(b.file === null) - Number(a.file === null));
  }

  /** The line of an instruction; null if nothing is known of it. */
  find(address: number): SourceLine | null {
    let [low, high] = [0, this.#rows.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#rows[middle]!.address <= address) low = middle + 1;
      else high = middle;
    }
    const row = this.#rows[low - 1];
    return row === undefined || row.file === null ? null : { file: row.file, line: row.line };
  }
}
