import type { DataPlace, DataRelocation, DataSymbols } from "../../visa/lower/symbols.ts";
import { UsageError } from "../data/errors.ts";

/**
 * Lays out the data of a compiled program as a loader does: zero-initialized variables have their own sections,
 * `.bss.global` and `.bss.const`, which go after `.data.global` and `.data.const`. Symbols may refer to either.
 *
 * @throws UsageError if the place of an address is outside its section, or its name is neither a routine nor a symbol
 */
export function loadedData(
  { sections, symbols, relocations = [] }: DataSymbols,
  routines: ReadonlySet<string> = new Set(),
): DataSymbols {
  const loaded = new Map([...sections].filter(([name]) => dataSection(name) === name));
  for (const [name, zeros] of sections) {
    if (dataSection(name) !== name) loaded.set(dataSection(name), join(sections.get(dataSection(name)), zeros));
  }
  const place = ({ section, offset }: DataPlace): DataPlace => {
    const data = dataSection(section);
    const before = data === section ? 0 : (sections.get(data)?.length ?? 0);
    return { section: data, offset: before + offset };
  };
  for (const { section, offset, symbol, bytes } of relocations) {
    const size = sections.get(section)?.length ?? 0;
    const where = `the address of ${symbol} at ${section}+${offset}`;
    if (offset < 0 || !(offset + bytes <= size)) throw new UsageError(`${where}: the section has ${size} bytes`);
    if (!symbols.has(symbol) && !routines.has(symbol)) throw new UsageError(`${where}: there is no ${symbol}`);
  }
  return {
    sections: loaded,
    symbols: new Map([...symbols].map(([name, at]) => [name, place(at)])),
    relocations: relocations.map((relocation): DataRelocation => ({ ...relocation, ...place(relocation) })),
  };
}

const dataSection = (name: string): string => name.replace(/^\.bss\./, ".data.");

function join(values: Uint8Array = new Uint8Array(), zeros: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(values.length + zeros.length);
  bytes.set(values);
  return bytes;
}
