import { At, Form } from "./constants.ts";
import { type Address, DwarfError, Reader } from "./reader.ts";
import type { DebugSection, DebugSections } from "./sections.ts";

/** Bytes of a section: a location expression, for example. */
export interface Block {
  readonly section: DebugSection;
  readonly start: number;
  readonly end: number;
}

/** The value of an attribute. */
export type AttributeValue =
  | { readonly kind: "number"; readonly value: bigint; readonly form: number }
  | { readonly kind: "address"; readonly address: Address }
  | { readonly kind: "string"; readonly text: string }
  | { readonly kind: "block"; readonly block: Block }
  /** An offset in `.debug_info` at which another entry begins. */
  | { readonly kind: "entry"; readonly offset: number };

/** What entries of a compilation unit have in common. */
export interface Unit {
  readonly version: number;
  readonly addressSize: number;
  /** The address that the unit begins at, for lists of ranges and locations. */
  base: Address;
}

/** A debugging information entry: a function, a variable, a type, ... */
export interface Entry {
  readonly offset: number;
  readonly tag: number;
  readonly attributes: ReadonlyMap<number, AttributeValue>;
  readonly children: readonly Entry[];
  readonly unit: Unit;
}

interface Abbreviation {
  readonly tag: number;
  readonly hasChildren: boolean;
  readonly attributes: readonly { readonly name: number; readonly form: number; readonly value: bigint }[];
}

const maxDepth = 200;

/** All entries of a module, by their offset. */
export class Entries {
  /** The compilation units. */
  readonly units: readonly Entry[];
  readonly #byOffset = new Map<number, Entry>();
  readonly #sections: DebugSections;
  readonly #abbreviations = new Map<number, ReadonlyMap<number, Abbreviation>>();

  /** @throws DwarfError if the sections are malformed */
  constructor(sections: DebugSections) {
    this.#sections = sections;
    const info = sections.section("debug_info");
    if (info === null) throw new DwarfError("there is no section .debug_info");
    const reader = new Reader(info);
    const units: Entry[] = [];
    while (!reader.atEnd) {
      const unit = this.#unit(reader);
      if (unit !== null) units.push(unit);
    }
    this.units = units;
  }

  /** Returns the entry that an attribute refers to, or null. */
  referred(entry: Entry, name: number): Entry | null {
    const value = entry.attributes.get(name);
    return value?.kind === "entry" ? (this.#byOffset.get(value.offset) ?? null) : null;
  }

  #unit(reader: Reader): Entry | null {
    const start = reader.at;
    const length = reader.u32();
    if (length >= 0xffff_fff0) throw new DwarfError("64-bit DWARF is not supported");
    // Compilers for PTX may leave the length to the assembler, as 0.
    const end = length === 0 ? reader.end : reader.at + length;
    if (end > reader.end) throw new DwarfError(`the unit at offset ${start} is longer than its section`);
    const version = reader.u16();
    if (version < 2 || version > 5) throw new DwarfError(`DWARF version ${version} is not supported (2 to 5 are)`);
    let abbreviations: number;
    let addressSize: number;
    if (version === 5) {
      reader.u8();
      addressSize = reader.u8();
      abbreviations = reader.u32();
    } else {
      abbreviations = reader.u32();
      addressSize = reader.u8();
    }
    if (addressSize !== 4 && addressSize !== 8) throw new DwarfError(`addresses of ${addressSize} bytes`);
    const unit: Unit = { version, addressSize, base: 0 };
    const within = new Reader(reader.section, reader.at, end);
    const root = this.#tree(within, { unit, start, abbreviations: this.#abbreviationsAt(abbreviations) });
    reader.at = end;
    const low = root?.attributes.get(At.lowPc);
    if (low?.kind === "address") unit.base = low.address;
    return root;
  }

