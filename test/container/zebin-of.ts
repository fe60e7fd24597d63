const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** An address in a section: its type is 1 for all of it, 2 for its lower half. */
interface Address {
  readonly section: string;
  readonly offset: number;
  readonly symbol: string;
  readonly type: number;
}

interface Zebin {
  readonly sections: Readonly<Record<string, string | Uint8Array>>;
  /** Names, with the section and the offset at which they lie. */
  readonly symbols: Readonly<Record<string, readonly [section: string, offset: number]>>;
  readonly addresses: readonly Address[];
}

/** An ELF file of 64 bits for Intel's GPUs, with relocations as IGC writes them (ELF-64 Object File Format 1.5). */
export function zebinOf({ sections, symbols, addresses }: Zebin): Uint8Array {
  const names = ["", ...Object.keys(sections)];
  const symbolNames = ["", ...Object.keys(symbols)];
  const relocated = [...new Set(addresses.map(({ section }) => section))];
  const symbolStrings = stringsOf(symbolNames);
  const symbolTable = records(24, symbolNames.length, (view, i) => {
    const place = symbols[symbolNames[i]!];
    view.setUint32(0, symbolStrings.offsets[i]!, true);
    view.setUint8(4, place === undefined ? 0 : 0x11);
    view.setUint16(6, place === undefined ? 0 : names.indexOf(place[0]), true);
    view.setBigUint64(8, BigInt(place?.[1] ?? 0), true);
  });
  const tables = relocated.map((section) => {
    const own = addresses.filter((address) => address.section === section);
    return records(16, own.length, (view, i) => {
      view.setBigUint64(0, BigInt(own[i]!.offset), true);
      view.setUint32(8, own[i]!.type, true);
      view.setUint32(12, symbolNames.indexOf(own[i]!.symbol), true);
    });
  });
  const allNames = [...names, ...relocated.map((name) => `.rel${name}`), ".symtab", ".strtab"];
  const strings = stringsOf(allNames);
  const [symtab, strtab] = [allNames.length - 2, allNames.length - 1];
  const contents = [
    ...Object.values(sections).map((content) => (typeof content === "string" ? utf8(content) : content)),
    ...tables,
    symbolTable,
    Uint8Array.from(Buffer.concat([symbolStrings.bytes, strings.bytes])),
  ];
  let at = 64;
  const headers = records(64, allNames.length, (view, i) => {
    if (i === 0) return;
    const isTable = i >= names.length && i < symtab;
    view.setUint32(0, symbolStrings.bytes.length + strings.offsets[i]!, true);
    view.setUint32(4, i === strtab ? 3 : i === symtab ? 2 : isTable ? 9 : 1, true);
    view.setBigUint64(24, BigInt(at), true);
    view.setBigUint64(32, BigInt(contents[i - 1]!.length), true);
    view.setUint32(40, i === symtab ? strtab : isTable ? symtab : 0, true);
    view.setUint32(44, isTable ? names.indexOf(relocated[i - names.length]!) : 0, true);
    view.setBigUint64(56, i === symtab ? 24n : isTable ? 16n : 0n, true);
    at += contents[i - 1]!.length;
  });
  const head = records(64, 1, (view) => {
    for (const [i, byte] of [0x7f, 0x45, 0x4c, 0x46, 2, 1, 1].entries()) view.setUint8(i, byte);
    view.setUint16(0x10, 3, true);
    view.setUint16(0x12, 205, true);
    view.setUint32(0x14, 1, true);
    view.setBigUint64(0x28, BigInt(at), true);
    view.setUint16(0x34, 64, true);
    view.setUint16(0x3a, 64, true);
    view.setUint16(0x3c, allNames.length, true);
    view.setUint16(0x3e, strtab, true);
  });
  return Uint8Array.from(Buffer.concat([head, ...contents, headers]));
}

function stringsOf(names: readonly string[]): { readonly bytes: Uint8Array; readonly offsets: readonly number[] } {
  let at = 0;
  const offsets = names.map((name) => (at += name.length + 1) - name.length - 1);
  return { bytes: utf8(names.map((name) => `${name}\0`).join("")), offsets };
}

function records(size: number, count: number, fill: (view: DataView, index: number) => void): Uint8Array {
  const bytes = new Uint8Array(size * count);
  for (let i = 0; i < count; i++) fill(new DataView(bytes.buffer, i * size, size), i);
  return bytes;
}
