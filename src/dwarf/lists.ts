import { At } from "./constants.ts";
import type { Block, Entry, Unit } from "./entries.ts";
import { type Address, DwarfError, Reader } from "./reader.ts";
import type { DebugSection, DebugSections } from "./sections.ts";

/** A range of code, without its end. */
export interface CodeRange {
  readonly from: Address;
  readonly to: Address;
}

/** Where a variable is, in a range of code or (null) wherever it is visible. */
export interface LocatedRange {
  readonly range: CodeRange | null;
  readonly block: Block;
}

/** The ranges of code of a function or a scope. */
export function rangesOf(entry: Entry, sections: DebugSections): readonly CodeRange[] {
  const low = entry.attributes.get(At.lowPc);
  const high = entry.attributes.get(At.highPc);
  if (low?.kind === "address" && high !== undefined) {
    if (high.kind === "address") return [{ from: low.address, to: high.address }];
    if (high.kind === "number") return [{ from: low.address, to: plus(low.address, Number(high.value)) }];
  }
  const list = entry.attributes.get(At.ranges);
  const isNew = entry.unit.version >= 5;
  const section = list?.kind === "number" ? sections.section(isNew ? "debug_rnglists" : "debug_ranges") : null;
  if (list?.kind !== "number" || section === null) return [];
  const ranges: CodeRange[] = [];
  const reader = new Reader(section, Number(list.value));
  const visit = (range: CodeRange | null): void => void (range !== null && ranges.push(range));
  if (isNew) forEachEntry(reader, entry.unit, rangeKinds, visit);
  else forEachRange(reader, entry.unit, visit);
  return ranges;
}

/** Where a variable or a parameter is; none if the compiler has removed it. */
export function locationsOf(entry: Entry, sections: DebugSections): readonly LocatedRange[] {
  const value = entry.attributes.get(At.location);
  if (value?.kind === "block") return [{ range: null, block: value.block }];
  const isNew = entry.unit.version >= 5;
  const section = value?.kind === "number" ? sections.section(isNew ? "debug_loclists" : "debug_loc") : null;
  if (value?.kind !== "number" || section === null) return [];
  const list: LocatedRange[] = [];
  const reader = new Reader(section, Number(value.value));
  const take = (range: CodeRange | null, length: number): void => {
    list.push({ range, block: blockOf(section, reader, length) });
  };
  if (isNew) forEachEntry(reader, entry.unit, locationKinds, (range) => take(range, reader.small()));
  else forEachRange(reader, entry.unit, (range) => take(range, reader.u16()));
  // The default location is for code that none of the ranges has.
  return [...list.filter(({ range }) => range !== null), ...list.filter(({ range }) => range === null)];
}

function blockOf(section: DebugSection, reader: Reader, length: number): Block {
  const start = reader.skip(length);
  return { section, start, end: start + length };
}

const plus = (address: Address, bytes: number): Address =>
  typeof address === "number" ? address + bytes : { ...address, addend: address.addend + bytes };

/**
 * Reads a list of `.debug_ranges` or `.debug_loc`, which ends with two zeros. Numbers are relative to the start of the
 * unit; places that have a name are not.
 */
function forEachRange(reader: Reader, unit: Unit, visit: (range: CodeRange) => void): void {
  const { addressSize } = unit;
  const largest = addressSize === 4 ? 0xffff_ffff : Number(0xffff_ffff_ffff_ffffn);
  let { base } = unit;
  while (!reader.atEnd) {
    const from = reader.address(addressSize);
    const to = reader.address(addressSize);
    if (from === 0 && to === 0) return;
    if (from === largest) {
      base = to;
      continue;
    }
    const absolute = (address: Address): Address => (typeof address === "number" ? plus(base, address) : address);
    visit({ from: absolute(from), to: absolute(to) });
  }
}

/** What an entry of a list of DWARF 5 says; those that are left out refer to `.debug_addr`, which PTX has not. */
type EntryKind = "end" | "offsets" | "default" | "base" | "start-end" | "start-length";

/** DWARF 5, section 7.25, table 7.30: entries of `.debug_rnglists`, by their codes. */
const rangeKinds: Readonly<Partial<Record<number, EntryKind>>> = {
  ...{ 0: "end", 4: "offsets", 5: "base", 6: "start-end", 7: "start-length" },
};

/** DWARF 5, section 7.7.3, table 7.10: entries of `.debug_loclists`. */
const locationKinds: Readonly<Partial<Record<number, EntryKind>>> = {
  ...{ 0: "end", 4: "offsets", 5: "default", 6: "base", 7: "start-end", 8: "start-length" },
};

/** Reads a list of `.debug_rnglists` or `.debug_loclists`. Null is where no other range is. */
function forEachEntry(
  reader: Reader,
  { addressSize, base: first }: Unit,
  kinds: Readonly<Partial<Record<number, EntryKind>>>,
  visit: (range: CodeRange | null) => void,
): void {
  let base = first;
  for (;;) {
    const code = reader.u8();
    const kind = kinds[code];
    if (kind === undefined) throw new DwarfError(`entries of the kind ${code} in lists are not supported`);
    if (kind === "end") return;
    if (kind === "base") base = reader.address(addressSize);
    else if (kind === "default") visit(null);
    else if (kind === "offsets") visit({ from: plus(base, reader.small()), to: plus(base, reader.small()) });
    else {
      const from = reader.address(addressSize);
      visit({ from, to: kind === "start-end" ? reader.address(addressSize) : plus(from, reader.small()) });
    }
  }
}