  #tree(
    reader: Reader,
    of: { readonly unit: Unit; readonly start: number; readonly abbreviations: ReadonlyMap<number, Abbreviation> },
  ): Entry | null {
    let root: Entry | null = null;
    const open: Entry[][] = [];
    while (!reader.atEnd) {
      const offset = reader.at;
      const code = reader.small();
      if (code === 0) {
        if (open.length <= 1) break;
        open.pop();
        continue;
      }
      const abbreviation = of.abbreviations.get(code);
      if (abbreviation === undefined) throw new DwarfError(`the entry at offset ${offset} has no abbreviation ${code}`);
      const attributes = new Map<number, AttributeValue>();
      for (const { name, form, value } of abbreviation.attributes) {
        attributes.set(name, this.#value(reader, form, { ...of, implicit: value }));
      }
      const children: Entry[] = [];
      const entry: Entry = { offset, tag: abbreviation.tag, attributes, children, unit: of.unit };
      this.#byOffset.set(offset, entry);
      if (root === null) root = entry;
      else open.at(-1)?.push(entry);
      if (abbreviation.hasChildren) open.push(children);
      else if (open.length === 0) break;
      if (open.length > maxDepth) throw new DwarfError(`more than ${maxDepth} levels of entries`);
    }
    return root;
  }

  #abbreviationsAt(offset: number): ReadonlyMap<number, Abbreviation> {
    const known = this.#abbreviations.get(offset);
    if (known !== undefined) return known;
    const section = this.#sections.section("debug_abbrev");
    if (section === null) throw new DwarfError("there is no section .debug_abbrev");
    const reader = new Reader(section, offset);
    const table = new Map<number, Abbreviation>();
    this.#abbreviations.set(offset, table);
    while (!reader.atEnd) {
      const code = reader.small();
      if (code === 0) break;
      const tag = reader.small();
      const hasChildren = reader.u8() !== 0;
      const attributes: Abbreviation["attributes"][number][] = [];
      for (;;) {
        const [name, form] = [reader.small(), reader.small()];
        const value = form === Form.implicitConst ? reader.sleb() : 0n;
        if (name === 0 && form === 0) break;
        attributes.push({ name, form, value });
      }
      table.set(code, { tag, hasChildren, attributes });
    }
    return table;
  }

  #value(
    reader: Reader,
    form: number,
    of: { readonly unit: Unit; readonly start: number; readonly implicit: bigint },
  ): AttributeValue {
    const number = (value: bigint): AttributeValue => ({ kind: "number", value, form });
    const entry = (offset: bigint | number): AttributeValue => ({ kind: "entry", offset: Number(offset) });
    const block = (length: number): AttributeValue => {
      const start = reader.skip(length);
      return { kind: "block", block: { section: reader.section, start, end: start + length } };
    };
    switch (form) {
      case Form.addr:
        return { kind: "address", address: reader.address(of.unit.addressSize) };
      case Form.data1:
      case Form.flag:
        return number(reader.unsigned(1));
      case Form.data2:
        return number(reader.unsigned(2));
      case Form.data4:
      case Form.secOffset:
        return number(reader.unsigned(4));
      case Form.data8:
      case Form.refSig8: {
        const reference = reader.section.references.get(reader.at);
        const value = reader.unsigned(8);
        return reference === undefined ? number(value) : { kind: "address", address: reference };
      }
      case Form.data16:
        return block(16);
      case Form.udata:
        return number(reader.uleb());
      case Form.sdata:
        return number(reader.sleb());
      case Form.implicitConst:
        return number(of.implicit);
      case Form.flagPresent:
        return number(1n);
      case Form.string:
        return { kind: "string", text: reader.string() };
      case Form.strp:
      case Form.lineStrp:
        return {
          kind: "string",
          text: this.#string(form === Form.strp ? "debug_str" : "debug_line_str", reader.u32()),
        };
      case Form.block1:
        return block(reader.u8());
      case Form.block2:
        return block(reader.u16());
      case Form.block4:
        return block(reader.u32());
      case Form.block:
      case Form.exprloc:
        return block(reader.small());
      case Form.ref1:
        return entry(of.start + reader.u8());
      case Form.ref2:
        return entry(of.start + reader.u16());
      case Form.ref4:
        return entry(of.start + reader.u32());
      case Form.ref8:
        return entry(BigInt(of.start) + reader.u64());
      case Form.refUdata:
        return entry(of.start + reader.small());
      case Form.refAddr:
        return entry(of.unit.version === 2 ? reader.unsigned(of.unit.addressSize) : reader.u32());
      case Form.indirect: {
        const inner = reader.small();
        if (inner === Form.indirect) throw new DwarfError(`the form at offset ${reader.at} refers to itself`);
        return this.#value(reader, inner, of);
      }
      default:
        throw new DwarfError(`the form 0x${form.toString(16)} is not supported`);
    }
  }

  #string(section: string, offset: number): string {
    const found = this.#sections.section(section);
    if (found === null) throw new DwarfError(`there is no section .${section}`);
    return new Reader(found, offset).string();
  }
}

/** Returns a string attribute, or null. */
export const textOf = (entry: Entry, name: number): string | null => {
  const value = entry.attributes.get(name);
  return value?.kind === "string" ? value.text : null;
};

/** Returns a number attribute, or null. */
export const numberOf = (entry: Entry, name: number): number | null => {
  const value = entry.attributes.get(name);
  return value?.kind === "number" ? Number(value.value) : null;
};
