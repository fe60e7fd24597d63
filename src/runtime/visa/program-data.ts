import type { DataSymbols } from "../../visa/lower/symbols.ts";

/**
 * The data of a compiled program as it lies in memory: variables that begin as zeros have sections of their own, `.bss.global`
 * and `.bss.const`, which the loader puts behind `.data.global` and `.data.const`. Symbols may name either.
 */
export function loadedData({ sections, symbols }: DataSymbols): DataSymbols {
  const loaded = new Map([...sections].filter(([name]) => dataSection(name) === name));
  for (const [name, zeros] of sections) {
    if (dataSection(name) !== name) loaded.set(dataSection(name), join(sections.get(dataSection(name)), zeros));
  }
  return {
    sections: loaded,
    symbols: new Map(
      [...symbols].map(([name, { section, offset }]) => {
        const data = dataSection(section);
        const before = data === section ? 0 : (sections.get(data)?.length ?? 0);
        return [name, { section: data, offset: before + offset }];
      }),
    ),
  };
}

const dataSection = (name: string): string => name.replace(/^\.bss\./, ".data.");

function join(values: Uint8Array = new Uint8Array(), zeros: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(values.length + zeros.length);
  bytes.set(values);
  return bytes;
}
